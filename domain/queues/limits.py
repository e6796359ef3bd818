"""The maxima under which a recipe set is charged: those of its queue and of all queues above (design 6.2).

A maximum of systems counts the hosts of a set. A maximum of jobs counts a job once, while one of its sets is
charged. Limits of users apply to the owner of a job, limits of groups to the group of the job. Owner and
group are facts of the submission, so charges change only with the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from domain.queues.tree import EACH, GROUP, ROOT, USER, Queue, QueueLimit, QueueTree

SYSTEMS: Final = "systems"
JOBS: Final = "jobs"


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
