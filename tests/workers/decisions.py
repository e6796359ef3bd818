"""Decisions as the log shows them: their number, and that none was made twice."""

from __future__ import annotations

from collections import Counter

from domain.events import Recorded
from domain.recipe.events import RecipeNew, RecipeQueued, RecipeScheduled
from domain.system.events import SystemIdle, SystemPending, SystemScheduled
from store.event_log import EventLog
from tests.harness.appends import whole_log

ANSWERS = (RecipeQueued, RecipeScheduled, SystemIdle)


def open_recipes(log: EventLog) -> set[str]:
    """Return the recipes without a decision."""
    events = whole_log(log)
    new = {recorded.subject for recorded in events if isinstance(recorded.event, RecipeNew)}
    return new - {recorded.subject for recorded in events if isinstance(recorded.event, ANSWERS)}


def pending_systems(log: EventLog) -> set[str]:
    last = {
        recorded.subject: recorded.event
        for recorded in whole_log(log)
        if recorded.subject.startswith("system/")
    }
    return {subject for subject, event in last.items() if isinstance(event, SystemPending)}


def all_decided(log: EventLog) -> bool:
    return not open_recipes(log) and not pending_systems(log)


def assert_decided_once(log: EventLog) -> None:
    events = whole_log(log)
    queued = Counter(r.subject for r in events if isinstance(r.event, RecipeQueued))
    placed = Counter(r.subject for r in events if isinstance(r.event, RecipeScheduled))
    taken = Counter(r.subject for r in events if isinstance(r.event, SystemScheduled))
    assert all(number == 1 for counter in (queued, placed, taken) for number in counter.values())
    assert len(placed) == len(taken), "no recipe of these tests ends, so no system is given twice"
    assert_epochs_ascend(events)


def assert_epochs_ascend(events: list[Recorded]) -> None:
    """Assert that no holder of the lease decides after a later holder has."""
    epochs = [recorded.stamp.basis.epoch for recorded in events if recorded.stamp.basis]
    assert epochs == sorted(epochs)
