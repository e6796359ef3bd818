"""The choice of distro trees under access policies (docs/decisions/0023)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.distro_choice.distro_trees import Chosen
from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from domain.recipe.events import RecipeAborted
from domain.scheduling.supply.reasons import NO_ACCESS
from tests.domain.scheduling.host_requirements import BIG, forces, named
from tests.domain.scheduling.policies import everybody, group, user
from tests.domain.scheduling.tree_requirements import choose, recipe, submitted, trees_of, with_guests
from tests.domain.scheduling.world import World

NEW_LAB, OLD_LAB = "lab-new", "lab-old"
OLD, NEW = 101, 102


@pytest.fixture
def labs() -> World:
    """Return a world with two labs that have systems of ada; the newer tree is only in one of them."""
    world = World()
    for lab, tree_id in ((OLD_LAB, OLD), (NEW_LAB, NEW)):
        world.add_lab(lab)
        world.put_tree(tree_id, "x86_64", [lab])
    for name in ("a", "b"):
        world.add_system(f"old-{name}", lab=OLD_LAB)
        world.add_system(f"new-{name}", lab=NEW_LAB, pools=["new"])
    world.put_group("qe", "eve", "bob")
    world.settle()
    return world


def _policy_of_systems(world: World) -> None:
    for fqdn in ("new-a", "new-b"):
        world.open_system(fqdn, user("bob"))


def _policy_of_pool(world: World) -> None:
    world.open_pool("new", group("ops"), user("bob", "Low"))


def _joined_a_pool(world: World) -> None:
    world.open_pool("closed", user("bob"))
    for fqdn in ("new-a", "new-b"):
        world.set_pool("closed", fqdn, True)


def _lent(world: World) -> None:
    for fqdn in ("new-a", "new-b"):
        world.lend(fqdn, "bob")


CLOSED: list[Callable[[World], None]] = [_policy_of_systems, _policy_of_pool, _joined_a_pool, _lent]


@pytest.mark.parametrize("closed", CLOSED)
def test_tree__newest_only_without_access__older_one(labs: World, closed: Callable[[World], None]) -> None:
    trees, updated = trees_of(labs), len(labs.log)
    wanted = RecipeSetSpec(Priority.Normal, (recipe(),))
    assert trees.choose(wanted, "eve", None) == Chosen((NEW,))
    closed(labs)
    for recorded in labs.log[updated:]:
        trees.apply(recorded)
    # Chosen by a process that has answered before, and by a new one.
    for asked in (trees, trees_of(labs)):
        assert asked.choose(wanted, "eve", None) == Chosen((OLD,))
        assert asked.choose(wanted, "bob", None) == Chosen((NEW,))


def test_tree__open_only_to_a_group__chosen_for_jobs_of_the_group(labs: World) -> None:
    labs.open_pool("new", group("qe", "Low"))
    assert choose(labs, recipe(), owner="eve", group="qe") == Chosen((NEW,))
    assert choose(labs, recipe(), owner="eve") == Chosen((OLD,))
    labs.put_group("qe", "bob")
    assert choose(labs, recipe(), owner="eve", group="qe") == Chosen((OLD,)), "a former member has no access"


OPENED: list[tuple[Callable[[World], None], Callable[[World], None]]] = [
    # A change that gives eve access to the newer lab, and one that ends it.
    (lambda world: world.open_system("new-a", everybody("Low")), lambda world: world.open_system("new-a")),
    (lambda world: world.open_pool("new", user("eve")), lambda world: world.open_pool("new")),
    (
        lambda world: world.set_pool("free", "new-b", True),
        lambda world: world.set_pool("free", "new-b", False),
    ),
    (lambda world: world.own("new-a", "eve"), lambda world: world.own("new-a", "ada")),
    (lambda world: world.lend("new-a", "eve"), lambda world: world.end_loan("new-a")),
]


@pytest.mark.parametrize(("opens", "closes"), OPENED)
def test_tree__newer_lab_opened_and_closed_while_asked__follows(
    labs: World, opens: Callable[[World], None], closes: Callable[[World], None]
) -> None:
    labs.open_pool("free", everybody())
    for fqdn in ("new-a", "new-b"):
        labs.open_system(fqdn)
    trees = trees_of(labs)
    wanted = RecipeSetSpec(Priority.Normal, (recipe(),))
    assert trees.choose(wanted, "eve", None) == Chosen((OLD,))
    for happens, tree_id in ((opens, NEW), (closes, OLD)):
        updated = len(labs.log)
        happens(labs)
        for recorded in labs.log[updated:]:
            trees.apply(recorded)
        assert trees.choose(wanted, "eve", None) == Chosen((tree_id,))


def test_forced_system__in_a_lab_without_access__set_is_given_up(labs: World) -> None:
    labs.open_pool("new", user("bob"))
    assert choose(labs, recipe(forces("new-a")), owner="bob") == Chosen((NEW,))
    assert choose(labs, recipe(forces("new-a")), owner="eve") == Chosen((NEW,), hopeless=True)


def test_tree__all_systems_with_access_are_lent__tree_of_their_lab(labs: World) -> None:
    labs.open_pool("new", user("bob"))
    for fqdn in ("old-a", "old-b"):
        labs.lend(fqdn, "ada")
    assert choose(labs, recipe(), owner="eve") == Chosen((OLD,)), "a loan ends some day, a policy does not"


def test_set__one_system_of_the_newer_lab_is_open__has_the_older_trees(labs: World) -> None:
    labs.open_system("new-a", user("bob"))
    assert choose(labs, recipe(), owner="eve") == Chosen((NEW,))
    assert choose(labs, recipe(), recipe(), owner="eve") == Chosen((OLD, OLD))
    assert choose(labs, recipe(), recipe(), owner="bob") == Chosen((NEW, NEW))


def test_guest__host_may_not_go_to_the_newer_lab__has_the_older_tree(labs: World) -> None:
    labs.open_pool("new", user("bob"))
    hosted = with_guests(recipe(), "Fedora")
    assert choose(labs, hosted, owner="bob") == Chosen((NEW, NEW))
    assert choose(labs, hosted, owner="eve") == Chosen((OLD, OLD))


def test_set__no_access_to_fitting_systems__given_up_with_that_reason(labs: World) -> None:
    labs.describe("old-a", type="Machine", arches=["x86_64"], memory_mb=16_384)
    labs.open_system("old-a", user("bob"))
    chosen = choose(labs, recipe(BIG.text), owner="eve")
    assert chosen == Chosen((OLD,), hopeless=True)
    spec = RecipeSetSpec(Priority.Normal, (recipe(BIG.text),))
    submitted(labs, spec, chosen.tree_ids, owner="eve")
    (decision,) = labs.settle()
    assert [event for _, event in decision.events] == [RecipeAborted(reason=NO_ACCESS)]


def test_set__fits_only_the_closed_lab__tree_of_each_recipe_alone(labs: World) -> None:
    labs.open_pool("new", user("bob"))
    chosen = choose(labs, recipe(named("new-a")), recipe(), owner="eve")
    assert chosen == Chosen((NEW, OLD), hopeless=True)


def test_tree__system_hidden_from_the_owner__ignored(labs: World) -> None:
    """The reason of the abort names the tree, which must not reveal the hidden system."""
    labs.add_system("secret", lab=OLD_LAB, pools=["secret"])
    labs.hide_system("secret", user("bob"))
    labs.settle()
    hidden, missing = (choose(labs, recipe(forces(name)), owner="eve") for name in ("secret", "missing"))
    assert hidden == missing == Chosen((NEW,), hopeless=True)
    assert choose(labs, recipe(forces("secret")), owner="bob") == Chosen((OLD,))
