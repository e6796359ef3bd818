"""Log rows like those of the scheduler: the four events of an allocation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from domain.events import Basis, Change, Event, Stamp
from domain.recipe.events import RecipeScheduled, RecipeWaiting
from domain.scheduling.decisions.decide import POLICY_VERSION
from domain.system.events import SystemScheduled, SystemWaiting
from store.mapper import EventMapper, Versioned
from workers.scheduler import ACTOR

EVENTS_OF_A_GRANT = 4
SYSTEMS = 10_000
LAB_CONTROLLER = "lab.s1-01.example.com"
MOMENT = datetime(2026, 1, 1, 12, 30, 15, 123456, tzinfo=UTC)

Columns = list[list[Any]]
"""Subjects, versions, topics, states, positions and commit ends, a list of each."""


def of_grants(first: int, grants: int) -> Columns:
    """Return the rows of allocations in one commit, numbered from `first` so that no two rows share a key."""
    after = first * EVENTS_OF_A_GRANT
    end = after + grants * EVENTS_OF_A_GRANT
    columns: Columns = [[], [], [], [], list(range(after + 1, end + 1)), [end] * (end - after)]
    mapper = EventMapper()
    for number in range(first, first + grants):
        stamp = Stamp(
            MOMENT, ACTOR, f"event/{after}", Basis(after, MOMENT, 1, POLICY_VERSION), number - first
        )
        for subject, version, event in _grant(number):
            stored = mapper.to_stored_event(Versioned(subject, version, Change(subject, event, stamp)))
            for column, value in zip(columns, (subject, version, stored.topic, stored.state), strict=False):
                column.append(value)
    return columns


def _grant(number: int) -> list[tuple[str, int, Event]]:
    fqdn = f"r640-{number % SYSTEMS:04}.s1-01.example.com"
    recipe, system = f"recipe/{number}", f"system/{fqdn}"
    before = 1 + 2 * (number // SYSTEMS)
    return [
        (recipe, 3, RecipeScheduled(fqdn, LAB_CONTROLLER)),
        (system, before, SystemScheduled(number)),
        (recipe, 4, RecipeWaiting(fqdn)),
        (system, before + 1, SystemWaiting(number)),
    ]
