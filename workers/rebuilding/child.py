"""The process that folds one half of a rebuild: `python -m workers.rebuilding.child NAME`.

Each message of the parent names a position up to which the process folds its half. It answers with the rows
that have been closed. At the end of its input it sends the open rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import closing

from postgres.binary_copy import CopyData
from postgres.errors import DATABASE_ERRORS, away
from projections.rebuild.halves import Half
from runtime.processes.child import Channel, run_child
from runtime.processes.garbage_collection import gc_paused
from store.event_log import LogReader


def fold_half(parent: Channel, url: str) -> None:
    half = Half(sys.argv[1])
    # No collection is needed: folded events make no cycles, and the process soon ends.
    with gc_paused():
        try:
            with closing(LogReader(url, half.excluded_topics)) as log:
                while message := parent.receive():
                    half.fold(log.upto(message.content["position"]))
                    _send_rows(parent, half.take_closed_rows())
                    parent.send({"reached": log.position, "kept": half.open_row_count})
            _send_rows(parent, half.take_remaining_rows())
        except DATABASE_ERRORS as error:
            raise away(error) from error
        parent.send({"is_done": True})


def _send_rows(parent: Channel, rows: Iterable[CopyData]) -> None:
    for copied in rows:
        parent.send({"statement": copied.statement.decode()}, copied.rows)


if __name__ == "__main__":
    run_child(fold_half)
