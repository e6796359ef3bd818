"""Sets that admission ends, and the changes after which it does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.job.events import JobClosed, JobOpened, JobSubmitted
from domain.scheduling.decisions.timers import Findings
from domain.scheduling.supply.reasons import DISTRO_LEFT
from domain.scheduling.world.absent_trees import MAX_ABSENCE_SECONDS
from tests.domain.scheduling.consistency_loop import tick
from tests.domain.scheduling.contents import check_indexes
from tests.domain.scheduling.decision_reasons import reasons
from tests.domain.scheduling.dependents import on
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.labs import occupy, one_lab, wanting
from tests.domain.scheduling.rules import ENDING, rules
from tests.domain.scheduling.world import World

URGENT = {"field": "priority", "op": "=", "value": "Urgent"}


def _dependent(world: World, *states: str) -> tuple[int, int]:
    """Return a running recipe, and one that waits for the end of its job in one of these states."""
    world.add_idle("a", "b")
    (runs,) = occupy(world, "a").values()
    depends_on = [{"job": world.recipes[runs].job_id, "states": states}]
    dependent = world.submit(named("b"), submitted={"depends_on": depends_on})
    world.settle()
    return runs, dependent


def _dependency_completed(world: World) -> int:
    runs, dependent = _dependent(world, "aborted")
    world.complete(runs)
    return dependent


def _dependency_cancelled(world: World) -> int:
    runs, dependent = _dependent(world, "completed")
    world.cancel(runs)
    return dependent


def _rejected_holder(world: World) -> int:
    world.add_idle("a", "b")
    occupy(world, "b")
    holder, _ = wanting(world, "a", "b", priority="Medium")
    world.put_job_filter("strict", "REJECT")
    world.settle()
    assert world.states(holder) == ["scheduled"]
    world.set_condition("a", "Broken")
    return holder


def _priority_raised(world: World) -> int:
    world.add_idle("a")
    occupy(world, "a")
    world.put_job_filter("no haste", "REJECT", predicate=URGENT)
    waiting = world.submit(named("a"))
    world.settle()
    world.change_priority(waiting, "Urgent")
    return waiting


def _open_job_closed(world: World) -> int:
    """Close an open job whose only recipe was cancelled, while a set waits for its completion."""
    world.add_idle("a")
    submitted = JobSubmitted("ada", "ada", None, "", (), {})
    world.commit([("job/9", submitted), ("job/9", JobOpened(()))])
    world.cancel(world.submit(named("a"), job_id=9))
    dependent = world.submit(named("a"), submitted=on("job", 9, "completed"))
    world.settle()
    world.commit([("job/9", JobClosed("closed"))])
    return dependent


def _tasks_changed(world: World) -> int:
    """Change the tasks of a waiting set to those that a job filter rejects."""
    world.add_idle("a")
    occupy(world, "a")
    predicate = {"field": "task", "op": "=", "value": "/other"}
    world.put_job_filter("no other", "REJECT", predicate=predicate)
    waiting = world.submit(named("a"), submitted={"tasks": ["/check"]})
    world.settle()
    world.change_recipe(waiting)
    return waiting


def _rule_put(world: World) -> int:
    world.add_idle("a")
    occupy(world, "a")
    waiting = world.submit(named("a"))
    world.settle()
    world.put_job_filter("strict", "REJECT")
    return waiting


CASES: list[tuple[str, Callable[[World], int]]] = [
    ("recipe completed", _dependency_completed),
    ("recipe given up", _dependency_cancelled),
    ("recipe queued", _rejected_holder),
    ("priority changed", _priority_raised),
    ("job closed", _open_job_closed),
    ("set changed", _tasks_changed),
    ("job filters changed", _rule_put),
]


def test_rules__every_row_that_may_end_sets__has_a_case() -> None:
    assert {name for name, _ in CASES} == ENDING


@pytest.mark.parametrize(("name", "case"), CASES)
def test_admission__any_row_alone__ends_the_set(name: str, case: Callable[[World], int]) -> None:
    world = one_lab(rules(ends=(name,)))
    recipe_id = case(world)
    world.settle()
    assert world.recipes[recipe_id].finished
    check_indexes(world.partition)


@pytest.mark.parametrize(("name", "case"), CASES)
def test_lost_end__planted__counted_and_corrected(name: str, case: Callable[[World], int]) -> None:
    world = one_lab(rules(ends=ENDING - {name}))
    recipe_id = case(world)
    world.settle()
    assert world.states(recipe_id) == ["queued"]
    found = tick(world)
    assert (found.findings.end_overlooked, found.findings.never_happen) == (1, 1)
    assert found.causes == ["timer/consistency"]
    assert world.recipes[recipe_id].finished
    assert tick(world).findings == Findings()


def test_distro_tree__left_every_lab__set_that_is_held_back_is_given_up(world: World) -> None:
    world.put_tree(2, "x86_64", ["lab-1"])
    world.add_idle("a")
    world.put_job_filter("nobody", "PAUSE")
    other, paused = world.submit(named("a")), world.submit(named("a"), tree_id=2)
    world.settle()
    world.remove_tree(2)
    found = tick(world, MAX_ABSENCE_SECONDS)
    assert reasons(found.decisions) == {f"recipe/{paused}": f"{DISTRO_LEFT}: 2 (tree-2)"}
    assert world.states(other) == ["queued"]
