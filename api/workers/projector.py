"""The projector process: what is appended shows in the read models."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from api.store.datastore import connect
from api.store.mapper import EventMapper
from api.store.tailer import Tailer
from projections.database import AWAY
from projections.projector import OutOfStep, Projector

RETRY_SECONDS = 0.5

logger = logging.getLogger(__name__)


def run(url: str, stopping: Callable[[], bool]) -> None:
    """Project until told to stop; after any fault of the database go on from the stored position."""
    while not stopping():
        try:
            _project(url, stopping)
        except (*AWAY, OutOfStep) as error:
            logger.warning("projector: %s; going on from the stored position", error)
            time.sleep(RETRY_SECONDS)


def _project(url: str, stopping: Callable[[], bool]) -> None:
    mapper = EventMapper()
    with connect(url) as connection:
        projector = Projector(connection)
        tailer = Tailer(url, after=projector.position)
        try:
            for page in tailer:
                if page:
                    projector.project([mapper.recorded(row) for row in page])
                if stopping():
                    return
        finally:
            tailer.close()
