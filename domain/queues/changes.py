"""The queues that a new configuration adds, changes and drains."""

from __future__ import annotations

from typing import NamedTuple

from domain.queues.tree import Queue, QueueTree


class QueueChanges(NamedTuple):
    """The paths of queues that are new, that have other properties, and that are no longer named."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    drained: tuple[str, ...] = ()


def queue_changes(before: QueueTree, after: QueueTree) -> QueueChanges:
    """Return the changes from a tree to another, each in the order of its tree."""
    old, new = before.by_path, after.by_path
    return QueueChanges(
        tuple(path for path in new if path not in old),
        tuple(path for path in new if path in old and _alone(old[path]) != _alone(new[path])),
        tuple(path for path in old if path not in new),
    )


def _alone(queue: Queue) -> Queue:
    return queue._replace(children=())
