"""One check of the log, as a process: `python -m workers.verification.child NAME END`.

The hash seed of a process is fixed at its start, so each seed needs a process of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing

from domain.directory.events import PartitionCreated
from domain.events import split_subject
from domain.partition_numbers import PartitionIdentity
from runtime.processes.child import Channel, run_child
from runtime.processes.garbage_collection import gc_paused
from store.event_log import EventLog
from store.mapper import StoredRow
from store.selection import Selection
from store.tailer import Tailer
from workers.verification.checks import AuditCheck, RecomputationCheck
from workers.verification.verify import AUDIT

PAGE_SIZE = 5_000

Check = RecomputationCheck | AuditCheck

CREATIONS = Selection(topics=(PartitionCreated.TOPIC,))


def check_log(parent: Channel, url: str) -> None:
    name, end = sys.argv[1], int(sys.argv[2])
    with closing(EventLog(url, pool_size=1)) as log:
        check = (
            AuditCheck() if name == AUDIT else RecomputationCheck(created_partitions(log, end), log.history)
        )
        _check_log(parent, url, check, end)


def created_partitions(log: EventLog, end: int) -> Iterator[PartitionIdentity]:
    """Yield the partitions that the log creates up to a position, also those that were removed since."""
    position = 0
    while position < end:
        events, position = log.select(position, end, PAGE_SIZE, CREATIONS)
        for recorded in events:
            assert isinstance(recorded.event, PartitionCreated), f"{recorded.position} is selected by topic"
            yield PartitionIdentity(recorded.event.number, split_subject(recorded.subject)[1])


def _check_log(parent: Channel, url: str, check: Check, end: int) -> None:
    # No collection is needed: folded events make no cycles, and reference counting frees all else.
    with gc_paused():
        for page in pages(url, end):
            if failure := _check_page(check, page):
                parent.send({"found": {"failed": failure}})
                return
            parent.send({"position": page[-1].position, "end": end})
        parent.send({"found": check.findings()})


def pages(url: str, end: int) -> Iterator[list[StoredRow]]:
    """Yield the rows of all commits that end at `end` or before, in pages, even while the log grows."""
    with closing(Tailer(url, page_size=PAGE_SIZE)) as tailer:
        while tailer.position < end:
            if page := [row for row in tailer.next_page(1.0) if row.commit_end <= end]:
                yield page


def _check_page(check: Check, page: list[StoredRow]) -> str | None:
    """Check a page. Return an error message if it cannot be checked; the check then stops."""
    try:
        check.check(page)
    except Exception as error:
        first, last = page[0].position, page[-1].position
        return f"between positions {first} and {last}: {type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    run_child(check_log)
