"""The projector process: it folds the log into the read models."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from postgres.errors import DATABASE_ERRORS
from projections.projector import ConcurrentProjector, Projector
from projections.sql import SQL
from store.datastore import connect
from store.mapper import EventMapper, StoredRow
from store.tailer import Tailer, TailerCounters, has_many_commits

RETRY_SECONDS = 0.5
# Wait this long for the other projector to fold new events; it needs far less for a page.
STAND_BY_SECONDS = 1.0
# Minimum interval of pages while the log grows, because each page costs some twenty statements, whatever its
# length. Events after a pause are folded at once.
MIN_PAGE_SECONDS = 0.03
# The minimum interval while there are many commits: an event costs half as much on a page of 500 as on one of
# 100, and other processes need the processors.
MIN_PAGE_SECONDS_UNDER_LOAD = 0.12
# Lengths of the log at which the projector runs ANALYZE. Autovacuum would analyze the tables only after a lab
# is registered and its queue submitted. Until then a query for a page would sort whole tables.
ANALYZED_LENGTHS = (1_000, 4_000, 16_000, 64_000)

logger = logging.getLogger(__name__)


@dataclass
class ProjectorCounters:
    """Counts since the start of the process."""

    pages: int = 0
    events: int = 0


def run(
    url: str, stopping: Callable[[], bool], counters: ProjectorCounters, tailer_counters: TailerCounters
) -> None:
    """Project until `stopping` returns True. After a database error, continue from the stored position.

    While another projector is active, stand by.
    """
    is_standby = False
    while not stopping():
        try:
            if is_standby:
                _stand_by(url, stopping)
                is_standby = False
            else:
                _project(url, stopping, counters, tailer_counters)
        except ConcurrentProjector as error:
            logger.info("projector: %s: standing by until the other projector stops", error)
            is_standby = True
        except DATABASE_ERRORS as error:
            logger.warning("projector: %s; continuing from the stored position", error)
            time.sleep(RETRY_SECONDS)


def _project(
    url: str, stopping: Callable[[], bool], counters: ProjectorCounters, tailer_counters: TailerCounters
) -> None:
    mapper = EventMapper()
    with connect(url) as connection:
        projector = Projector(connection)
        tailer = Tailer(url, after=projector.position, counters=tailer_counters)
        try:
            for page in tailer:
                if page:
                    began, before = time.monotonic(), projector.position
                    projector.project([mapper.recorded(row) for row in page])
                    if any(before < length <= projector.position for length in ANALYZED_LENGTHS):
                        connection.execute(SQL["analyze"])
                    counters.pages += 1
                    counters.events += len(page)
                    if len(page) < tailer.page_size:
                        time.sleep(max(0.0, began + min_page_seconds(page) - time.monotonic()))
                if stopping():
                    return
        finally:
            tailer.close()


def min_page_seconds(page: Sequence[StoredRow]) -> float:
    """Return the minimum time from the beginning of this page to that of the next one."""
    return MIN_PAGE_SECONDS_UNDER_LOAD if has_many_commits(page) else MIN_PAGE_SECONDS


def _stand_by(url: str, stopping: Callable[[], bool]) -> None:
    """Wait until the other projector does not fold new events within `STAND_BY_SECONDS`."""
    with connect(url) as connection, closing(Tailer(url, page_size=1)) as tailer:
        projector = Projector(connection)
        while not stopping():
            tailer.position = before = projector.stored_position()
            if tailer.next_page(STAND_BY_SECONDS):
                time.sleep(STAND_BY_SECONDS)
                if projector.stored_position() == before:
                    return
