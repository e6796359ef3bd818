"""The candidates of an unplaced recipe: for each system its occupant, the recipes ahead, and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nsmallest
from itertools import islice, takewhile
from typing import Final

from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.decisions.demanded_systems import is_hopeless
from domain.scheduling.decisions.granting import is_safe
from domain.scheduling.decisions.kept_room import lacks
from domain.scheduling.explaining.claimants import asked_first, places_with_claimant
from domain.scheduling.explaining.places import Places, why_before
from domain.scheduling.explaining.refusals import Refusal, of_system
from domain.scheduling.explaining.shown_weights import weight_of
from domain.scheduling.supply.reasons import (
    CLAIMED,
    IN_ANOTHER_LAB,
    LAB_SILENT,
    OWN_CLAIM,
    SET_INCOMPLETE,
    TO_BE_ASKED,
    UNSAFE,
)
from domain.scheduling.supply.rules import LOAN
from domain.scheduling.world.partition import Partition
from domain.system.state import System
from domain.system.usage import lent_to, why_not_usable

NEVER: Final = "never"
NOT_ALLOWED: Final = "not allowed"
NOT_NOW: Final = "not now"
PASSED_OVER: Final = "passed over"

# The deadlines that end the possession of a system (`Occupant.until_by`).
WATCHDOG: Final = "watchdog"
RESERVATION: Final = "reservation"
KEPT: Final = "reservesys"

MAX_AHEAD: Final = 3


@dataclass(frozen=True)
class Occupant:
    """The recipe or person that has a system, since a log position.

    `until` is the present deadline: the end of a reservation, the end of the time for which a recipe keeps
    its system, or the expiry of its watchdog; `until_by` says which. Both are None without a deadline.
    """

    usage: str
    since: int
    recipe_id: int | None = None
    user: str | None = None
    until: datetime | None = None
    until_by: str | None = None


@dataclass(frozen=True)
class Ahead:
    """A recipe that ranks ahead on the system; `by` is the criterion. `weight` is None if weights are off."""

    recipe_id: int
    priority: str
    effective_priority: str
    weight: float | None
    by: str


@dataclass(frozen=True)
class Candidate:
    """A system with a `verdict` (never, not allowed, not now or passed over) and all `reasons` for it.

    `before` counts the recipes that rank ahead of this one on the system; `ahead` has the first of them.
    Both are set only for usable systems.
    """

    fqdn: str
    lab_controller: str
    verdict: str
    reasons: tuple[str, ...]
    holder: Occupant | None = None
    effective_priority: str | None = None
    before: int | None = None
    ahead: tuple[Ahead, ...] = ()


class Candidates:
    """The candidates of one recipe without a system, valid until the partition changes."""

    def __init__(self, partition: Partition, host: Recipe, refused: tuple[Refusal, ...]) -> None:
        self._partition = partition
        self._host = host
        self._refused = refused
        self._usable = partition.usable(host)
        self._before = Places(partition, host).before(self._usable)
        self._claimants: dict[int, Recipe] = dict(self._find_claimants())
        for number, claimant in self._claimants.items():
            if claimant.recipe_id == host.recipe_id:
                self._before[number] = 0

    def _find_claimants(self) -> Iterator[tuple[int, Recipe]]:
        """Yield the usable systems that ask a claimant first, with the claimant."""
        partition = self._partition
        for number in numbers_in(partition.sets.claims.systems & self._usable):
            claimant = asked_first(partition, partition.system(number))
            if claimant is not None and number in self._before:
                yield number, claimant

    def ordered(self, numbers: int, limit: int) -> Iterator[int]:
        """Yield the viable systems of `numbers`: idle ones, then other usable ones, then the rest.

        Each kind is sorted by the number of recipes ahead, then by name, and has at most `limit` systems.
        """
        idle, names = self._partition.idle(self._host), self._partition.labs.names

        def sort_key(number: int) -> tuple[int, str]:
            return self._before.get(number, 0), names[number]

        for kind in (numbers & idle, numbers & self._usable & ~idle, numbers & ~self._usable):
            yield from nsmallest(limit, numbers_in(kind), key=sort_key)

    def before(self, number: int) -> int:
        """Return the number of recipes that are ahead of this one on a usable system, with its claimant."""
        claimant, before = self._claimants.get(number), self._before[number]
        if claimant is None or claimant.recipe_id == self._host.recipe_id:
            return before
        is_counted = Places(self._partition, claimant).before(1 << number)[number] < before
        return before if is_counted else before + 1

    def first_in_order(self, unknown: int = 0) -> int:
        """Return the number of usable systems, except `unknown` ones, on which no recipe is ahead."""
        excluded, own = set(numbers_in(unknown)), self._host.recipe_id
        excluded.update(number for number, each in self._claimants.items() if each.recipe_id != own)
        return sum(not before for number, before in self._before.items() if number not in excluded)

    def refused(self, number: int, verdict: str) -> Candidate:
        system = self._partition.system(number)
        reasons = [_reason_of(refusal, system) for refusal in of_system(self._refused, number)]
        return self._candidate(system, verdict, reasons)

    def viable(self, number: int) -> Candidate:
        system = self._partition.system(number)
        if reasons := list(self._why_not_usable(system)):
            return self._candidate(system, NOT_NOW, reasons)
        return replace(
            self._candidate(system, *self._why_not_now(system, number)),
            effective_priority=self._partition.effective_priority(self._host, system).name,
            before=self.before(number),
            # A recipe that stands in no line does not end the iteration.
            ahead=tuple(islice(self._ahead(system), min(self.before(number), MAX_AHEAD))),
        )

    def _candidate(self, system: System, verdict: str, reasons: Iterable[str]) -> Candidate:
        return Candidate(system.fqdn, system.lab_controller, verdict, tuple(reasons), self._occupant(system))

    def _occupant(self, system: System) -> Occupant | None:
        if system.recipe_id is not None:
            recipe = self._partition.sets.recipes[system.recipe_id]
            ends_by = KEPT if recipe.state == "reserved" else WATCHDOG
            until = _until(recipe.recorded_deadline, ends_by)
            return Occupant(system.usage, system.since, system.recipe_id, None, *until)
        reservation = system.reservation
        if reservation is None:
            return None
        until = _until(reservation.until, RESERVATION)
        return Occupant(system.usage, reservation.since, None, reservation.user, *until)

    def _why_not_usable(self, system: System) -> Iterator[str]:
        enabled = self._partition.directory.is_enabled(system.lab_controller)
        forced = self._partition.sets.index.key(self._host).forced is not None
        yield from why_not_usable(system, lab_enabled=enabled, forced=forced)
        if self._partition.directory.is_silent(system.lab_controller):
            yield f"{LAB_SILENT}: {system.lab_controller}"
        if self._host.lab_controller not in (None, system.lab_controller):
            yield f"{IN_ANOTHER_LAB}: {self._host.lab_controller}"

    def _why_not_now(self, system: System, number: int) -> tuple[str, tuple[str, ...]]:
        hopeless = is_hopeless(self._partition, self._host.recipe_set_id, system.lab_controller)
        for_its_set = (SET_INCOMPLETE,) if hopeless else ()
        claimed = tuple(self._claimed(number))
        if system.recipe_id is not None:
            return NOT_NOW, (f"{system.usage} with recipe {system.recipe_id}", *claimed, *for_its_set)
        if for_its_set:
            return NOT_NOW, (*for_its_set, *claimed)
        if held := self._partition.sets.admission.held_back.get(self._host.recipe_set_id):
            return NOT_NOW, (held.reason, *claimed)
        if lack := next(lacks(self._partition, self._host), None):
            return NOT_NOW, (lack.reason, *claimed)
        if not is_safe(self._partition, self._host, number):
            return PASSED_OVER, (UNSAFE, *claimed)
        return NOT_NOW, (TO_BE_ASKED, *claimed)

    def _claimed(self, number: int) -> Iterator[str]:
        """Yield the reason that a recipe claims a system, nothing without a claim."""
        claimant = self._claimants.get(number)
        if claimant is not None:
            is_own = claimant.recipe_id == self._host.recipe_id
            yield OWN_CLAIM if is_own else f"{CLAIMED} {claimant.recipe_id}"

    def _ahead(self, system: System) -> Iterator[Ahead]:
        sets = self._partition.sets
        rank = sets.rank(self._host)
        order = (place.rank for _, place in places_with_claimant(self._partition, system))
        for other in takewhile(lambda each: each != rank, order):
            recipe = sets.recipes[other.recipe_id]
            yield Ahead(
                recipe.recipe_id,
                sets.sets[recipe.recipe_set_id].priority.name,
                self._partition.effective_priority(recipe, system).name,
                weight_of(self._partition, recipe),
                why_before(self._partition, self._host, recipe, system),
            )


def _until(until: datetime | None, ends_by: str) -> tuple[datetime | None, str | None]:
    return until, None if until is None else ends_by


def _reason_of(refusal: Refusal, system: System) -> str:
    if refusal.rule == LOAN.name and system.loan is not None:
        return f"{refusal.reason}: {lent_to(system.loan)}"
    return refusal.reason
