"""The log for a part of the verification: as rows, so that each part makes of them what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from store.mapper import StoredRow
from store.tailer import Tailer

PAGE_SIZE = 5_000


def pages(url: str, end: int) -> Iterator[list[StoredRow]]:
    """Whole commits, none that ends behind `end`: a log that grows meanwhile is read as it was."""
    with closing(Tailer(url, page_size=PAGE_SIZE)) as tailer:
        while tailer.position < end:
            if page := [row for row in tailer.next_page(1.0) if row.commit_end <= end]:
                yield page
