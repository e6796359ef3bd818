"""The projector process: what is appended shows in the read models."""

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
# A page takes a good deal less.
STAND_BY_SECONDS = 1.0
# A page costs some twenty statements, whatever is on it: while the log moves, pages come no faster than that.
# What comes after a pause shows at once.
SECONDS_EACH = 0.03
# Where many commit: on a page of 500 an event costs half of what it costs on one of 100, and others want the
# processors.
SECONDS_EACH_OF_MANY = 0.12
# Lengths of the log at which the read models are analyzed: a lab is registered, and its queue submitted,
# before PostgreSQL does so by itself, and meanwhile whoever reads a page of it would have it all sorted.
YOUNG = (1_000, 4_000, 16_000, 64_000)

logger = logging.getLogger(__name__)


@dataclass
class ProjectorCounters:
    """Since the process was started."""

    pages: int = 0
    events: int = 0


def run(url: str, stopping: Callable[[], bool], counters: ProjectorCounters, tailed: TailerCounters) -> None:
    """Project until told to stop; after any fault of the database go on from the stored position.

    Of two that are at it one loses, and stands by.
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
            logger.info("projector: %s: standing by until whoever moves them stops", error)
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
                    if any(before < length <= projector.position for length in YOUNG):
                        connection.execute(SQL["analyze"])
                    counters.pages += 1
                    counters.events += len(page)
                    if len(page) < tailer.page_size:
                        time.sleep(max(0.0, began + seconds_each(page) - time.monotonic()))
                if stopping():
                    return
        finally:
            tailer.close()


def seconds_each(page: Sequence[StoredRow]) -> float:
    """How long after the beginning of this page the next one may begin."""
    return SECONDS_EACH_OF_MANY if has_many_commits(page) else SECONDS_EACH


def _stand_by(url: str, stopping: Callable[[], bool]) -> None:
    """Until something is in the log that nobody has folded for so long."""
    with connect(url) as connection, closing(Tailer(url, page_size=1)) as tailer:
        projector = Projector(connection)
        while not stopping():
            tailer.position = before = projector.stored_position()
            if tailer.next_page(STAND_BY_SECONDS):
                time.sleep(STAND_BY_SECONDS)
                if projector.stored_position() == before:
                    return
