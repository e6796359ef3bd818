"""The limits that a recipe set counts under: those of its queue and of the queues above (design 6.2).

Each limit has a capacity in systems or in jobs. A set counts with the number of its hosts under the first,
and its job counts once under the second while something of it is placed. Entries for users and groups are for
the owner of the job, and for the group that the job is for: both are facts of the submission, so what is
charged changes with the configuration alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from domain.queues.tree import EACH, ROOT, QueueLimit, QueueTree

SYSTEMS: Final = "systems"
JOBS: Final = "jobs"

USER: Final = "user"
GROUP: Final = "group"


class QueueRoom(NamedTuple):
    """A limit of a queue, by its path, in systems or jobs; for one user or group if `whose` is not empty."""

    path: str
    unit: str
    whose: str
    capacity: int

    def __str__(self) -> str:
        of = f" for {self.whose}" if self.whose else ""
        return f"{self.capacity} {self.unit} in queue {self.path}{of}"


def limits_of(tree: QueueTree, path: str, owner: str, group: str | None) -> list[QueueRoom]:
    """Return the limits for a job in a queue, from the leaf up to the root.

    A dynamic queue has the numbers of the template of its parent.
    """
    return [limit for queue in _upward(path) for limit in _of_queue(tree, queue, owner, group)]


def too_small_for(tree: QueueTree, path: str, host_count: int) -> list[QueueRoom]:
    """Return the maxima of systems on the way up that are less than a set needs; it could never start."""
    maxima = (limit for queue in _upward(path) for limit in _maxima(tree, queue))
    return [limit for limit in maxima if limit.unit == SYSTEMS and limit.capacity < host_count]


def _of_queue(tree: QueueTree, path: str, owner: str, group: str | None) -> Iterator[QueueRoom]:
    yield from _maxima(tree, path)
    queue = tree.by_path.get(path)
    entries = () if queue is None else queue.limits
    for kind, name in ((USER, owner), (GROUP, group)):
        entry = None if name is None else _entry(entries, kind, name)
        if entry is not None:
            whose = f"{kind} {name}"
            if entry.max is not None:
                yield QueueRoom(path, SYSTEMS, whose, entry.max)
            if entry.max_jobs is not None:
                yield QueueRoom(path, JOBS, whose, entry.max_jobs)


def _maxima(tree: QueueTree, path: str) -> Iterator[QueueRoom]:
    queue = tree.by_path.get(path)
    properties = tree.by_path[path.rpartition(".")[0]].template if queue is None else queue
    assert properties is not None, f"{path} is a queue, or below one with a template"
    if properties.max is not None and path != ROOT:
        yield QueueRoom(path, SYSTEMS, "", properties.max)
    if properties.max_jobs is not None:
        yield QueueRoom(path, JOBS, "", properties.max_jobs)


def _entry(entries: tuple[QueueLimit, ...], kind: str, name: str) -> QueueLimit | None:
    """Return the entry for a user or group: its own, otherwise the one for each."""
    by_name = {entry.name: entry for entry in entries if entry.kind == kind}
    return by_name.get(name, by_name.get(EACH))


def _upward(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]
