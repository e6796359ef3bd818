"""A maintenance window in the directory: its times, the systems that it covers, and its changes by people.

The systems of a window are either listed, or those with all of its properties. Properties are evaluated as
long as the window drains, so that systems which get them later are covered, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from domain.access.people import Person, may
from domain.access.policy import EDIT_SYSTEM
from domain.directory.events import MaintenanceWindowEnded, MaintenanceWindowMoved
from domain.directory.roles import ADMIN
from domain.directory.state import Directory, DirectoryEntry
from domain.directory.system_access import UserGroups, access_to
from domain.endings import with_reason
from domain.errors import WORDS, Fault, FaultyInput, Refused, display_name
from domain.events import Decided
from domain.rfc3339 import rfc3339
from domain.system.state import System

KIND: Final = "maintenance-window"
STATES = PLANNED, DRAINING, OPEN, ENDED = ("planned", "draining", "open", "ended")

MAX_LEAD_SECONDS: Final = 366 * 86_400
# A time minus MAX_LEAD_SECONDS must be a time, too.
FIRST_START: Final = datetime(1970, 1, 1, tzinfo=UTC)

Document = Mapping[str, Any]


@dataclass(frozen=True)
class WindowTimes:
    """The times of a window. It drains its systems from `lead` before `starts_at` until `ends_at`."""

    starts_at: datetime
    ends_at: datetime
    lead: timedelta

    @property
    def drains_at(self) -> datetime:
        return self.starts_at - self.lead


def times_of(document: Document) -> WindowTimes:
    starts_at, ends_at = (datetime.fromisoformat(document[name]) for name in ("starts_at", "ends_at"))
    return WindowTimes(starts_at, ends_at, timedelta(seconds=document["lead_seconds"]))


def is_draining(document: Document, now: datetime) -> bool:
    """Return whether the systems of a window are to drain now."""
    return state_at(document, now) in (DRAINING, OPEN)


def state_at(document: Document, now: datetime) -> str:
    """Return the state of a window: by the times in its document, no event begins or ends one in time."""
    times = times_of(document)
    if "ended_at" in document or times.ends_at <= now:
        return ENDED
    if times.starts_at <= now:
        return OPEN
    return DRAINING if times.drains_at <= now else PLANNED


def begin_reason(number: int, document: Document) -> str:
    return with_reason(f"{WORDS[KIND]} {number}", document["reason"])


def end_reason(number: int, document: Document) -> str:
    return with_reason(f"{WORDS[KIND]} {number} is over", document.get("end_reason"))


# Covered systems


def candidates(directory: Directory, document: Document, everywhere: Iterable[str]) -> Iterable[str]:
    """Return the systems among which those that a window covers are: its list, its pool, or all."""
    if document["systems"] is not None:
        listed: Iterable[str] = document["systems"]
        return listed
    return everywhere if document["pool"] is None else directory.systems_of(document["pool"])


def covers(document: Document, lab_controller: str, inventory: Mapping[str, Any]) -> bool:
    """Return whether a window covers a system with these properties, which is one of the `candidates`."""
    lab, location = document["lab_controller"], document["location"]
    return (lab is None or lab == lab_controller) and (
        location is None or location == inventory.get("location")
    )


def covered_systems(directory: Directory, document: Document) -> list[str]:
    """Return the systems that a window covers now, by the directory of a process with all systems."""
    systems = dict(directory.items("system"))
    names = (name for name in candidates(directory, document, systems) if name in systems)
    return sorted(
        name
        for name in names
        if covers(document, systems[name].document["lab_controller"], systems[name].document["inventory"])
    )


def may_drain(directory: Directory, entry: DirectoryEntry, system: System) -> bool:
    """Return whether the user who added a window may drain a system, as far as it covers that."""
    user = entry.document["added_by"]
    if not directory.had("user", user, entry.since):
        return False
    if entry.document["has_all_rights"] and ADMIN in directory.roles_of(user):
        return True
    return may(Person(user, UserGroups(directory, user)), access_to(directory, system), EDIT_SYSTEM)


# Changes by people


def time_faults(times: WindowTimes, now: datetime) -> list[Fault]:
    """Return the faults of the times of a new or moved window."""
    faults = []
    if times.starts_at < FIRST_START:
        faults.append(Fault("starts_at", f"must not be before {FIRST_START.year}"))
    if times.ends_at <= times.starts_at:
        faults.append(Fault("ends_at", f"must be after starts_at, {times.starts_at.isoformat()}"))
    if times.ends_at <= now:
        faults.append(Fault("ends_at", "is in the past"))
    return faults


def move(number: int, document: Document, after: WindowTimes, now: datetime) -> Decided:
    """Return the event that moves a window, none if its times stay.

    Raises Refused for a window that has ended, or to move the start of one that has started, and FaultyInput
    for wrong times.
    """
    name = display_name(KIND, number)
    if state_at(document, now) == ENDED:
        raise Refused(f"{name} has ended")
    before = times_of(document)
    if before == after:
        return []
    has_other_start = (after.starts_at, after.lead) != (before.starts_at, before.lead)
    if has_other_start and before.starts_at <= now:
        raise Refused(f"{name} has started: only ends_at can be moved")
    if faults := time_faults(after, now):
        raise FaultyInput(faults)
    moved = MaintenanceWindowMoved(
        starts_at=rfc3339(after.starts_at),
        ends_at=rfc3339(after.ends_at),
        lead_seconds=int(after.lead.total_seconds()),
    )
    return [(f"{KIND}/{number}", moved)]


def end(number: int, document: Document, reason: str | None, now: datetime) -> Decided:
    """Return the event that ends a window before its time. Raises Refused for one that has ended."""
    if state_at(document, now) == ENDED:
        raise Refused(f"{display_name(KIND, number)} has ended")
    return [(f"{KIND}/{number}", MaintenanceWindowEnded(ended_at=rfc3339(now), reason=reason))]
