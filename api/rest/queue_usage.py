"""The queues of a partition with their usage, as of a read (design 6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.rest.partitions import lab_partitions
from api.rest.ports import ReadParts
from domain.directory.partition_queues import queue_tree_of
from domain.directory.partitions import Document, configuration_of
from domain.intake_states import DRAINING
from domain.partition_numbers import DEFAULT_NUMBER
from domain.queues.tree import ROOT, Queue, QueueTree, parent_of
from projections.queue_usage import QueueUsage
from projections.reader import At


async def queues_at(parts: ReadParts, at: At, document: Document) -> list[dict[str, Any]]:
    """Return the queues of a partition with this document, in the order of the tree, parents first.

    Vanished and dynamic queues are included while their recipes wait or hold systems.
    """
    number = document.get("number", DEFAULT_NUMBER)
    labs = await lab_partitions(parts, at)
    counted, (of_lab,) = await parts.reader.together(
        ("usage_of_queues", {"at": at.position, "partition": number}),
        ("count_systems", {"at": at.position, **labs.labs_of(number)}),
    )
    usage = QueueUsage()
    for row in counted:
        usage.add(row["queue"], row)
    tree = queue_tree_of(configuration_of(document), document)
    root = tree.root._replace(max=of_lab["systems"])
    return [_shown(root if queue.path == ROOT else queue, tree, usage) for queue in _all(tree, usage)]


def _all(tree: QueueTree, usage: QueueUsage) -> Iterator[Queue]:
    """Yield the queues of the configuration, then those that only have jobs."""
    yield from tree.by_path.values()
    for path in sorted(usage.by_path):
        if path not in tree.by_path:
            found = tree.find(path) or Queue(path)
            yield found if tree.takes_dynamic(parent_of(path)) else found._replace(state=DRAINING)


def _shown(queue: Queue, tree: QueueTree, usage: QueueUsage) -> dict[str, Any]:
    counts = usage.of(queue.path)
    return {
        "path": queue.path,
        "state": queue.state,
        "is_dynamic": queue.path not in tree.by_path and tree.takes_dynamic(parent_of(queue.path)),
        "max": queue.max,
        "guaranteed": queue.guaranteed,
        "max_jobs": queue.max_jobs,
        "order": queue.order,
        # A queue without a guarantee counts as one with 1.
        "share": round(counts["used"] / (queue.guaranteed or 1), 3),
        **counts,
    }
