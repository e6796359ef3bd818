"""The limits under which sets and jobs are charged, and their kinds (design 5.4, 6.2)."""

from __future__ import annotations

from typing import Final, NamedTuple

from domain.queues.limits import QueueMaximum

JOB_FILTER: Final = "job filter"
BUCKET: Final = "bucket"
PLACED: Final = "placed recipes"
QUEUE: Final = "queue"
QUEUE_JOBS: Final = "jobs of queue"

COUNTING_HOSTS: Final = (PLACED, QUEUE)
"""The kinds of limits that count the hosts of a set. All others count a set or job once."""

RATE_LIMITED_ROW: Final = "rate-limit"
PLACED_RECIPES: Final = "placed-recipes"
QUEUE_ROW: Final = "queue"
ROWS_BY_KIND: Final = {
    JOB_FILTER: RATE_LIMITED_ROW,
    BUCKET: RATE_LIMITED_ROW,
    PLACED: PLACED_RECIPES,
    QUEUE: QUEUE_ROW,
    QUEUE_JOBS: QUEUE_ROW,
}
"""The rows of admission by kind of limit."""


class RoomLimit(NamedTuple):
    """A limit: of a job filter, a bucket (`name` is its label), placed recipes, or a maximum of a queue."""

    kind: str
    name: str
    capacity: int

    def __str__(self) -> str:
        if self.kind in (QUEUE, QUEUE_JOBS):
            return self.name
        return f"{self.kind} {self.name} ({self.capacity})" if self.name else f"{self.kind} ({self.capacity})"


Needs = tuple[tuple[RoomLimit, int], ...]
"""The charges of a set, or of its job, under each of its limits."""


class SetNeeds(NamedTuple):
    """The needs of a set, and those of its job under maxima of jobs, which are charged once for all sets."""

    of_set: Needs = ()
    of_job: Needs = ()


NO_NEEDS: Final = SetNeeds()


def of_placed(max_placed: int) -> RoomLimit:
    return RoomLimit(PLACED, "", max_placed)


def of_queue(kind: str, maximum: QueueMaximum) -> RoomLimit:
    return RoomLimit(kind, str(maximum), maximum.capacity)
