"""The projector process: it folds the log into the read models."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from postgres.errors import AWAY
from projections.projector import OutOfStep, Projector
from projections.sql import SQL
from store.datastore import connect
from store.mapper import EventMapper, StoredRow
from store.tailer import Tailer, TailerCounters, has_many_commits

RETRY_SECONDS = 0.5
# Folding a page takes much less.
STAND_BY_SECONDS = 1.0
# Minimum interval of pages while the log grows: a page of any length costs some twenty statements. Events
# after a pause are folded at once.
PAGE_SECONDS = 0.03
# The interval while there are many commits: on a page of 500, an event costs half as much as on one of 100,
# and other processes need the processors.
PAGE_SECONDS_OF_MANY = 0.12
# Lengths of the log at which the read models are analyzed. PostgreSQL does it only after a lab is registered
# and its queue submitted, and until then a query for a page sorts whole tables.
ANALYZED_LENGTHS = (1_000, 4_000, 16_000, 64_000)

logger = logging.getLogger(__name__)


@dataclass
class ProjectorCounters:
    """Counts since the start of the process."""

    pages: int = 0
    events: int = 0


def run(url: str, stopping: Callable[[], bool], counters: ProjectorCounters, tailed: TailerCounters) -> None:
    """Project until the process is to stop; after an error of the database go on from the stored position.

    If another projector is active, stand by until it stops.
    """
    other_at_work = False
    while not stopping():
        try:
            if other_at_work:
                _stand_by(url, stopping)
                other_at_work = False
            else:
                _project(url, stopping, counters, tailed)
        except OutOfStep as error:
            logger.info("projector: %s: standing by until the other projector stops", error)
            other_at_work = True
        except AWAY as error:
            logger.warning("projector: %s; going on from the stored position", error)
            time.sleep(RETRY_SECONDS)


def _project(
    url: str, stopping: Callable[[], bool], counters: ProjectorCounters, tailed: TailerCounters
) -> None:
    mapper = EventMapper()
    with connect(url) as connection:
        projector = Projector(connection)
        tailer = Tailer(url, after=projector.position, counters=tailed)
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
                        time.sleep(max(0.0, began + page_seconds(page) - time.monotonic()))
                if stopping():
                    return
        finally:
            tailer.close()


def page_seconds(page: Sequence[StoredRow]) -> float:
    """Return the minimum time from the beginning of this page to that of the next one."""
    return PAGE_SECONDS_OF_MANY if has_many_commits(page) else PAGE_SECONDS


def _stand_by(url: str, stopping: Callable[[], bool]) -> None:
    """Wait until the log has events that no other projector folds in time."""
    with connect(url) as connection, closing(Tailer(url, page_size=1)) as tailer:
        projector = Projector(connection)
        while not stopping():
            tailer.position = before = projector.stored_position()
            if tailer.next_page(STAND_BY_SECONDS):
                time.sleep(STAND_BY_SECONDS)
                if projector.stored_position() == before:
                    return
