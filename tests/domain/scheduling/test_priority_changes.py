"""Changes of priority, and effective priorities by access policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import pytest

from domain.priority import Priority
from domain.scheduling.explaining.claimants import places_with_claimant
from tests.domain.scheduling import history
from tests.domain.scheduling.host_requirements import ANYTHING, at_least
from tests.domain.scheduling.labs import finish, occupy
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.rules import WAKING
from tests.domain.scheduling.world import World

# In the history of seed 6 no set waits.
SEEDS = [*range(6), *range(7, 26)]


def _waiting(world: World) -> list[int]:
    """Return a recipe of each set that has not started and misses a system."""
    started = {one.recipe_set_id for one in world.in_state("waiting", "installing", "running", "reserved")}
    unplaced = world.in_state("queued", "assigned")
    sets = {one.recipe_set_id: one.recipe_id for one in unplaced if one.recipe_set_id not in started}
    return list(sets.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_priorities__changed_at_rest_in_any_lab__no_grant_or_withdrawal(seed: int) -> None:
    chance, world = Random(seed), history.begin(seed)
    idle = changed = 0
    for _ in range(30):
        history.burst(chance, world, history.EVERYTHING)
        world.settle()
        for recipe_id in _waiting(world):
            world.change_priority(recipe_id, chance.choice(list(Priority)).name)
            changed += 1
            assert world.settle() == []
        idle += any(system.usage == "idle" for system in world.systems.values())
    assert changed and idle, "the histories must have idle systems and waiting sets"


def test_priority_changed__is_a_row__raises_a_trigger(world: World) -> None:
    """Check that the test above raises triggers."""
    assert "priority changed" in WAKING
    world.add_idle("a")
    occupy(world, "a")
    waiting = world.submit(ANYTHING.text)
    world.settle()
    world.change_priority(waiting, "Urgent")
    assert [trigger.name for trigger in world.partition.triggers.waiting()] == ["recipe-set/2"]


@pytest.mark.parametrize(
    ("number", "priority", "order"),
    [
        # Three recipes are submitted at Normal: the changed one, its priority, the resulting order.
        (2, "High", [2, 0, 1]),
        (1, "Urgent", [1, 0, 2]),
        (0, "Medium", [1, 2, 0]),
        (1, "Low", [0, 2, 1]),
        (1, "Normal", [0, 1, 2]),
    ],
)
def test_priority__raised_or_lowered_while_it_waits__counts_for_the_next_system(
    world: World, number: int, priority: str, order: list[int]
) -> None:
    world.add_idle("a")
    occupy(world, "a")
    asked = [world.submit(ANYTHING.text) for _ in range(3)]
    world.settle()
    world.change_priority(asked[number], priority)
    served = []
    for _ in asked:
        finish(world, *(recipe.recipe_id for recipe in world.placed()))
        served.append(asked.index(world.placed()[0].recipe_id))
    assert served == order


DESIGNATED = "designated"
EVERY_PRIORITY = tuple(reversed(Priority))


def one_system(world: World, *pools: str) -> None:
    """Add one busy system; no other recipe has been submitted."""
    for name in (DESIGNATED, "low"):
        world.put_group(name, "ada")
    world.add_system("a", pools=pools)
    world.settle()
    occupy(world, "a")


def served(world: World, recipe_ids: Iterable[int]) -> list[int]:
    """Return the order in which recipes get the only system, each after the end of the previous one."""
    world.settle()
    left, order = set(recipe_ids), []
    while left:
        finish(world, *(recipe.recipe_id for recipe in world.placed()))
        (placed,) = world.placed()
        order.append(placed.recipe_id)
        left.discard(placed.recipe_id)
    return order


def _the_same(_: int) -> str:
    return ANYTHING.text


def _of_its_own(number: int) -> str:
    return at_least(number).text


# All recipes have the same requirement, or each has its own.
WANTING: dict[str, Callable[[int], str]] = {"alike": _the_same, "each its own": _of_its_own}
in_both_ways = pytest.mark.parametrize("wanting", WANTING.values(), ids=WANTING)


def submit_all(
    world: World, wanting: Callable[[int], str], *groups: str | None
) -> dict[int, tuple[str | None, Priority]]:
    """Submit a job of each priority for each group, the least urgent first."""
    asked = [(name, priority) for priority in Priority for name in groups]
    return {
        world.submit(wanting(number), priority=priority.name, group=name): (name, priority)
        for number, (name, priority) in enumerate(asked)
    }


FIRST_TABLE = [
    # Effective, nominal, on behalf of.
    ("Urgent", "Urgent", DESIGNATED),
    ("High", "High", DESIGNATED),
    ("Normal", "Normal", DESIGNATED),
    ("Medium", "Urgent", None),
    ("Medium", "High", None),
    ("Medium", "Normal", None),
    # Equal priorities: the job that was submitted first.
    ("Medium", "Medium", DESIGNATED),
    ("Medium", "Medium", None),
    ("Low", "Low", DESIGNATED),
    ("Low", "Low", None),
]


@in_both_ways
@pytest.mark.parametrize("row", range(len(FIRST_TABLE)))
def test_order__designated_group_and_others_capped_at_medium__first_table(
    world: World, row: int, wanting: Callable[[int], str]
) -> None:
    one_system(world, "net")
    world.open_pool("net", group(DESIGNATED, "Urgent"), everybody("Medium"))
    asked = submit_all(world, wanting, DESIGNATED, None)
    _, nominal, name = FIRST_TABLE[row]
    assert asked[served(world, asked)[row]] == (name, Priority[nominal])


SECOND_TABLE = [
    (effective, nominal) for effective in EVERY_PRIORITY for nominal in EVERY_PRIORITY if nominal >= effective
]


@in_both_ways
@pytest.mark.parametrize("row", range(len(SECOND_TABLE)))
def test_order__every_maximum_and_every_priority__is_by_effective_then_nominal(
    world: World, row: int, wanting: Callable[[int], str]
) -> None:
    """Check the seed's second table: each row is the lower of a group's maximum and a job's priority."""
    one_system(world)
    world.open_system("a", *(group(f"to-{each.name}", each.name) for each in Priority))
    for each in Priority:
        world.put_group(f"to-{each.name}", "ada")
    # The last row is submitted first.
    asked = {
        world.submit(wanting(number), priority=nominal.name, group=f"to-{effective.name}"): (
            effective,
            nominal,
        )
        for number, (effective, nominal) in enumerate(reversed(SECOND_TABLE))
    }
    assert asked[served(world, asked)[row]] == SECOND_TABLE[row]


