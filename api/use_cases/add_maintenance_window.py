"""New maintenance windows: planned, and added by people with the right to change all of their systems."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import orjson

from api.use_cases.commit import append_for, commit, wait_until_reflected
from api.use_cases.covered_systems import require_may_change_all, viewed_systems
from api.use_cases.many_systems import CollectedErrors
from api.use_cases.ports import RequestContext, WriteParts
from domain.directory.events import MaintenanceWindowAdded
from domain.directory.state import Directory
from domain.errors import Fault, unknown_name
from domain.events import Decided
from domain.maintenance.unfinished import Unfinished, unfinished
from domain.maintenance.window import (
    KIND,
    MAX_LEAD_SECONDS,
    WindowTimes,
    begin_reason,
    is_draining,
    time_faults,
)
from domain.recipe.state import Recipe
from domain.recipe.watchdog import longest_seconds
from domain.rfc3339 import rfc3339
from domain.system.state import System
from domain.system_admin.draining import begin_maintenance
from store.requests import AppendRequest, Committed

MAX_DRAINED_AT_ONCE: Final = 1_000
"""Maximum number of systems that the commit of a new window drains."""


@dataclass(frozen=True)
class NewWindow:
    """A requested window over `systems`, or those with all of the properties that are not None.

    Without `lead_seconds` the window drains its systems so early that a recipe as long as the longest on them
    now would end, but at most by MAX_LEAD_SECONDS.
    """

    reason: str
    starts_at: datetime
    ends_at: datetime
    lead_seconds: int | None
    systems: Sequence[str] | None
    pool: str | None
    lab_controller: str | None
    location: str | None


@dataclass(frozen=True)
class PlannedWindow:
    """The event of a new window, the systems that it covers now, and what will not be finished on them."""

    added: MaintenanceWindowAdded
    covered_systems: Sequence[str]
    unfinished: Unfinished

    def answer(self, number: int | None) -> bytes:
        """Return the number, document, covered systems and unfinished things of the window as JSON."""
        body = {
            "number": number,
            "document": vars(self.added),
            "covered_systems": self.covered_systems,
            "unfinished": asdict(self.unfinished),
        }
        return orjson.dumps(body, option=orjson.OPT_UTC_Z)


async def plan_window(parts: WriteParts, request: RequestContext, wanted: NewWindow) -> PlannedWindow:
    """Return the window that `add_window` would add. Raises its errors."""
    await parts.feed.catch_up()
    return await asyncio.to_thread(_plan, parts, request, wanted)


async def add_window(parts: WriteParts, request: RequestContext, wanted: NewWindow) -> Committed:
    """Add a window, with `PlannedWindow.answer` as the answer of the commit.

    A window that drains from now on drains its systems in the same commit, so that no recipe gets one before.
    Raises FaultyInput with all unknown names and wrong times, otherwise NotPermitted with all systems that
    the caller may not edit.
    """
    planned = await plan_window(parts, request, wanted)
    directory = parts.feed.directory

    def attempt() -> AppendRequest:
        number = 1 + max((int(name) for name, _ in directory.items(KIND)), default=0)
        drained, versions = _drained_at_once(parts, number, planned)
        decided = [(f"{KIND}/{number}", planned.added), *drained]
        return append_for(parts, request, decided, versions, planned.answer(number))

    async def decide() -> AppendRequest:
        return await asyncio.to_thread(attempt)

    done = await wait_until_reflected(parts, await commit(parts, decide))
    assert done is not None, "a new window is always something new"
    return done


def _drained_at_once(
    parts: WriteParts, number: int, planned: PlannedWindow
) -> tuple[Decided, dict[str, int]]:
    """Return the events that drain the first systems of a window now, and their versions. Blocking.

    The scheduler drains those that follow MAX_DRAINED_AT_ONCE, and systems that are hidden from the caller.
    """
    document = vars(planned.added)
    if not is_draining(document, parts.clock()):
        return [], {}
    subjects = [f"system/{fqdn}" for fqdn in planned.covered_systems[:MAX_DRAINED_AT_ONCE]]
    reason, versions, decided = begin_reason(number, document), {}, []
    for system in parts.aggregates.load(subjects).values():
        if isinstance(system, System) and system.condition != "Removed":
            decided += begin_maintenance(system, number, reason)
            versions[system.subject] = system.version
    return decided, versions


def _plan(parts: WriteParts, request: RequestContext, wanted: NewWindow) -> PlannedWindow:
    """Return the planned window. Blocking."""
    directory, now = parts.feed.directory, parts.clock()
    properties = {name: getattr(wanted, name) for name in ("pool", "lab_controller", "location")}
    names = None if wanted.systems is None else [directory.system_called(fqdn) for fqdn in wanted.systems]
    listed = None if names is None else [name for name in names if name is not None]
    systems = viewed_systems(parts, request, {**properties, "systems": listed})
    errors = CollectedErrors(
        [
            *_unknown_names(directory, wanted, frozenset(systems)),
            *time_faults(WindowTimes(wanted.starts_at, wanted.ends_at, timedelta()), now),
        ]
    )
    require_may_change_all(directory, request, systems, errors)
    recipes = _recipes(parts, systems)
    longest = min(MAX_LEAD_SECONDS, max(map(longest_seconds, recipes.values()), default=0))
    added = MaintenanceWindowAdded(
        reason=wanted.reason,
        starts_at=rfc3339(wanted.starts_at),
        ends_at=rfc3339(wanted.ends_at),
        lead_seconds=longest if wanted.lead_seconds is None else wanted.lead_seconds,
        systems=listed,
        **properties,
        added_by=request.actor,
        added_at=rfc3339(now),
        has_all_rights=request.is_admin,
    )
    rows = map(_row, systems.values())
    return PlannedWindow(added, list(systems), unfinished(rows, recipes, wanted.starts_at, now))


def _unknown_names(directory: Directory, wanted: NewWindow, found: frozenset[str]) -> list[Fault]:
    faults = [
        Fault(f"systems[{number}]", unknown_name("system", fqdn))
        for number, fqdn in enumerate(wanted.systems or ())
        if directory.system_called(fqdn) not in found
    ]
    for field, kind, name in (
        ("pool", "pool", wanted.pool),
        ("lab_controller", "lab-controller", wanted.lab_controller),
    ):
        if name is not None and directory.get(kind, name) is None:
            faults.append(Fault(field, unknown_name(kind, name)))
    if wanted.systems is None and not found and not faults:
        faults.append(Fault("body", "covers no system"))
    return faults


def _recipes(parts: WriteParts, systems: Mapping[str, System]) -> dict[int, Recipe]:
    numbers = (system.recipe_id for system in systems.values() if system.recipe_id is not None)
    states = parts.aggregates.load(f"recipe/{number}" for number in numbers).values()
    return {state.recipe_id: state for state in states if isinstance(state, Recipe)}


def _row(system: System) -> dict[str, Any]:
    reservation, loan = system.reservation, system.loan
    return {
        "fqdn": system.fqdn,
        "recipe_id": system.recipe_id,
        "user": None if reservation is None else reservation.user,
        "reserved_until": None if reservation is None else reservation.until,
        "loaned_to": None if loan is None else loan.user,
        "loaned_until": None if loan is None else loan.until,
    }
