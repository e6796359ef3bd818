"""Explanations of sets that wait in a queue below its guarantee, case by case."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from tests.domain.scheduling.consistency_loop import run_loop
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World

DUE = 30
QUEUES = [{"name": "urgent", "guaranteed": 2}, {"name": "own"}, {"name": "fenced", "fence": True}]


def submit(world: World, queue: str, fqdn: str, **more: Any) -> int:
    submitted = {"queue": f"root.{queue}", **more.pop("submitted", {})}
    (recipe_id,) = world.submit_set([named(fqdn)], submitted=submitted, **more)
    world.settle()
    return recipe_id


def said(world: World, recipe_id: int, after_seconds: int) -> str | None:
    host = world.partition.sets.recipes[recipe_id]
    now = world.now + timedelta(seconds=after_seconds)
    return why_it_waits(world.partition, host, WaitingOptions(10, now=now)).preemption


@pytest.fixture
def lab(world: World) -> World:
    world.add_idle("a")
    world.configure(queues={"queues": QUEUES}, preemption={"enabled": True})
    return world


HOLDERS: dict[str, tuple[str, dict[str, Any], str]] = {
    "started": ("own", {}, "no set can give way: 1 started and not preemptible"),
    "higher priority": ("own", {"priority": "High"}, "no set can give way: 1 of higher priority"),
    "own queue": ("urgent", {}, "no set can give way: 1 of its queue"),
    "fence": (
        "fenced",
        {"submitted": {"preemptible": True}},
        "no set can give way: 1 behind a fence",
    ),
    "preemptible": ("own", {"submitted": {"preemptible": True}}, "the set is about to preempt others"),
}


@pytest.mark.parametrize("case", HOLDERS)
def test_preemption__queue_below_its_guarantee__says_why_nobody_gives_way(lab: World, case: str) -> None:
    queue, more, expected = HOLDERS[case]
    submit(lab, queue, "a", **more)
    taking = submit(lab, "urgent", "a")
    used = f"its queue root.urgent has {int(queue == 'urgent')} of 2 guaranteed systems"
    assert said(lab, taking, DUE - 1) == f"{used}; the set may preempt others once it has waited {DUE} s"
    assert said(lab, taking, DUE) == f"{used}; {expected}"
    lab.now += timedelta(seconds=DUE)
    assert run_loop(lab).findings.preemptions == int(case == "preemptible")


def test_preemption__off_or_queue_with_its_guarantee__says_nothing(lab: World) -> None:
    submit(lab, "own", "a")
    behind = submit(lab, "own", "a")
    assert said(lab, behind, DUE) is None
    taking = submit(lab, "urgent", "a")
    assert said(lab, taking, DUE) is not None
    lab.configure(queues={"queues": QUEUES})
    lab.settle()
    assert said(lab, taking, DUE) is None
