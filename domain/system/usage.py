"""The usage of a freed system, and the rules for systems that recipes may have (design sections 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from domain.events import Event
from domain.system.events import SystemIdle, SystemPending
from domain.system.state import Loan, System


def freed(system: System) -> tuple[str, Event]:
    """Return the event of a freed system: pending if recipes may have it without force, otherwise idle."""
    return system.subject, SystemPending() if takes_recipes(system) else SystemIdle()


def takes_recipes(system: System) -> bool:
    """Return whether the system, once it is free, is pending: Automated, not draining, not occupied."""
    return is_automated(system.condition) and not system.draining and system.occupied is None


def condition_reason(system: System, reason: str) -> str:
    """Return `FQDN is CONDITION: REASON`, the reason of events that follow from a change of condition."""
    text = f"{system.fqdn} is {system.condition}"
    return f"{text}: {reason}" if reason else text


def displayed_usage(condition: str | None, usage: str) -> str:
    """Return the usage for people: of an idle system that is not Automated, the condition instead."""
    is_special = usage == "idle" and condition is not None and not is_automated(condition)
    return str(condition) if is_special else usage


# Kinds of idle time in which an Automated system is in no idle pool.
UNAVAILABLE = ("draining", "occupied", "disabled")


def why_unavailable(system: System, *, lab_enabled: bool) -> str | None:
    """Return why an idle Automated system takes nothing new, one of `UNAVAILABLE`; None for other systems."""
    if system.usage != "idle" or not is_automated(system.condition) or system.reservation is not None:
        return None
    if system.draining:
        return "draining"
    if system.occupied is not None:
        return "occupied"
    return None if lab_enabled else "disabled"


def is_automated(condition: str) -> bool:
    """Return whether recipes may have a system in this condition without force."""
    return condition == "Automated"


def is_open(system: System, lab_enabled: bool) -> bool:
    """Return whether a recipe that forces the system may have it, now or when it comes free."""
    is_given = system.reservation is not None or system.occupied is not None
    return lab_enabled and not system.draining and not is_given and system.condition != "Removed"


def why_not_usable(system: System, lab_enabled: bool, *, forced: bool) -> Iterator[str]:
    """Yield all reasons why recipes may not have the system, neither now nor when it comes free."""
    if not lab_enabled:
        yield f"its lab is disabled: {system.lab_controller}"
    if system.draining:
        yield _why_draining(system)
    if system.occupied is not None:
        yield f"it is occupied: {system.occupied.reason}"
    if system.reservation is not None:
        yield f"it is reserved by {system.reservation.user}{_until(system.reservation.until)}"
    if system.condition == "Removed" or not (forced or is_automated(system.condition)):
        yield f"it is {system.condition}"


def _why_draining(system: System) -> str:
    numbers = [] if system.drained_by_person else [str(number) for number in system.windows]
    if not numbers:
        return "it is draining: it takes nothing new"
    windows = "maintenance windows" if len(numbers) > 1 else "maintenance window"
    return f"it is draining for {windows} {', '.join(numbers)}: it takes nothing new"


def lent_to(loan: Loan) -> str:
    """Return the borrower and the end of a loan, as a suffix of a reason."""
    return f"{loan.user}{_until(loan.until)}"


def _until(until: datetime | None) -> str:
    return "" if until is None else f" until {until.astimezone(UTC):%Y-%m-%d %H:%M} (UTC)"


def is_usable(system: System, lab_enabled: bool) -> bool:
    """Return whether recipes may have the system without force, now or when it comes free."""
    return is_automated(system.condition) and is_open(system, lab_enabled)


def in_idle_pool(system: System, lab_enabled: bool) -> bool:
    return system.usage == "idle" and is_usable(system, lab_enabled)