def rank_order(world: World) -> list[int]:
    """Return all recipes in the rank order of the system."""
    world.settle()
    found = places_with_claimant(world.partition, world.partition.systems["a"])
    return [place.rank.recipe_id for _, place in found]


@in_both_ways
def test_order__all_recipes__both_tables(world: World, wanting: Callable[[int], str]) -> None:
    one_system(world)
    world.open_system("a", group(DESIGNATED, "Urgent"), everybody("Medium"))
    asked = submit_all(world, wanting, DESIGNATED, None)
    of_seed = [(name, Priority[nominal]) for _, nominal, name in FIRST_TABLE]
    assert [asked[recipe_id] for recipe_id in rank_order(world)] == of_seed
    groups = [f"to-{each.name}" for each in EVERY_PRIORITY]
    for name in groups:
        world.put_group(name, "ada")
    world.open_system("a", *(group(f"to-{each.name}", each.name) for each in Priority))
    asked = submit_all(world, wanting, *groups)
    found = [asked[recipe_id] for recipe_id in rank_order(world) if recipe_id in asked]
    maxima = {f"to-{each.name}": each for each in Priority}
    # Equal ones in the order of submission, which is that of `asked`.
    assert found == sorted(asked.values(), key=lambda job: (-min(maxima[job[0] or ""], job[1]), -job[1]))


