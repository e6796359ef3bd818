"""Invariants of reservations, and of systems that recipes keep on request, `reservesys` (design 2)."""

from __future__ import annotations

from replay.audit.affected import Affected
from replay.audit.deadlines import BY_RECORDED_AT_FROM, CAUSE
from replay.audit.invariant import Invariant, Violations
from replay.audit.record import Commit, EventRecord
from replay.audit.tables import FINISHED
from replay.audit.values import System
from replay.audit.world import FoldedWorld

KEPT_FROM = ("installing", "running")
UNFIT = ("Broken", "Removed")
LOST = "its lab controller does not run it any more"


class RightfulReservation(Invariant):
    """A person reserves only a system on loan to that person, or a Manual one on loan to nobody."""

    name = "rightful_reservation"
    topics = ("system.reservation-begun",)

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        system = world.systems.get(record.name)
        fault = None if system is None else _fault(system, record.data["user"])
        if fault is not None:
            yield self.violation([record.position], [record.subject], fault)


def _fault(system: System, user: str) -> str | None:
    if system.borrower is not None and system.borrower != user:
        return f"{user} reserves a system on loan to {system.borrower}"
    is_rightful = system.condition == "Manual" or (system.borrower == user and system.condition != "Removed")
    return (
        None
        if is_rightful
        else f"{user} reserves a system that is {system.condition} and not on loan to them"
    )


def _is_lost(record: EventRecord) -> bool:
    """Return whether a recipe ends because its lab controller does not run it, which no scheduler decides."""
    return record.basis is None and record.event_name == "aborted" and record.data["reason"] == LOST


def _ends_as_given_up(record: EventRecord, reason: str) -> bool:
    """Return whether a recipe is aborted for the reason for which it was given up.

    A person who returned its system may have added a reason.
    """
    if record.event_name != "aborted":
        return False
    why: str = record.data["reason"]
    return why == reason or (record.basis is None and why.startswith(f"{reason}; returned: "))


class KeptAsAsked(Invariant):
    """A recipe that was given up keeps its system if its job asked for that, and is aborted when it ends.

    The scheduler ends a kept recipe only by its watchdog, and with the reason for which the recipe was given
    up; a person who returns the system may add a reason. A Broken or Removed system is not kept. The lab
    controller ends a recipe that it does not run.
    """

    name = "kept_as_asked"
    topics = ("recipe.new", *(f"recipe.{state}" for state in ("reserved", *FINISHED)))

    def __init__(self) -> None:
        self._requesting: dict[str, None] = {}
        # Kept recipe -> the reason for which it was given up.
        self._kept: dict[str, str | None] = {}
        # Violations, unless the system turns out to be unfit after the commit.
        self._faults: list[tuple[EventRecord, str]] = []

    def check_event(self, world: FoldedWorld, record: EventRecord) -> Violations:
        if record.topic == "recipe.new":
            if record.data.get("reservesys") and record.data.get("host_recipe_id") is None:
                self._requesting[record.name] = None
        elif record.topic == "recipe.reserved":
            # A guest that is reserved ends with its host, whether it asked to keep its system or not.
            if record.name in self._requesting:
                self._kept[record.name] = record.data.get("reason")
        else:
            self._check_end(world, record)
        yield from ()

    def _check_end(self, world: FoldedWorld, record: EventRecord) -> None:
        if record.name in self._kept:
            self._check_end_of_kept(record, self._kept.pop(record.name))
        elif record.name in self._requesting and self._is_watchdog(record):
            recipe = world.recipes.get(int(record.name))
            if recipe is not None and recipe.state in KEPT_FROM:
                self._faults.append((record, "its watchdog expired, but it does not keep its system"))
        self._requesting.pop(record.name, None)

    def _check_end_of_kept(self, record: EventRecord, reason: str | None) -> None:
        if record.event_name == "cancelled" or _is_lost(record):
            return
        if record.basis is not None and record.cause != CAUSE + record.name:
            self._faults.append((record, f"it keeps its system, but {record.cause} ends it"))
        if reason is not None and not _ends_as_given_up(record, reason):
            self._faults.append((record, f"it was given up ({reason}), but ends as {record.event_name}"))

    def _is_watchdog(self, record: EventRecord) -> bool:
        is_new = (record.policy_version or 0) >= BY_RECORDED_AT_FROM
        return is_new and record.event_name == "aborted" and record.cause == CAUSE + record.name

    def check_commit(self, world: FoldedWorld, commit: Commit, affected: Affected) -> Violations:
        for record, what in self._faults:
            recipe = world.finished.get(int(record.name))
            system = None if recipe is None else world.systems.get(recipe.system or "")
            if system is None or system.condition not in UNFIT:
                yield self.violation([record.position], [record.subject], what)
        self._faults.clear()
