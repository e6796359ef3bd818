"""The projector process: what is appended shows in the read models."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from api.store.datastore import connect
from api.store.mapper import EventMapper
from api.store.tailer import Tailer, TailerCounters
from projections.database import AWAY
from projections.projector import OutOfStep, Projector

RETRY_SECONDS = 0.5
# A page costs some twenty statements, whatever is on it: while the log moves, pages come no faster than that.
# What comes after a pause shows at once.
SECONDS_EACH = 0.03

logger = logging.getLogger(__name__)


@dataclass
class ProjectorCounters:
    """Since the process was started."""

    pages: int = 0
    events: int = 0


def run(url: str, stopping: Callable[[], bool], counters: ProjectorCounters, tailed: TailerCounters) -> None:
    """Project until told to stop; after any fault of the database go on from the stored position."""
    while not stopping():
        try:
            _project(url, stopping, counters, tailed)
        except (*AWAY, OutOfStep) as error:
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
                    began = time.monotonic()
                    projector.project([mapper.recorded(row) for row in page])
                    counters.pages += 1
                    counters.events += len(page)
                    if len(page) < tailer.page_size:
                        time.sleep(max(0.0, began + SECONDS_EACH - time.monotonic()))
                if stopping():
                    return
        finally:
            tailer.close()
