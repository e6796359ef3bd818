"""Room: the free capacity under rate limits and the maximum of placed recipes (design 5.4).

A set is charged as a whole from its first system until it holds nothing any more. Sets with equal needs form
a class, which stands in lines of its own: without room for it, its lines are passed over as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from domain.admission.configuration import LimitSection
from domain.admission.job_filters import RATE_LIMITED, JobFilter
from domain.admission.reason_limits import buckets
from domain.recipe_set.state import RecipeSet

JOB_FILTER: Final = "job filter"
BUCKET: Final = "bucket"
PLACED: Final = "placed recipes"

RATE_LIMITED_ROW: Final = "rate-limit"
PLACED_RECIPES: Final = "placed-recipes"
ROWS_BY_KIND: Final = {JOB_FILTER: RATE_LIMITED_ROW, BUCKET: RATE_LIMITED_ROW, PLACED: PLACED_RECIPES}
"""The rows of admission by kind of limit."""


class RoomLimit(NamedTuple):
    """A limit: that of a job filter, of a bucket (`name` is its label), or of placed recipes."""

    kind: str
    name: str
    capacity: int

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.capacity})" if self.name else f"{self.kind} ({self.capacity})"


Needs = tuple[tuple[RoomLimit, int], ...]
"""What a set is charged under each of its limits."""


def _of_placed(max_placed: int) -> RoomLimit:
    return RoomLimit(PLACED, "", max_placed)


UNLIMITED: Final = 0
"""The number of the class of sets without limits."""


@dataclass(slots=True)
class _Class:
    """A class: the needs of each of its sets, the limits without room for them, and the number of sets."""

    needs: Needs
    lacking: tuple[RoomLimit, ...] = ()
    sets: int = 0


class Rooms:
    """The limits of one partition, and the sets that are charged under them. Mutable.

    `charged` has the needs of each set that holds systems or has started, `used` their sums by limit. The
    sets with equal needs are a class with a number; `open` are the classes that have room, in ascending
    order. `version` rises when a class gains or loses room under one of its limits.
    """

    def __init__(self) -> None:
        self.charged: dict[int, Needs] = {}
        self.version = 0
        self._max_placed: int | None = None
        self.used: dict[RoomLimit, int] = {}
        self._numbers: dict[Needs, int] = {(): UNLIMITED}
        self._classes: dict[int, _Class] = {}
        self._last_number = UNLIMITED
        self._open: dict[int, None] = {}
        self._under: dict[RoomLimit, dict[int, None]] = {}

    def configure(self, limits: LimitSection) -> bool:
        """Change the limits; return whether the caller must compute the needs of all sets again.

        Another maximum of placed recipes changes the classes in place, because all sets need room under it.
        """
        before, after = self._max_placed, limits.placed_recipes
        self._max_placed = after
        if before is not None and after is not None and before != after:
            self._replace(_of_placed(before), _of_placed(after))
        return (before is None) != (after is None)

    def _replace(self, before: RoomLimit, limit: RoomLimit) -> None:
        """Replace a limit in all classes and charges by one with another capacity."""

        def replaced(needs: Needs) -> Needs:
            return tuple((limit if each == before else each, count) for each, count in needs)

        self.charged = {number: replaced(needs) for number, needs in self.charged.items()}
        if before in self.used:
            self.used[limit] = self.used.pop(before)
        numbers = self._under.pop(before, {})
        if numbers:
            self._under[limit] = numbers
        for number in numbers:
            each = self._classes[number]
            del self._numbers[each.needs]
            each.needs = replaced(each.needs)
            self._numbers[each.needs] = number
            self._update(number)

    def concern(self, recipe_set: RecipeSet) -> bool:
        """Return whether a limit besides those of job filters applies to a set; for most sets none does."""
        return self._max_placed is not None or bool(recipe_set.submitted.reasons)

    def needs(self, recipe_set: RecipeSet, host_count: int, applying: JobFilter | None) -> Needs:
        """Return the needs of a set under its limits; `applying` is the job filter that applies to it."""
        found: list[tuple[RoomLimit, int]] = []
        if applying is not None and applying.action == RATE_LIMITED:
            assert applying.limit is not None, "a rate limit has a limit"
            found.append((RoomLimit(JOB_FILTER, applying.name, applying.limit), 1))
        if recipe_set.submitted.reasons:
            for limit, label in buckets(recipe_set.submitted.reasons):
                found += [(RoomLimit(BUCKET, label, limit), 1)]
        if self._max_placed is not None:
            found.append((_of_placed(self._max_placed), host_count))
        return tuple(found)

    def join(self, needs: Needs) -> int:
        """Count a set in the class of sets with these needs, and return the number of the class."""
        number = self._numbers.get(needs)
        if number is None:
            number = self._begin(needs)
        self._classes[number].sets += 1
        return number

    def _begin(self, needs: Needs) -> int:
        self._last_number += 1
        number = self._numbers[needs] = self._last_number
        self._classes[number] = _Class(needs)
        for limit, _ in needs:
            self._under.setdefault(limit, {})[number] = None
        self._update(number)
        return number

    def needs_of(self, number: int) -> Needs:
        return () if number == UNLIMITED else self._classes[number].needs

    def leave(self, number: int) -> None:
        """Take a set out of its class, and drop a class without sets."""
        left = self._classes[number]
        left.sets -= 1
        if left.sets:
            return
        del self._classes[number], self._numbers[left.needs]
        self._open.pop(number, None)
        for limit, _ in left.needs:
            under = self._under[limit]
            del under[number]
            if not under:
                del self._under[limit]

    def under(self, limit: RoomLimit) -> Collection[int]:
        """Return the classes that need room under a limit."""
        return self._under.get(limit, ())

    # Charges

    def charge(self, recipe_set_id: int, needs: Needs) -> None:
        """Charge a set, or change its charge."""
        if self.charged.get(recipe_set_id) == needs:
            return
        self.release(recipe_set_id)
        self.charged[recipe_set_id] = needs
        self._use(needs, 1)

    def release(self, recipe_set_id: int) -> None:
        """End the charge of a set, if it is charged."""
        self._use(self.charged.pop(recipe_set_id, ()), -1)

    def _use(self, needs: Needs, step: int) -> None:
        for limit, count in needs:
            used = self.used.get(limit, 0) + step * count
            if used:
                self.used[limit] = used
            else:
                del self.used[limit]
            for number in self._under.get(limit, ()):
                self._update(number)

    def _update(self, number: int) -> None:
        each = self._classes[number]
        lacking = tuple(self.lacking(each.needs))
        if lacking != each.lacking:
            each.lacking = lacking
            self.version += 1
        if lacking:
            self._open.pop(number, None)
        else:
            self._open[number] = None

    # Questions

    def free(self, limit: RoomLimit) -> int:
        """Return the room under a limit; below 0 if the limit came later."""
        return limit.capacity - self.used.get(limit, 0)

    def has_room(self, needs: Needs) -> bool:
        return all(self.free(limit) >= count for limit, count in needs)

    def lacking(self, needs: Needs) -> Iterator[RoomLimit]:
        """Yield the limits under which these needs have no room."""
        return (limit for limit, count in needs if self.free(limit) < count)

    def closed(self) -> Iterator[tuple[int, RoomLimit]]:
        """Yield the classes without room, each with the first limit under which it has none."""
        for number, each in self._classes.items():
            if each.lacking:
                yield number, each.lacking[0]

    @property
    def open(self) -> Collection[int]:
        """Return the classes with room, without that of unlimited sets."""
        return sorted(self._open) if self._open else ()
