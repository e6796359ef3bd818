"""The usage of a freed system, and whether recipes may have a system at all (design sections 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from domain.events import Event
from domain.system.events import SystemIdle, SystemPending
from domain.system.state import Loan, System


def freed(system: System) -> tuple[str, Event]:
    """Return the event of a freed system: pending if recipes may have it without force, else idle."""
    wanted = is_automated(system.condition) and not system.draining
    return system.subject, SystemPending() if wanted else SystemIdle()


def condition_reason(system: System, reason: str) -> str:
    """Return the reason for everything that follows from the system's condition."""
    said = f"{system.fqdn} is {system.condition}"
    return f"{said}: {reason}" if reason else said


def is_automated(condition: str) -> bool:
    """Return whether recipes may have a system in this condition without force."""
    return condition == "Automated"


def is_open(system: System, lab_enabled: bool) -> bool:
    """Return whether a recipe that forces the system may have it, now or when it becomes free."""
    return (
        lab_enabled and not system.draining and system.reservation is None and system.condition != "Removed"
    )


def why_not_usable(system: System, lab_enabled: bool, *, forced: bool) -> Iterator[str]:
    """Return all reasons for which recipes may not have the system, now or when it becomes free."""
    if not lab_enabled:
        yield f"its lab is disabled: {system.lab_controller}"
    if system.draining:
        yield "it is draining: it takes nothing new"
    if system.reservation is not None:
        yield f"it is reserved by {system.reservation.user}{_until(system.reservation.until)}"
    if system.condition == "Removed" or not (forced or is_automated(system.condition)):
        yield f"it is {system.condition}"


def lent_to(loan: Loan) -> str:
    """Return the borrower and the end of a loan, to be appended to the reason that a system is lent."""
    return f"{loan.user}{_until(loan.until)}"


def _until(until: datetime | None) -> str:
    return "" if until is None else f" until {until.astimezone(UTC):%Y-%m-%d %H:%M} (UTC)"


def is_usable(system: System, lab_enabled: bool) -> bool:
    """Return whether any recipe for which the system is viable may have it, now or when it becomes free."""
    return is_automated(system.condition) and is_open(system, lab_enabled)


def in_idle_pool(system: System, lab_enabled: bool) -> bool:
    return system.usage == "idle" and is_usable(system, lab_enabled)
