"""One part, as a process: `python -m api.verification.part END`, with the database's URL in its environment.

How texts hash is fixed when a process starts, so whoever wants it otherwise needs another process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import orjson

from api import root
from api.processes.stop_request import listening
from api.settings import Settings
from api.store.mapper import EventMapper
from api.store.tailer import Tailer
from api.verification import report
from domain.events import Recorded
from replay.verify.recomputation import Difference, Recomputation

PAGE_SIZE = 5_000


def main() -> None:
    stop = listening()
    url, end = root.needed(Settings.read().database_url), int(sys.argv[1])
    again, first, position = Recomputation(), list[Difference](), 0
    for page in _pages(url, end):
        if stop.made():
            return
        for difference in again.take_all(page):
            if len(first) < report.SHOWN:
                first.append(difference)
        position = page[-1].position
        _say({"position": position, "end": end})
    _say(report.of_decisions(again, position, first))


def _pages(url: str, end: int) -> Iterator[Sequence[Recorded]]:
    """Whole commits, up to a position."""
    mapper = EventMapper()
    with closing(Tailer(url, page_size=PAGE_SIZE)) as tailer:
        while tailer.position < end:
            if rows := tailer.next_page(1.0):
                yield [mapper.recorded(row) for row in rows]


def _say(document: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(document) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
