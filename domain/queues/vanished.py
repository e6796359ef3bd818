"""Queues that a later configuration no longer names: they take no new jobs, and keep their last properties.

They are listed in the document of their partition, in the order in which they vanished, as
{"path": PATH, ...properties}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from domain.intake_states import DRAINING
from domain.queues.document import MAX_QUEUES, queue_from_json
from domain.queues.tree import DEFAULT_QUEUE, FIFO, ROOT, Queue

# The list must not grow for ever. Jobs in a queue that vanished longer ago lose its maxima.
MAX_VANISHED: Final = MAX_QUEUES

Document = Mapping[str, Any]


def vanished_after(vanished: list[Document], before: Document, after: Document) -> list[Document]:
    """Return the vanished queues after a section `queues` replaced another one, both in canonical form."""
    named = {path for path, _ in _queues(after, ROOT)} | {ROOT, DEFAULT_QUEUE}
    gone = {each["path"]: each for each in vanished}
    gone |= {path: {"path": path, **properties} for path, properties in _queues(before, ROOT)}
    return [each for path, each in gone.items() if path not in named][-MAX_VANISHED:]


def _queues(document: Document, path: str) -> Iterator[tuple[str, Document]]:
    """Yield each queue with its own properties."""
    yield path, {field: value for field, value in document.items() if field not in ("name", "queues")}
    for child in document.get("queues", ()):
        yield from _queues(child, f"{path}.{child['name']}")


def vanished_queue(document: Document) -> Queue:
    """Return a queue of the list, which is `fifo`: else a tree would not return to one line (decision 34)."""
    properties = {field: value for field, value in document.items() if field not in ("path", "order")}
    queue = queue_from_json(document["path"], properties)
    template = queue.template and queue.template._replace(order=FIFO)
    return queue._replace(state=DRAINING, template=template)
