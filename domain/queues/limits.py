"""The limits that a recipe set counts under: those of its queue and of the queues above (design 6.2).

Each limit has a capacity in systems or in jobs. A set counts with the number of its hosts under the first,
and its job counts once under the second while something of it is placed. Limits of users are for the owner of
the job, those of groups for the group that the job is for: both are facts of the submission, so charges
change with the configuration alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from domain.queues.tree import EACH, ROOT, Queue, QueueLimit, QueueTree

SYSTEMS: Final = "systems"
JOBS: Final = "jobs"

USER: Final = "user"
GROUP: Final = "group"


class QueueMaximum(NamedTuple):
    """A maximum of systems or jobs in a queue, by its path; of one user or group if `whose` is not empty."""

    path: str
    unit: str
    whose: str
    capacity: int

    def __str__(self) -> str:
        of = f" of {self.whose}" if self.whose else ""
        return f"max {self.capacity} {self.unit}{of} in queue {self.path}"


def maxima_of(tree: QueueTree, path: str, owner: str, group: str | None) -> list[QueueMaximum]:
    """Return the maxima for a job in a queue, from the leaf up to the root."""
    return [maximum for queue in tree.upward(path) for maximum in _of_queue(queue, owner, group)]


def too_small_for(
    tree: QueueTree, path: str, owner: str, group: str | None, host_count: int
) -> list[QueueMaximum]:
    """Return the maxima that are less than the number of hosts of a set, which could never start."""
    maxima = maxima_of(tree, path, owner, group)
    return [maximum for maximum in maxima if maximum.unit == SYSTEMS and maximum.capacity < host_count]


def _of_queue(queue: Queue, owner: str, group: str | None) -> Iterator[QueueMaximum]:
    # The max of root is the number of its systems, so it limits nothing.
    if queue.max is not None and queue.path != ROOT:
        yield QueueMaximum(queue.path, SYSTEMS, "", queue.max)
    if queue.max_jobs is not None:
        yield QueueMaximum(queue.path, JOBS, "", queue.max_jobs)
    for kind, name in ((USER, owner), (GROUP, group)):
        limit = None if name is None else _limit_for(queue.limits, kind, name)
        if limit is not None:
            whose = f"{kind} {name}"
            if limit.max is not None:
                yield QueueMaximum(queue.path, SYSTEMS, whose, limit.max)
            if limit.max_jobs is not None:
                yield QueueMaximum(queue.path, JOBS, whose, limit.max_jobs)


def _limit_for(limits: tuple[QueueLimit, ...], kind: str, name: str) -> QueueLimit | None:
    """Return the limit of a user or group, or the limit of each if it has none of its own."""
    by_name = {limit.name: limit for limit in limits if limit.kind == kind}
    return by_name.get(name, by_name.get(EACH))
