"""Access to systems, and to systems by the distro tree."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.distro_choice.distro_trees import Chosen
from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from domain.recipe.events import RecipeAborted
from domain.scheduling.supply.reasons import (
    ALL_BROKEN,
    ALL_LENT,
    NO_ACCESS,
    NO_IDLE_ACCESS,
    NO_IDLE_SYSTEM,
    NONE_USABLE,
)
from domain.scheduling.supply.rules import passing
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, forces, named
from tests.domain.scheduling.labs import finish, occupy
from tests.domain.scheduling.policies import everybody, group, user
from tests.domain.scheduling.tree_requirements import choose, recipe, submitted, trees_of, with_guests
from tests.domain.scheduling.world import World

QE = group("qe")


def reason(world: World, recipe_id: int) -> str:
    """Return the reason in the last event of a recipe."""
    events = [row.event for row in world.log if row.subject == f"recipe/{recipe_id}"]
    return str(events[-1].reason)  # type: ignore[attr-defined]


# Submitted


def test_new_job__no_access_to_fitting_systems__aborted(world: World) -> None:
    world.add_idle("a")
    world.open_system("a", QE)
    recipe_id = world.submit(ANYTHING.text, owner="eve")
    world.settle()
    assert (world.states(recipe_id), reason(world, recipe_id)) == (["aborted"], NO_ACCESS)


def test_new_job__forces_a_system_without_access__aborted(world: World) -> None:
    world.add_idle("a")
    world.open_system("a", QE)
    recipe_id = world.submit(forces("a"), owner="eve")
    world.settle()
    assert (world.states(recipe_id), reason(world, recipe_id)) == (["aborted"], NO_ACCESS)


def test_new_job__for_a_group_that_may__takes_it(world: World) -> None:
    world.put_group("qe", "eve")
    world.add_idle("a")
    world.open_system("a", QE)
    recipe_id = world.submit(ANYTHING.text, owner="eve", group="qe")
    world.settle()
    assert world.system_of(recipe_id) == "a"


def test_new_job__for_a_group_without_the_owner__counts_for_the_group(world: World) -> None:
    world.put_group("qe", "bob")
    world.add_idle("a")
    world.open_system("a", QE)
    world.put_group("qe", "bob", "carol")
    recipe_id = world.submit(ANYTHING.text, owner="eve", group="qe")
    world.settle()
    assert world.system_of(recipe_id) == "a"


def test_new_job__idle_system_without_access__waits_with_that_reason(world: World) -> None:
    world.add_idle("a", "b")
    occupy(world, "b")
    world.open_system("a", QE)
    recipe_id = world.submit(ANYTHING.text, owner="eve")
    world.settle()
    assert (world.states(recipe_id), reason(world, recipe_id)) == (["queued"], NO_IDLE_ACCESS)


def test_new_job__every_system_busy__waits_with_that_reason(world: World) -> None:
    world.add_idle("a")
    occupy(world, "a")
    recipe_id = world.submit(ANYTHING.text, owner="eve")
    world.settle()
    assert reason(world, recipe_id) == NO_IDLE_SYSTEM


def test_new_job__all_candidates_broken__waits_with_that_reason_and_takes_the_first_repaired(
    world: World,
) -> None:
    world.add_idle("small")
    for fqdn in ("a", "b"):
        world.add_system(fqdn, condition="Broken", memory_mb=16_384)
    recipe_id = world.submit(BIG.text)
    world.settle()
    assert (world.states(recipe_id), reason(world, recipe_id)) == (["queued"], ALL_BROKEN)
    world.set_condition("b", "Automated")
    world.settle()
    assert world.system_of(recipe_id) == "b"


def test_new_job__candidates_broken_or_drained__waits_with_that_reason(world: World) -> None:
    world.add_system("a", condition="Broken")
    world.add_idle("b")
    world.drain("b")
    recipe_id = world.submit(ANYTHING.text)
    world.settle()
    assert reason(world, recipe_id) == NONE_USABLE


def test_queued__system_added_later__is_found(world: World) -> None:
    world.add_system("a", condition="Broken", memory_mb=16_384)
    recipe_id = world.submit(BIG.text)
    world.settle()
    world.add_system("b", memory_mb=16_384)
    world.settle()
    assert world.system_of(recipe_id) == "b"


# While it waits


def test_queued__access_lost__is_passed_over_and_the_next_is_served(world: World) -> None:
    world.add_idle("a", "b")
    runs = occupy(world, "a", "b")
    first, second = (world.submit(ANYTHING.text, owner=owner) for owner in ("eve", "bob"))
    world.settle()
    world.open_system("a", user("bob"))
    finish(world, runs["a"])
    assert (world.states(first), world.system_of(second)) == (["queued"], "a")
    finish(world, runs["b"])
    assert world.system_of(first) == "b"


def test_queued__its_owner_leaves_the_group_before_the_grant__is_passed_over(world: World) -> None:
    world.put_group("qe", "eve", "bob")
    world.add_idle("a")
    runs = occupy(world, "a")
    world.open_system("a", QE)
    first, second = (world.submit(ANYTHING.text, owner=owner, group="qe") for owner in ("eve", "bob"))
    world.settle()
    world.put_group("qe", "bob")
    finish(world, runs["a"])
    assert (world.states(first), world.system_of(second)) == (["queued"], "a")


def test_queued__its_owner_is_back_in_the_group__is_served(world: World) -> None:
    world.put_group("qe", "eve")
    world.add_idle("a")
    occupy(world, "a")
    world.open_system("a", QE)
    recipe_id = world.submit(ANYTHING.text, owner="eve", group="qe")
    world.settle()
    world.put_group("qe")
    finish(world, *(each.recipe_id for each in world.placed()))
    assert (world.states(recipe_id), world.systems["a"].usage) == (["queued"], "idle")
    world.put_group("qe", "eve")
    world.settle()
    assert world.system_of(recipe_id) == "a"


def test_queued__its_group_is_removed__is_passed_over(world: World) -> None:
    world.put_group("qe", "eve")
    world.add_idle("a")
    runs = occupy(world, "a")
    world.open_system("a", QE)
    recipe_id = world.submit(ANYTHING.text, owner="eve", group="qe")
    world.settle()
    world.remove_group("qe")
    finish(world, runs["a"])
    assert (world.states(recipe_id), world.systems["a"].usage) == (["queued"], "idle")


def test_queued__system_joins_a_pool_that_serves_others_only__is_passed_over(world: World) -> None:
    world.open_pool("net", QE)
    world.add_idle("a")
    runs = occupy(world, "a")
    recipe_id = world.submit(ANYTHING.text, owner="eve")
    world.settle()
    world.set_pool("net", "a", True)
    finish(world, runs["a"])
    assert (world.states(recipe_id), world.systems["a"].usage) == (["queued"], "idle")
    world.set_pool("net", "a", False)
    world.settle()
    assert world.system_of(recipe_id) == "a"


def test_queued__policy_of_its_pool_opened__wakes_the_systems_of_all_its_labs(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.open_pool("net", QE)
    for number in range(6):
        world.add_system(f"m{number}", f"lab-{1 + number % 2}", pools=["net"])
    world.add_system("away", condition="Broken")
    world.settle()
    waiting = [world.submit(ANYTHING.text, owner="eve") for _ in range(6)]
    world.settle()
    assert world.states(*waiting) == ["queued"] * 6
    world.open_pool("net", everybody())
    raised = [trigger.name for trigger in world.partition.triggers.waiting() if trigger.kind == "wake-up"]
    assert sorted(raised) == ["lab-controller/lab-1", "lab-controller/lab-2"]
    world.settle()
    assert world.states(*waiting) == ["waiting"] * 6


# On loan


def test_loan__active__only_borrower_served_and_others_wait(world: World) -> None:
    world.add_idle("a")
    world.lend("a", "bob")
    owners, others = world.submit(ANYTHING.text, owner="ada"), world.submit(forces("a"), owner="eve")
    world.settle()
    assert world.states(owners, others) == ["queued", "queued"]
    assert reason(world, owners) == reason(world, others) == ALL_LENT
    borrowers = world.submit(ANYTHING.text, owner="bob", priority="Low")
    world.settle()
    assert world.system_of(borrowers) == "a"


def test_loan__begun_while_others_wait__borrower_is_served_first(world: World) -> None:
    world.add_idle("a")
    runs = occupy(world, "a")
    first = world.submit(ANYTHING.text, owner="eve", priority="Urgent")
    borrowers = world.submit(ANYTHING.text, owner="bob", priority="Low")
    world.settle()
    world.lend("a", "bob")
    finish(world, runs["a"])
    assert (world.states(first), world.system_of(borrowers)) == (["queued"], "a")
    world.end_loan("a")
    finish(world, borrowers)
    assert world.system_of(first) == "a"


def test_loan__system_with_a_recipe__recipe_continues(world: World) -> None:
    world.add_idle("a", "x")
    runs = occupy(world, "x")
    first, second = world.submit_set([named("a"), named("x")], owner="eve")
    world.settle()
    assert world.states(first) == ["scheduled"]
    world.lend("a", "bob")
    world.settle()
    finish(world, runs["x"])
    assert world.states(first, second) == ["waiting", "waiting"]


# Rules and submitters


def test_rules__combined__pass_the_viable_systems(world: World) -> None:
    for fqdn in "abcd":
        world.add_system(fqdn, memory_mb=16_384 if fqdn != "d" else 1)
    world.open_system("b", QE)
    world.lend("c", "bob")
    world.settle()
    host = world.partition.sets.recipes[world.submit(BIG.text, owner="eve")]
    rules = list(passing(world.partition.labs, world.partition.sets.index.demand(host)))
    kept_out = {
        name: [fqdn for fqdn in "abcd" if not passed >> world.partition.labs.number(fqdn) & 1]
        for name, _, passed in rules
    }
    assert {name: fqdns for name, fqdns in kept_out.items() if fqdns} == {
        "requirement": ["d"],
        "access": ["b"],
        "loan": ["c"],
    }
    assert world.partition.viable(host) == 1 << world.partition.labs.number("a")


def test_recipes__submitters_that_no_policy_names__share_one_number(world: World) -> None:
    world.put_group("qe", "eve", "bob")
    world.add_idle("a")
    occupy(world, "a")
    ids = [
        world.submit(ANYTHING.text, owner=owner, group=behalf)
        for owner in ("eve", "bob")
        for behalf in ("qe", None)
    ]

    def submitters() -> int:
        sets = world.partition.sets
        return len({sets.index.demand(sets.recipes[recipe_id]).submitter for recipe_id in ids})

    assert submitters() == 1
    world.open_system("a", QE)
    assert submitters() == 2
    world.open_system("a", QE, user("eve"))
    assert submitters() == 4
    world.open_system("a", everybody())
    assert submitters() == 1


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
