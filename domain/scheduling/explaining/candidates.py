"""What each system is to a recipe that waits: who has it, who comes first there, why it is passed over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from domain.priority import Priority
from domain.recipe.state import Recipe
from domain.scheduling.bitmaps import numbers_in
from domain.scheduling.explaining.places import Places, why_before
from domain.scheduling.explaining.refusals import Refusal, of_system
from domain.scheduling.granting import is_safe
from domain.scheduling.partition import Partition
from domain.scheduling.question import in_order
from domain.scheduling.reasons import ITS_SET_IS_IN_LAB, OTHER_LAB, SET_INCOMPLETE, TO_BE_ASKED, UNSAFE
from domain.scheduling.wanted import hopeless
from domain.system.state import System
from domain.system.usage import why_closed

NEVER: Final = "never"
NOT_ALLOWED: Final = "not allowed"
NOT_NOW: Final = "not now"
PASSED_OVER: Final = "passed over"

MOST_AHEAD: Final = 3


@dataclass(frozen=True)
class Holder:
    """Who has a system: a recipe, or a person who has reserved it; since which log position."""

    usage: str
    since: int
    recipe_id: int | None = None
    user: str | None = None


@dataclass(frozen=True)
class Ahead:
    """A recipe that the system asks before, and by what."""

    recipe_id: int
    priority: str
    effective_priority: str
    by: str


@dataclass(frozen=True)
class Candidate:
    """`verdict` is never, not allowed, not now or passed over, `reasons` all that there are for it.

    `before` counts the recipes that the system asks before this one, of which `ahead` are the first; both are
    for systems that could be asked, now or when they come free.
    """

    fqdn: str
    lab_controller: str
    verdict: str
    reasons: tuple[str, ...]
    holder: Holder | None = None
    effective_priority: str | None = None
    before: int | None = None
    ahead: tuple[Ahead, ...] = ()


class Candidates:
    """Of one recipe without a system, while nothing changes."""

    def __init__(self, partition: Partition, host: Recipe, refused: tuple[Refusal, ...]) -> None:
        self._partition = partition
        self._host = host
        self._refused = refused
        self._places = Places(partition, host)
        self._forced = partition.sets.key(host).forced is not None

    def in_order(self, numbers: int) -> list[int]:
        """Of viable systems: first those that stand idle, then where the fewest come before it, by name."""
        usable = self._partition.usable(self._host)
        idle = self._partition.available.idle(forced=True)
        names = self._partition.labs.names

        def place(number: int) -> tuple[bool, bool, int, str]:
            is_usable = bool(usable >> number & 1)
            before = self._places.before(number) if is_usable else 0
            return not is_usable, not idle >> number & 1, before, names[number]

        return sorted(numbers_in(numbers), key=place)

    def first_on(self, numbers: Iterable[int]) -> int:
        """How many of these systems, which are usable, ask nobody before it."""
        return sum(not self._places.before(number) for number in numbers)

    def refused(self, number: int, verdict: str) -> Candidate:
        """A system that some rule refuses."""
        system = self._partition.system(number)
        reasons = [refusal.says for refusal in of_system(self._refused, number)]
        if system.loan is not None and verdict == NOT_NOW:
            reasons.append(f"on loan to {system.loan.user}")
        return Candidate(system.fqdn, system.lab_controller, verdict, tuple(reasons), _holder(system))

    def viable(self, number: int) -> Candidate:
        """A system that could run it."""
        system = self._partition.system(number)
        reasons = tuple(self._why_not_usable(system, number))
        if reasons:
            return Candidate(system.fqdn, system.lab_controller, NOT_NOW, reasons, _holder(system))
        verdict, reasons = self._why_not_now(system, number)
        return Candidate(
            system.fqdn,
            system.lab_controller,
            verdict,
            reasons,
            _holder(system),
            Priority(self._places.effective_priority(number)).name,
            self._places.before(number),
            tuple(islice(self._ahead(system, number), MOST_AHEAD)),
        )

    def _why_not_usable(self, system: System, number: int) -> Iterator[str]:
        enabled = self._partition.directory.is_enabled(system.lab_controller)
        yield from why_closed(system, lab_enabled=enabled, forced=self._forced)
        if self._host.lab_controller not in (None, system.lab_controller):
            yield f"{OTHER_LAB}: {self._host.lab_controller}"

    def _why_not_now(self, system: System, number: int) -> tuple[str, tuple[str, ...]]:
        if system.recipe_id is not None:
            return NOT_NOW, (f"{system.usage} with recipe {system.recipe_id}",)
        if hopeless(self._partition, self._host.recipe_set_id, system.lab_controller):
            return NOT_NOW, (SET_INCOMPLETE,)
        if not is_safe(self._partition, self._host, number):
            return PASSED_OVER, (UNSAFE,)
        return NOT_NOW, (TO_BE_ASKED,)

    def _ahead(self, system: System, number: int) -> Iterator[Ahead]:
        partition, sets = self._partition, self._partition.sets
        rank, mine = sets.rank(self._host), self._places.effective_priority(number)
        for other in in_order(partition, system):
            if other == rank:
                return
            recipe = sets.recipes[other[-1]]
            theirs = Places(partition, recipe).effective_priority(number)
            in_lab = recipe.state == "assigned" and self._host.state != "assigned"
            by = ITS_SET_IS_IN_LAB if in_lab else why_before(rank, other, mine, theirs)
            yield Ahead(recipe.recipe_id, Priority(-other[0]).name, Priority(theirs).name, by)


def _holder(system: System) -> Holder | None:
    if system.recipe_id is not None:
        return Holder(system.usage, system.since, recipe_id=system.recipe_id)
    if system.reservation is not None:
        return Holder(system.usage, system.reservation.since, user=system.reservation.user)
    return None
