"""Another priority while a set waits: it decides who comes next from then on, and eases nothing.

So the row "priority changed" of the wake-ups, which design section 2 lists, can lead to nothing. An idle
system asks all who could use it, whoever stands first; whether a grant is safe does not depend on priorities;
and who lets go does so until all is safe again.
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
    """A recipe of each set of which none has started, and one at least has no system."""
    started = {one.recipe_set_id for one in world.in_state("waiting", "installing", "running", "reserved")}
    unplaced = world.in_state("queued", "assigned")
    sets = {one.recipe_set_id: one.recipe_id for one in unplaced if one.recipe_set_id not in started}
    return list(sets.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_priorities__changed_at_rest_whatever_the_lab__nobody_gets_or_loses_anything(seed: int) -> None:
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
    assert changed and idle, "else nothing was asked"


def test_priority_changed__is_a_row__and_raises_a_question(world: World) -> None:
    """Else the test above would ask nothing."""
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
        # Of three that were submitted one after the other at Normal, which one becomes what.
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
