"""Room: the free capacity under rate limits, and maxima of placed recipes and queues (design 5.4, 6.2).

A set is charged as a whole from its first system until it holds nothing any more. Its job is charged under
maxima of jobs while some of its sets are. Sets with equal needs form a class, which stands in lines of its
own: without room for it, its lines are passed over as a whole. While queues have turns, the sets of a class
are of one queue.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from domain.admission.configuration import LimitSection
from domain.admission.job_filters import RATE_LIMITED, JobFilter
from domain.admission.reason_limits import buckets
from domain.queues.limits import JOBS, maxima_of
from domain.queues.tree import WITHOUT_CONFIGURATION, QueueTree
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.room_limits import (
    BUCKET,
    JOB_FILTER,
    QUEUE,
    QUEUE_JOBS,
    Needs,
    RoomLimit,
    SetNeeds,
    of_placed,
    of_queue,
)

_NO_MAXIMA: Final = ((), ())

UNLIMITED: Final = 0
"""The number of the class of sets without limits."""


@dataclass(slots=True)
class _Class:
    """A class: the needs of each of its sets, the limits without room for them, and the number of sets.

    `queue` is the queue of the sets, empty if the recipes of all queues stand in one line.
    """

    needs: Needs
    queue: str
    lacking: tuple[RoomLimit, ...] = ()
    sets: int = 0


MaximaKey = tuple[str, str, str | None]
"""The queue, the owner and the group of a job, which determine its maxima in queues."""

_NeedsKey = tuple[MaximaKey, int, RoomLimit | None]
"""What determines the needs of a set without reasons: also its number of hosts, and its rate limit."""


class Rooms:
    """The limits of one partition, and the sets that are charged under them. Mutable.

    `charged` has the needs of each set that holds systems or has started, `charged_jobs` those of their jobs,
    `used` the sums by limit. The sets with equal needs are a class with a number; `open` are the classes that
    have room, in ascending order. `version` rises when a class
    gains or loses room under one of its limits.
    """

    def __init__(self) -> None:
        self.charged: dict[int, Needs] = {}
        self.charged_jobs: dict[int, Needs] = {}
        self.version = 0
        self._max_placed: int | None = None
        self._tree: QueueTree = WITHOUT_CONFIGURATION
        # Results for sets without reasons, and for queues, until the limits change.
        self._needs: dict[_NeedsKey, SetNeeds] = {}
        self._maxima: dict[MaximaKey, tuple[tuple[RoomLimit, ...], Needs]] = {}
        self.used: dict[RoomLimit, int] = {}
        self._numbers: dict[tuple[Needs, str], int] = {}
        self._classes: dict[int, _Class] = {}
        self._last_number = UNLIMITED
        self._closed_count = 0
        self._open: dict[str, dict[int, None]] = {}
        # The classes that need room under a limit, by the number that they need.
        self._under: dict[RoomLimit, dict[int, dict[int, None]]] = {}

    def configure(self, limits: LimitSection, tree: QueueTree) -> bool:
        """Change the limits; return whether the caller must compute the needs of all sets again.

        Another maximum of placed recipes changes the classes in place, because all sets need room under it.
        """
        before, after = self._max_placed, limits.placed_recipes
        had_maxima, is_same_tree = self._tree.has_maxima, tree == self._tree
        self._max_placed, self._tree = after, tree
        self._needs.clear()
        self._maxima.clear()
        if before is not None and after is not None and before != after:
            self._replace(of_placed(before), of_placed(after))
        is_changed = not is_same_tree and (had_maxima or tree.has_maxima)
        return is_changed or (before is None) != (after is None)

    @property
    def may_keep_room(self) -> bool:
        """Return whether some limit counts hosts, so that its room may be kept for a larger set."""
        return self._max_placed is not None or self._tree.has_maxima_of_systems

    def _replace(self, before: RoomLimit, limit: RoomLimit) -> None:
        """Replace a limit in all classes and charges by one with another capacity."""

        def replaced(needs: Needs) -> Needs:
            return tuple((limit if each == before else each, count) for each, count in needs)

        self.charged = {number: replaced(needs) for number, needs in self.charged.items()}
        if before in self.used:
            self.used[limit] = self.used.pop(before)
        under = self._under.pop(before, {})
        if under:
            self._under[limit] = under
        for number in chain.from_iterable(under.values()):
            each = self._classes[number]
            del self._numbers[each.needs, each.queue]
            each.needs = replaced(each.needs)
            self._numbers[each.needs, each.queue] = number
            self._update(number)

    def concern(self, recipe_set: RecipeSet) -> bool:
        """Return whether a limit besides those of job filters applies to a set; for most sets none does."""
        if self._max_placed is not None or recipe_set.submitted.reasons:
            return True
        return self._tree.has_maxima and self._maxima_of(recipe_set) != _NO_MAXIMA

    def needs(self, recipe_set: RecipeSet, host_count: int, applying: JobFilter | None) -> SetNeeds:
        """Return the needs of a set under its limits; `applying` is the job filter that applies to it."""
        rate_limit = None
        if applying is not None and applying.action == RATE_LIMITED:
            assert applying.limit is not None, "a rate limit has a limit"
            rate_limit = RoomLimit(JOB_FILTER, applying.name, applying.limit)
        facts = recipe_set.submitted
        if facts.reasons:
            return self._computed_needs(recipe_set, host_count, rate_limit)
        key = (facts.queue, facts.owner, facts.group), host_count, rate_limit
        found = self._needs.get(key)
        if found is None:
            found = self._needs[key] = self._computed_needs(recipe_set, host_count, rate_limit)
        return found

    def _computed_needs(
        self, recipe_set: RecipeSet, host_count: int, rate_limit: RoomLimit | None
    ) -> SetNeeds:
        found: list[tuple[RoomLimit, int]] = []
        if rate_limit is not None:
            found.append((rate_limit, 1))
        if recipe_set.submitted.reasons:
            for limit, label in buckets(recipe_set.submitted.reasons):
                found += [(RoomLimit(BUCKET, label, limit), 1)]
        if self._max_placed is not None:
            found.append((of_placed(self._max_placed), host_count))
        if not self._tree.has_maxima:
            return SetNeeds(tuple(found))
        of_systems, of_jobs = self._maxima_of(recipe_set)
        found += ((limit, host_count) for limit in of_systems)
        return SetNeeds(tuple(found), of_jobs)

    def _maxima_of(self, recipe_set: RecipeSet) -> tuple[tuple[RoomLimit, ...], Needs]:
        """Return the maxima of systems in the queues of a set, and the needs of its job."""
        facts = recipe_set.submitted
        key = facts.queue, facts.owner, facts.group
        found = self._maxima.get(key)
        if found is None:
            maxima = maxima_of(self._tree, *key)
            of_systems = tuple(of_queue(QUEUE, each) for each in maxima if each.unit != JOBS)
            of_jobs = tuple((of_queue(QUEUE_JOBS, each), 1) for each in maxima if each.unit == JOBS)
            found = self._maxima[key] = of_systems, of_jobs
        return found

    def join(self, needs: Needs, queue: str = "") -> int:
        """Count a set of a queue in the class of sets with its needs, and return the number of the class."""
        number = self._numbers.get((needs, queue))
        if number is None:
            number = self._begin(needs, queue)
        self._classes[number].sets += 1
        return number

    def _begin(self, needs: Needs, queue: str) -> int:
        self._last_number += 1
        number = self._numbers[needs, queue] = self._last_number
        self._classes[number] = _Class(needs, queue)
        for limit, count in needs:
            self._under.setdefault(limit, {}).setdefault(count, {})[number] = None
        self._update(number)
        return number

    def needs_of(self, number: int) -> Needs:
        return () if number == UNLIMITED else self._classes[number].needs

    def key_of(self, number: int) -> tuple[Needs, str]:
        """Return the needs and the queue of a class."""
        each = self._classes[number]
        return each.needs, each.queue

    def queue_of(self, number: int) -> str:
        return self._classes[number].queue

    def leave(self, number: int) -> None:
        """Take a set out of its class, and drop a class without sets."""
        left = self._classes[number]
        left.sets -= 1
        if left.sets:
            return
        self._closed_count -= bool(left.lacking)
        del self._classes[number], self._numbers[left.needs, left.queue]
        self._close(number, left.queue)
        for limit, count in left.needs:
            under = self._under[limit]
            del under[count][number]
            if not under[count]:
                del under[count]
            if not under:
                del self._under[limit]

    def under(self, limit: RoomLimit, more_than: int) -> Iterator[int]:
        """Yield the classes that need more room under a limit than `more_than`."""
        for count, numbers in self._under.get(limit, {}).items():
            if count > more_than:
                yield from numbers

    # Charges

    def charge(self, recipe_set_id: int, needs: Needs) -> None:
        """Charge a set, or change its charge."""
        self._charge(self.charged, recipe_set_id, needs)

    def charge_job(self, job_id: int, needs: Needs) -> None:
        """Charge a job, or change its charge."""
        self._charge(self.charged_jobs, job_id, needs)

    def _charge(self, charged: dict[int, Needs], number: int, needs: Needs) -> None:
        before = charged.get(number)
        if before != needs:
            charged[number] = needs
            self._use(before or (), needs)

    def release(self, recipe_set_id: int) -> None:
        """End the charge of a set, if it is charged."""
        self._use(self.charged.pop(recipe_set_id, ()), ())

    def release_job(self, job_id: int) -> None:
        """End the charge of a job, if it is charged."""
        self._use(self.charged_jobs.pop(job_id, ()), ())

    def _use(self, released: Needs, charged: Needs) -> None:
        steps = dict(charged)
        for limit, count in released:
            steps[limit] = steps.get(limit, 0) - count
        for limit, step in steps.items():
            if not step:
                continue
            before = self.used.get(limit, 0)
            used = before + step
            if used:
                self.used[limit] = used
            else:
                del self.used[limit]
            # Only classes whose needs lie between the former and the new free room gain or lose room.
            lower, upper = sorted((limit.capacity - before, limit.capacity - used))
            for needed, numbers in self._under.get(limit, {}).items():
                if lower < needed <= upper:
                    for number in numbers:
                        self._update(number)

    def _update(self, number: int) -> None:
        each = self._classes[number]
        lacking = tuple(self.lacking(each.needs))
        if lacking != each.lacking:
            self._closed_count += bool(lacking) - bool(each.lacking)
            each.lacking = lacking
            self.version += 1
        if lacking:
            self._close(number, each.queue)
        else:
            self._open.setdefault(each.queue, {})[number] = None

    def _close(self, number: int, queue: str) -> None:
        of_queue = self._open.get(queue, {})
        of_queue.pop(number, None)
        if not of_queue:
            self._open.pop(queue, None)

    # Questions

    def free(self, limit: RoomLimit) -> int:
        """Return the room under a limit; below 0 if the limit came later."""
        return limit.capacity - self.used.get(limit, 0)

    def has_room(self, needs: Needs) -> bool:
        return all(self.free(limit) >= count for limit, count in needs)

    def lacking(self, needs: Needs) -> Iterator[RoomLimit]:
        """Yield the limits under which these needs have no room."""
        return (limit for limit, count in needs if self.free(limit) < count)

    @property
    def has_closed(self) -> bool:
        """Return whether some class has no room."""
        return self._closed_count > 0

    def closed(self) -> Iterator[tuple[int, RoomLimit]]:
        """Yield the classes without room, each with the first limit under which it has none."""
        for number, each in self._classes.items():
            if each.lacking:
                yield number, each.lacking[0]

    def open(self, queue: str = "") -> Collection[int]:
        """Return the classes with room, of one queue if given, without that of unlimited sets."""
        if not self._open:
            return ()
        return sorted(self._open.get(queue, ()) if queue else chain.from_iterable(self._open.values()))
