"""Which distro tree a new set installs, where not everybody may submit everywhere (docs/decisions/0023)."""

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
from tests.domain.scheduling.tree_requirements import choose, known_to, recipe, submitted, with_guests
from tests.domain.scheduling.world import World

NEW_LAB, OLD_LAB = "lab-new", "lab-old"
OLD, NEW = 101, 102


@pytest.fixture
def labs() -> World:
    """Both have machines of ada's; the newer tree is in one of them alone."""
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
def test_tree__newest_only_where_its_submitter_may_use_nothing__is_the_older_one(
    labs: World, closed: Callable[[World], None]
) -> None:
    trees, told = known_to(labs), len(labs.log)
    wanted = RecipeSetSpec(Priority.Normal, (recipe(),))
    assert trees.choose(wanted, "eve", None) == Chosen((NEW,))
    closed(labs)
    for recorded in labs.log[told:]:
        trees.apply(recorded)
    # By a process that has answered before, and by one that begins.
    for asked in (trees, known_to(labs)):
        assert asked.choose(wanted, "eve", None) == Chosen((OLD,))
        assert asked.choose(wanted, "bob", None) == Chosen((NEW,))


def test_tree__open_to_a_group_alone__is_for_what_is_submitted_on_its_behalf(labs: World) -> None:
    labs.open_pool("new", group("qe", "Low"))
    assert choose(labs, recipe(), owner="eve", group="qe") == Chosen((NEW,))
    assert choose(labs, recipe(), owner="eve") == Chosen((OLD,))
    labs.put_group("qe", "bob")
    assert choose(labs, recipe(), owner="eve", group="qe") == Chosen((OLD,)), "who has left it is not in it"


OPENED: list[tuple[Callable[[World], None], Callable[[World], None]]] = [
    # what lets eve have a system of the newer lab, and what ends that
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
    trees = known_to(labs)
    wanted = RecipeSetSpec(Priority.Normal, (recipe(),))
    assert trees.choose(wanted, "eve", None) == Chosen((OLD,))
    for happens, tree_id in ((opens, NEW), (closes, OLD)):
        told = len(labs.log)
        happens(labs)
        for recorded in labs.log[told:]:
            trees.apply(recorded)
        assert trees.choose(wanted, "eve", None) == Chosen((tree_id,))


def test_forced_system__in_a_lab_that_is_closed__is_not_had_for_that(labs: World) -> None:
    labs.open_pool("new", user("bob"))
    assert choose(labs, recipe(forces("new-a")), owner="bob") == Chosen((NEW,))
    assert choose(labs, recipe(forces("new-a")), owner="eve") == Chosen((NEW,), hopeless=True)


def test_tree__all_that_it_may_use_is_lent__is_theirs(labs: World) -> None:
    labs.open_pool("new", user("bob"))
    for fqdn in ("old-a", "old-b"):
        labs.lend(fqdn, "ada")
    assert choose(labs, recipe(), owner="eve") == Chosen((OLD,)), "loans end, policies stay"


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


def test_set__nothing_that_would_do_is_open__is_given_up_for_that(labs: World) -> None:
    labs.describe("old-a", type="Machine", arches=["x86_64"], memory_mb=16_384)
    labs.open_system("old-a", user("bob"))
    chosen = choose(labs, recipe(BIG.text), owner="eve")
    assert chosen == Chosen((OLD,), hopeless=True)
    spec = RecipeSetSpec(Priority.Normal, (recipe(BIG.text),))
    submitted(labs, spec, chosen.tree_ids, owner="eve")
    (decision,) = labs.settle()
    assert [event for _, event in decision.events] == [RecipeAborted(reason=NO_ACCESS)]


def test_set__may_go_to_either_lab_but_fits_the_closed_one__each_has_what_it_would_have_alone(
    labs: World,
) -> None:
    labs.open_pool("new", user("bob"))
    chosen = choose(labs, recipe(named("new-a")), recipe(), owner="eve")
    assert chosen == Chosen((NEW, OLD), hopeless=True)


def test_tree__system_is_hidden_from_the_owner__is_chosen_as_if_it_were_not_there(labs: World) -> None:
    """The reason for which the set is given up names the tree."""
    labs.add_system("secret", lab=OLD_LAB, pools=["secret"])
    labs.hide_system("secret", user("bob"))
    labs.settle()
    hidden, missing = (choose(labs, recipe(forces(name)), owner="eve") for name in ("secret", "missing"))
    assert hidden == missing == Chosen((NEW,), hopeless=True)
    assert choose(labs, recipe(forces("secret")), owner="bob") == Chosen((OLD,))
