"""The conservation law of usage for queues (design 6), over the read models, as of a moment."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

from domain.partition_numbers import DEFAULT_NUMBER
from domain.queues.tree import parent_of, paths_upward
from domain.scheduling.world.conservation import USAGE
from projections.queue_usage import QueueUsage
from projections.sql import ANY_DOCUMENT, QUERIES

Row = dict[str, Any]
Session = psycopg.Connection[Row]


def misused_queues(session: Session, params: Mapping[str, Any]) -> Iterator[Row]:
    """Yield a violation for each queue that is shown with another usage than its recipes say.

    Its used systems are those that its own recipes hold and those of the queues below it. `params` are the
    position `at` and the states `placed`.
    """
    held: dict[int, Counter[str]] = defaultdict(Counter)
    for row in session.execute(QUERIES["held_by_queues"], params):
        held[row["partition"]][row["queue"]] = row["held"]
    for number in sorted({*_partitions(session, params), *held}):
        usage = QueueUsage()
        for row in session.execute(QUERIES["usage_of_queues"], {**params, "partition": number}):
            usage.add(row["queue"], row)
        yield from _misused(number, usage, held[number])


def _partitions(session: Session, params: Mapping[str, Any]) -> Iterator[int]:
    yield DEFAULT_NUMBER
    whole = {**params, "kind": "partition", "after": "", "limit": None, **ANY_DOCUMENT}
    rows = session.execute(QUERIES["documents"], whole)
    yield from (row["document"].get("number", DEFAULT_NUMBER) for row in rows)


def _misused(partition: int, usage: QueueUsage, held: Mapping[str, int]) -> Iterator[Row]:
    below = Counter[str]()
    for path in usage.by_path:
        below[parent_of(path)] += usage.of(path)["used"]
    for path in sorted({*usage.by_path, *(above for queue in held for above in paths_upward(queue))}):
        used, own = usage.of(path)["used"], held.get(path, 0)
        if used != own + below[path]:
            what = (
                f"{used} systems are used, but its recipes hold {own}, and the queues below use {below[path]}"
            )
            yield {"law": USAGE, "subject": f"queue/{path}", "what": f"in partition {partition}, {what}"}
