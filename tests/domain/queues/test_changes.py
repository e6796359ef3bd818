"""The queues that a new configuration adds, changes and drains."""

from __future__ import annotations

from domain.queues.changes import QueueChanges, queue_changes
from domain.queues.tree import WITHOUT_CONFIGURATION, Queue, QueueTree


def tree(*children: Queue, max_jobs: int | None = None) -> QueueTree:
    return QueueTree(Queue("root", max_jobs=max_jobs, children=children))


def test_changes__of_every_kind__each_queue_counts_by_itself() -> None:
    before = tree(Queue("root.a", max=3, children=(Queue("root.a.b"), Queue("root.a.c"))), Queue("root.d"))
    after = tree(Queue("root.a", max=3, children=(Queue("root.a.b", max=1),)), Queue("root.e"), max_jobs=2)
    assert queue_changes(before, after) == QueueChanges(
        added=("root.e",), changed=("root", "root.a.b"), drained=("root.a.c", "root.d")
    )


def test_changes__of_equal_trees__are_none() -> None:
    assert queue_changes(WITHOUT_CONFIGURATION, WITHOUT_CONFIGURATION) == QueueChanges()
