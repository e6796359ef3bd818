"""The rebuild of the read models from the log, to swap them in or compare them with the live ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from domain.events import Recorded
from postgres.errors import DATABASE_ERRORS, away
from projections.rebuild.differences import Difference
from projections.rebuild.rebuild import Pages, Rebuild
from store.mapper import EventMapper
from store.migrate import LOCK, migrations
from store.tailer import Tailer
from workers.progress import ProgressCallback
from workers.rebuilding.processes import fill

# Pages are large, because each costs some twenty statements.
PAGE_SIZE = 10_000
# Maximum number of events to fold during the swap, while the projector waits.
LAST_EVENTS = 2_000
# A log of up to this length is folded in this process, because starting others would take longer.
FEW_EVENTS = 10_000
WAIT_SECONDS = 0.1


def rebuild(owner_url: str, on_progress: ProgressCallback) -> int:
    """Rebuild the read models and swap them in; return their position."""
    with _new_rebuild(owner_url) as fresh, _fold_steps(fresh, owner_url, fresh.log_end, on_progress) as pages:
        _fold_up_to(fresh, pages, on_progress, fresh.log_end())
        while (end := fresh.log_end()) - fresh.position > LAST_EVENTS:
            _fold_up_to(fresh, pages, on_progress, end)
        fresh.swap(pages)
        return fresh.position


def check(owner_url: str, on_progress: ProgressCallback, limit: int) -> tuple[int, list[Difference]]:
    """Return the position of the live read models, and their differences from the log up to there."""
    with _new_rebuild(owner_url) as fresh:
        end = min(fresh.live_position(), fresh.log_end())
        with _fold_steps(fresh, owner_url, lambda: end, on_progress) as pages:
            _fold_up_to(fresh, lambda: [row for row in pages() if row.position <= end], on_progress, end)
        return fresh.position, fresh.differences(limit)


@contextmanager
def _fold_steps(
    fresh: Rebuild, owner_url: str, find_end: Callable[[], int], on_progress: ProgressCallback
) -> Iterator[Pages]:
    """Fold nearly all of the log, and yield a function that returns the next page of the rest."""
    end = find_end()
    on_progress(0, end)
    fresh.complete(fill(fresh, owner_url, find_end, on_progress) if end > FEW_EVENTS else 0)
    mapper = EventMapper()
    with closing(Tailer(owner_url, fresh.position, PAGE_SIZE)) as tailer:

        def page() -> list[Recorded]:
            return [mapper.recorded(row) for row in tailer.next_page(WAIT_SECONDS)]

        yield page


def _fold_up_to(fresh: Rebuild, pages: Pages, on_progress: ProgressCallback, end: int) -> None:
    while fresh.position < end:
        if page := pages():
            fresh.fold(page)
            on_progress(fresh.position, end)


@contextmanager
def _new_rebuild(owner_url: str) -> Iterator[Rebuild]:
    """Yield new, empty read models. Raises DatabaseAway."""
    names = [migration.name for migration in migrations()]
    try:
        with closing(Rebuild(owner_url, LOCK, names)) as fresh:
            yield fresh
    except DATABASE_ERRORS as error:
        raise away(error) from error
