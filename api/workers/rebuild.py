"""The read models made anew from the whole log, to be swapped in or compared with the live ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

from api.store.mapper import EventMapper
from api.store.migrate import LOCK, migrations
from api.store.tailer import Tailer
from domain.events import Recorded
from projections.database import AWAY, DatabaseAway
from projections.rebuild.differences import Difference
from projections.rebuild.rebuild import Pages, Rebuild

# A page costs some twenty statements.
PAGE_SIZE = 10_000
# So many keep the projector waiting for no time.
LAST_EVENTS = 2_000
WAIT_SECONDS = 0.1

Told = Callable[[int, int], None]
"""Told of progress: which position is reached, and which one is to be."""


def rebuild(owner_url: str, told: Told) -> int:
    """The position of the new read models, which now are the live ones."""
    with _beginning(owner_url) as (fresh, rest):
        end = _catch_up(fresh, rest, told, 0)
        fresh.complete()
        _catch_up(fresh, rest, told, end)
        fresh.swap(rest)
        return fresh.position


def check(owner_url: str, told: Told, limit: int) -> tuple[int, list[Difference]]:
    """Where the live read models are, and what they say otherwise than the log up to there."""
    with _beginning(owner_url) as (fresh, rest):
        end = min(fresh.live_position(), fresh.log_end())
        _follow(fresh, lambda: [recorded for recorded in rest() if recorded.position <= end], told, end)
        return fresh.position, fresh.differences(limit)


def _catch_up(fresh: Rebuild, rest: Pages, told: Told, end: int) -> int:
    """Fold what has come since the end that was reached, until little comes meanwhile; the new end."""
    while (new := fresh.log_end()) - end > (LAST_EVENTS if end else 0):
        end = new
        _follow(fresh, rest, told, end)
    return end


def _follow(fresh: Rebuild, rest: Pages, told: Told, end: int) -> None:
    """Fold up to a position of the log, which is that of a commit's end."""
    while fresh.position < end:
        told(fresh.position, end)
        if page := rest():
            fresh.fold(page)
    told(fresh.position, end)


class _Ahead:
    """The log page by page: while one is folded, the next one is read."""

    def __init__(self, tailer: Tailer) -> None:
        self._mapper = EventMapper()
        self._tailer = tailer
        self._thread = ThreadPoolExecutor(1)
        self._read()

    def _read(self) -> None:
        self._next = self._thread.submit(self._tailer.next_page, WAIT_SECONDS)

    def page(self) -> list[Recorded]:
        rows = self._next.result()
        self._read()
        return [self._mapper.recorded(row) for row in rows]

    def close(self) -> None:
        self._thread.shutdown()


@contextmanager
def _beginning(owner_url: str) -> Iterator[tuple[Rebuild, Pages]]:
    """Nothing is folded yet; and what gives the log page by page."""
    names = [migration.name for migration in migrations()]
    try:
        with (
            closing(Rebuild(owner_url, LOCK, names)) as fresh,
            closing(Tailer(owner_url, page_size=PAGE_SIZE)) as tailer,
            closing(_Ahead(tailer)) as ahead,
        ):
            yield fresh, ahead.page
    except AWAY as error:
        raise DatabaseAway(str(error).strip()) from error
