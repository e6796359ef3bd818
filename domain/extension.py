"""Extensions: people move the deadline of a recipe, or the end of a reservation or loan.

The lab bounds by how much one recipe (in one attempt), one reservation or one loan is extended in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from domain.errors import Fault, FaultyInput, Refused
from domain.events import Decided
from domain.recipe.events import RecipeExtended
from domain.recipe.state import Recipe
from domain.rfc3339 import rfc3339
from domain.system.events import SystemLoanExtended, SystemReservationExtended
from domain.system.state import System


@dataclass(frozen=True)
class Extension:
    """A wanted extension by `seconds`, or to the time `until`: just one of them is set.

    `max_seconds` is the maximum of the lab, `now` the time of the request.
    """

    seconds: int | None
    until: datetime | None
    reason: str | None
    max_seconds: int
    now: datetime


def extend_recipe(recipe: Recipe, extension: Extension) -> Decided:
    """Return the event that moves the deadline of a recipe.

    Raises Refused for a recipe without a deadline, and FaultyInput as `_end` does.
    """
    name = f"recipe {recipe.recipe_id}"
    if recipe.finished:
        raise Refused(f"{name} has ended: it is {recipe.state}")
    if recipe.recorded_deadline is None:
        raise Refused(f"{name} is {recipe.state} and has no deadline")
    end = _end(extension, recipe.recorded_deadline, recipe.extended_seconds)
    # Rounded up: a part of a second would be an event that changes nothing.
    seconds = ceil((end - recipe.recorded_deadline).total_seconds())
    return [(recipe.subject, RecipeExtended(seconds=seconds, reason=extension.reason))]


def extend_system(system: System, extension: Extension) -> Decided:
    """Return the event that moves the end of the reservation of a system or, without one, of its loan.

    Raises Refused without either, or if it has no end, and FaultyInput as `_end` does.
    """
    held = system.reservation or system.loan
    kind = "reservation" if system.reservation is not None else "loan"
    if held is None:
        raise Refused(f"system {system.fqdn} is neither reserved by a person nor on loan")
    if held.until is None:
        raise Refused(f"the {kind} of system {system.fqdn} has no end")
    until = rfc3339(_end(extension, held.until, held.extended_seconds))
    event = SystemReservationExtended if kind == "reservation" else SystemLoanExtended
    return [(system.subject, event(until=until, reason=extension.reason))]


def _end(extension: Extension, end: datetime, extended_seconds: float) -> datetime:
    """Return the new end. Raises FaultyInput for an earlier or past one, or beyond the maximum of the lab."""
    if extension.until is None:
        where, moved = "seconds", end + timedelta(seconds=extension.seconds or 0)
    else:
        where, moved = "until", extension.until
    if moved <= end:
        raise FaultyInput([Fault(where, f"must be after the present end, {end.isoformat()}")])
    if moved <= extension.now:
        raise FaultyInput([Fault(where, f"would end it in the past: the present end is {end.isoformat()}")])
    if extended_seconds + (moved - end).total_seconds() > extension.max_seconds:
        left = max(0, int(extension.max_seconds - extended_seconds))
        whole, rest = _length(extension.max_seconds), _length(left)
        bound = f"the maximum of the lab is {whole} in all, of which {rest} are left"
        raise FaultyInput([Fault(where, bound)])
    return moved


def _length(seconds: int) -> str:
    """Return exact seconds in the units that options take: `604_800` -> `7d`, `5_400` -> `1h 30m`."""
    parts, rest = list[str](), seconds
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, length)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"
