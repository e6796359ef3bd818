"""Whom a pending system serves, and in which order triggers are answered."""

from __future__ import annotations

from domain.system.events import SystemIdle
from tests.domain.scheduling.wants import ANYTHING, BIG, IN_POOL
from tests.domain.scheduling.world import World


def test_pending_system__nobody_in_the_queue__goes_idle(world: World) -> None:
    world.add_system("a")
    assert world.settle() == [(("system/a", SystemIdle()),)]


def test_pending_system__queue_of_all_priorities__serves_by_priority_then_submission(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    for priority in ("Low", "Normal", "Urgent", "Medium", "Urgent", "High"):
        world.submit(ANYTHING.text, priority=priority)
    world.settle()
    served = []
    while placed := world.placed():
        served.append(placed[0].recipe_id)
        world.complete(placed[0].recipe_id)
        world.settle()
    assert served == [1, 4, 6, 7, 3, 5, 2]


def test_pending_system__first_in_rank_wants_another_system__serves_the_next(world: World) -> None:
    world.add_idle("a")
    world.add_system("b", condition="Broken", memory_mb=16384)
    world.submit(ANYTHING.text)
    big, small = world.submit(BIG.text, priority="Urgent"), world.submit(ANYTHING.text, priority="Low")
    world.settle()
    world.abort(1)
    world.settle()
    assert (world.recipes[big].state, world.recipes[small].state) == ("queued", "waiting")


def test_pending_system__lab_disabled_meanwhile__goes_idle_whoever_waits(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.submit(ANYTHING.text, priority="Urgent")
    world.settle()
    world.enable("lab-1", False)
    world.complete(1)
    assert world.settle() == [(("system/a", SystemIdle()),)]


def test_pending_system__registered_in_the_pool_a_queued_recipe_wants__serves_it(world: World) -> None:
    world.add_system("broken", condition="Broken", pools=["net"])
    wanting = world.submit(IN_POOL.text)
    world.settle()
    world.add_system("a", pools=["net"])
    world.settle()
    assert world.recipes[wanting].system == "a"


def test_triggers__system_freed_before_a_new_job_came__queue_goes_before_it(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    queued = world.submit(ANYTHING.text, priority="Low")
    world.settle()
    world.complete(1)
    newcomer = world.submit(ANYTHING.text, priority="Urgent")
    world.settle()
    assert (world.recipes[queued].state, world.recipes[newcomer].state) == ("waiting", "queued")


def test_triggers__recipe_cancelled_before_it_was_looked_at__nothing_is_decided(world: World) -> None:
    world.add_idle("a")
    world.cancel(world.submit(ANYTHING.text))
    assert world.settle() == []


def test_take_back__commit_failed_again_and_again__triggers_do_not_pile_up(world: World) -> None:
    world.add_system("a")
    world.add_system("b")
    decisions = world.decide()
    held = len(world.partition._triggers)
    for _ in range(10):
        assert world.decide() == decisions
    assert len(world.partition._triggers) == held
