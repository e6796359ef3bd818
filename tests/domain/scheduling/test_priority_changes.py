"""Changes of the priority of waiting sets: they change the rank order, but never allow a new grant.

So the row "priority changed" of the wake-ups, which design section 2 lists, has no effect. An idle system
asks all recipes that could use it, in any order; the safety of a grant does not depend on priorities; and
holders let go until the state is safe.
"""

from __future__ import annotations

from random import Random

import pytest

from domain.priority import Priority
from tests.domain.scheduling import history
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.labs import finish, occupy
from tests.domain.scheduling.rules import WAKING
from tests.domain.scheduling.world import World

SEEDS = range(25)


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
