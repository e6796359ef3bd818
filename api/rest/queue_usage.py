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
from domain.queues.document import grantees_to_json, limit_to_json, template_to_json
from domain.queues.tree import ROOT, Queue, QueueTree, parent_of, paths_upward
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
    """Yield the queues, each before those below it; those that only have jobs come behind their siblings."""
    numbers = {path: number for number, path in enumerate(tree.by_path)}

    def place(path: str) -> list[tuple[int, str]]:
        return [(numbers.get(each, len(numbers)), each) for each in paths_upward(path)][::-1]

    for path in sorted({*tree.by_path, *usage.by_path}, key=place):
        found = tree.find(path) or Queue(path)
        is_there = path in tree.by_path or tree.takes_dynamic(parent_of(path))
        yield found if is_there else found._replace(state=DRAINING)


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
        "priority_offset": queue.priority_offset,
        "fence": queue.fence,
        "limits": [limit_to_json(limit) for limit in queue.limits],
        "submit": grantees_to_json(queue.submit),
        "admin": grantees_to_json(queue.admin),
        "template": None if queue.template is None else template_to_json(queue.template),
        # A queue without a guarantee counts as one with 1.
        "share": round(counts["used"] / (queue.guaranteed or 1), 3),
        **counts,
    }
