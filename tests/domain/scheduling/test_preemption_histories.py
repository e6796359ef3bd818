"""Random histories in which sets preempt each other: sound by the audit, and the same after any restart."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from domain.recipe_set.messages import ReportInstalling, ReportTaskRunning
from replay.audit import check, from_recorded
from replay.verify.recomputation import Recomputation
from tests.domain.scheduling.consistency_loop import run_loop
from tests.domain.scheduling.contents import contents, restored_copy
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World

NAMES = "abcde"
QUEUES = ("root.a", "root.b", "root.parent.c", "root.parent.d", "root.parent.d")


def lab(chance: Random) -> World:
    """Return a lab with few systems; some of its queues have a guarantee."""
    world = one_lab()
    world.add_idle(*NAMES)
    below = [{"name": "c", "guaranteed": chance.choice((None, 1))}, {"name": "d"}]
    parent = {"name": "parent", "guaranteed": 1, "fence": chance.random() < 0.2, "queues": below}
    queues = [{"name": "a", "guaranteed": 3}, {"name": "b", "guaranteed": chance.choice((None, 1))}, parent]
    at_once = {"after_seconds": 0, "again_after_seconds": 0, "most_per_job": chance.choice((1, 3))}
    world.configure(queues={"queues": queues}, preemption={"enabled": True, **at_once})
    return world


def act(chance: Random, world: World) -> None:
    placed = [each for each in world.placed() if each.host_recipe_id is None and each.started]
    kind = chance.choice(("submit", "submit", "submit", "run", "complete", "cancel"))
    if kind == "submit":
        count = chance.choice((1, 1, 2, 3))
        wants = [named(*chance.sample(NAMES, chance.randint(1, 3))) for _ in range(count)]
        submitted = {"queue": chance.choice(QUEUES), "preemptible": chance.random() < 0.7}
        world.submit_set(wants, priority=chance.choice(("Normal", "Normal", "High")), submitted=submitted)
    elif placed and kind == "run":
        recipe = chance.choice(placed)
        if recipe.state == "waiting":
            world.report(recipe.recipe_id, ReportInstalling())
            world.report(recipe.recipe_id, ReportTaskRunning(recipe.tasks[0].task_id))
    elif placed and kind == "complete":
        world.abort(chance.choice(placed).recipe_id)
    elif world.placed():
        world.cancel(chance.choice(world.placed()).recipe_id)


@pytest.mark.parametrize("seed", range(3))
def test_history__sets_preempt_each_other__sound_and_the_same_after_a_restart(seed: int) -> None:
    chance = Random(seed)
    world, preemptions = lab(chance), 0
    for _ in range(120):
        act(chance, world)
        world.now += timedelta(seconds=chance.choice((0, 30)))
        world.settle()
        preemptions += run_loop(world).findings.preemptions
        refolded = contents(world.refolded())
        assert refolded["sets"] == contents(world.partition)["sets"]
        assert contents(restored_copy(world.partition))["sets"] == refolded["sets"]
        world.settle()
        assert world.partition.conservation.broken_laws(world.partition.systems) == {}
    assert preemptions > 1, "hardly any set was preempted"
    assert list(check(from_recorded(world.log))) == []
    assert list(Recomputation().take_all(world.log)) == []
