"""The read models made anew from the whole log, to be swapped in or compared with the live ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from api.store.mapper import EventMapper
from api.store.migrate import LOCK, migrations
from api.store.tailer import Tailer
from projections.database import AWAY, DatabaseAway
from projections.rebuild.differences import Difference
from projections.rebuild.rebuild import Pages, Rebuild

# A page costs some twenty statements, and what begins and ends within it is written once.
PAGE_SIZE = 10_000
# So many keep the projector waiting for no time.
LAST_EVENTS = 2_000
WAIT_SECONDS = 0.1

Told = Callable[[int, int], None]
"""Told of progress: which position is reached, and which one is to be."""


def rebuild(owner_url: str, told: Told) -> int:
    """The position of the new read models, which now are the live ones."""
    with _beginning(owner_url) as (fresh, rest):
        end = fresh.log_end()
        while fresh.position < end:
            _follow(fresh, rest, told, end)
            # What came meanwhile.
            if fresh.log_end() - end > LAST_EVENTS:
                end = fresh.log_end()
        fresh.swap(rest)
        return fresh.position


def check(owner_url: str, told: Told, limit: int) -> tuple[int, list[Difference]]:
    """Where the live read models are, and what they say otherwise than the log up to there."""
    with _beginning(owner_url) as (fresh, rest):
        end = fresh.live_position()
        _follow(fresh, lambda: [recorded for recorded in rest() if recorded.position <= end], told, end)
        return fresh.position, fresh.differences(limit)


def _follow(fresh: Rebuild, rest: Pages, told: Told, end: int) -> None:
    """Fold up to a position, which is that of a commit's end."""
    while fresh.position < min(end, fresh.log_end()):
        told(fresh.position, end)
        if page := rest():
            fresh.fold(page)
    told(fresh.position, end)


@contextmanager
def _beginning(owner_url: str) -> Iterator[tuple[Rebuild, Pages]]:
    """Nothing is folded yet; and what gives the log page by page."""
    mapper = EventMapper()
    names = [migration.name for migration in migrations()]
    try:
        with (
            closing(Rebuild(owner_url, LOCK, names)) as fresh,
            closing(Tailer(owner_url, page_size=PAGE_SIZE)) as tailer,
        ):
            yield fresh, lambda: [mapper.recorded(row) for row in tailer.next_page(WAIT_SECONDS)]
    except AWAY as error:
        raise DatabaseAway(str(error).strip()) from error
