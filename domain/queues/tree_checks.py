"""Checks of a queue tree as a whole: numbers against those of queues above."""

from __future__ import annotations

from typing import NamedTuple

from domain.queues.tree import Queue
from domain.requirements.findings import Path, Report


def check_tree(root: Queue, path: Path, report: Report) -> None:
    """Report each number that contradicts another one."""
    _require_within(root, None, path, report)


class _Maximum(NamedTuple):
    """The lowest maximum of the queues above, and the path of its queue."""

    systems: int
    path: str


def _require_within(queue: Queue, above: _Maximum | None, path: Path, report: Report) -> int:
    """Report a max or guarantee that exceeds that of a queue above, and return the guarantee of the queue.

    A queue without a guarantee of its own guarantees what the queues below it have together.
    """
    if queue.max is not None and above is not None and queue.max > above.systems:
        report((*path, "max"), f"must be at most the max of {above.path}, {above.systems}")
    own = above if queue.max is None else _Maximum(queue.max, queue.path)
    if own is not None and (queue.guaranteed or 0) > own.systems:
        report((*path, "guaranteed"), f"must be at most the max of {own.path}, {own.systems}")
    if queue.template is not None:
        template = Queue("the template", *queue.template[:2])
        _require_within(template, own, (*path, "template"), report)
    guaranteed = sum(
        _require_within(child, own, (*path, "queues", index), report)
        for index, child in enumerate(queue.children)
    )
    if queue.guaranteed is not None and guaranteed > queue.guaranteed:
        reason = "the guaranteed systems of the queues below together"
        report((*path, "guaranteed"), f"must be at least {guaranteed}, {reason}")
    return guaranteed if queue.guaranteed is None else queue.guaranteed
