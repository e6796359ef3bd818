"""Access policies, groups and loans, from the submission to the grant."""

from __future__ import annotations

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
    rules = list(passing(world.partition.labs, world.partition.sets.demand(host)))
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
        return len({sets.demand(sets.recipes[recipe_id]).submitter for recipe_id in ids})

    assert submitters() == 1
    world.open_system("a", QE)
    assert submitters() == 2
    world.open_system("a", QE, user("eve"))
    assert submitters() == 4
    world.open_system("a", everybody())
    assert submitters() == 1