def test_second_table__computed__equals_printed_one() -> None:
    printed = {
        each.name: [nominal.name for e, nominal in SECOND_TABLE if e == each] for each in EVERY_PRIORITY
    }
    assert printed == {
        "Urgent": ["Urgent"],
        "High": ["Urgent", "High"],
        "Normal": ["Urgent", "High", "Normal"],
        "Medium": ["Urgent", "High", "Normal", "Medium"],
        "Low": ["Urgent", "High", "Normal", "Medium", "Low"],
    }


def test_order__system_in_two_pools__the_highest_maximum_counts(world: World) -> None:
    one_system(world, "net", "gpu")
    world.open_pool("net", everybody("Low"))
    world.open_pool("gpu", group(DESIGNATED, "High"))
    other = world.submit(ANYTHING.text, priority="Urgent")
    theirs = world.submit(ANYTHING.text, priority="Normal", group=DESIGNATED)
    assert served(world, [other, theirs]) == [theirs, other]


def test_order__another_system_without_a_policy__is_by_nominal_priority(world: World) -> None:
    one_system(world)
    world.open_system("a", group(DESIGNATED, "Urgent"), everybody("Low"))
    world.add_system("b")
    world.settle()
    runs = world.submit(ANYTHING.text)
    world.settle()
    other = world.submit(ANYTHING.text, priority="Urgent")
    theirs = world.submit(ANYTHING.text, priority="Normal", group=DESIGNATED)
    finish(world, runs)
    assert (world.system_of(other), world.states(theirs)) == ("b", ["queued"])


def test_order__maximum_changed_while_they_wait__changes_at_once(world: World) -> None:
    one_system(world)
    runs = world.placed()[0].recipe_id
    other = world.submit(ANYTHING.text, priority="Urgent")
    theirs = world.submit(ANYTHING.text, priority="Normal", group=DESIGNATED)
    world.settle()
    world.open_system("a", group(DESIGNATED, "Urgent"), everybody("Medium"))
    finish(world, runs)
    assert (world.system_of(theirs), world.states(other)) == ("a", ["queued"])


def test_order__priority_raised_above_the_maximum__makes_a_difference_among_equals_only(world: World) -> None:
    one_system(world)
    world.open_system("a", group(DESIGNATED, "Urgent"), everybody("Medium"))
    first, second = world.submit(ANYTHING.text), world.submit(ANYTHING.text)
    theirs = world.submit(ANYTHING.text, priority="Normal", group=DESIGNATED)
    world.settle()
    world.change_priority(second, "Urgent")
    assert served(world, [first, second, theirs]) == [theirs, second, first]


def test_order__first_is_passed_over_for_safety__the_next_by_effective_priority_is_asked(
    world: World,
) -> None:
    one_system(world)
    runs = world.placed()[0].recipe_id
    world.open_system("a", group(DESIGNATED, "High"), everybody("Low"))
    world.add_system("b", condition="Broken")
    # This set ranks first, but with a alone it would wait for ever.
    unsafe = world.submit_set(
        ['{"element":"hostname","op":"==","value":"a"}', '{"element":"hostname","op":"==","value":"b"}'],
        priority="Urgent",
        group=DESIGNATED,
    )
    capped = world.submit(ANYTHING.text, priority="Urgent")
    normal = world.submit(ANYTHING.text, priority="Normal", group=DESIGNATED)
    low = world.submit(ANYTHING.text, priority="Low")
    world.settle()
    finish(world, runs)
    assert (world.states(*unsafe), world.system_of(normal)) == (["queued", "queued"], "a")
    finish(world, normal)
    assert (world.system_of(capped), world.states(low)) == ("a", ["queued"])


def test_order__guests_and_sets__rank_of_their_set(world: World) -> None:
    one_system(world)
    runs = world.placed()[0].recipe_id
    world.open_system("a", group(DESIGNATED, "Urgent"), everybody("Medium"))
    (host,) = world.submit_set([ANYTHING.text], priority="Urgent", guests={0: [1]})
    theirs = world.submit(ANYTHING.text, priority="High", group=DESIGNATED)
    world.settle()
    finish(world, runs)
    assert (world.system_of(theirs), world.states(host)) == ("a", ["queued"])
