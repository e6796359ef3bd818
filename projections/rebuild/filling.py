"""Empty tables filled from the beginning of the log.

What is not in memory is nowhere, so nothing is ever fetched; a row is written when it has ended, so none is
ever changed, and keys and indexes can wait until all of it is there. While a page is written the next one is
folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from psycopg import Connection, Cursor

from domain.events import Recorded
from projections.folding import fold
from projections.intervals import Written
from projections.read_models import ReadModels
from projections.rebuild.schemas import search
from projections.sql import SQL


class Filling:
    """Nobody else may use the session between `project` and `wait`.

    The tables stand at no position until `finish`.
    """

    def __init__(self, connection: Connection[Any], schema: str) -> None:
        self._connection = connection
        self._schema = schema
        self._models = ReadModels(all_known=True)
        self._last: Recorded | None = None
        self._thread = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None

    @property
    def kept(self) -> int:
        """How many rows have not ended, and so are kept in memory."""
        return self._models.size

    @property
    def position(self) -> int:
        return 0 if self._last is None else self._last.position

    def project(self, page: Sequence[Recorded]) -> None:
        for recorded in page:
            fold(self._models, recorded)
        self._last = page[-1]
        self.wait()
        self._writing = self._thread.submit(self._write, self._models.take_ended())

    def _write(self, write: Written) -> None:
        with self._connection.transaction(), self._connection.cursor() as cursor:
            search(cursor, self._schema)
            # None of it counts before a commit that does wait for the disk.
            cursor.execute("SET LOCAL synchronous_commit = off")
            write(cursor)

    def wait(self) -> None:
        """Until what was folded is written. Raises what became of it."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.result()

    def finish(self) -> ReadModels:
        """What is true now is written, too, and the tables stand at the position. Returns what they say."""
        self.wait()
        self._write(self._rest)
        self.close()
        return self._models

    def _rest(self, cursor: Cursor[Any]) -> None:
        self._models.flush(cursor)
        if self._last is not None:
            cursor.execute(SQL["move"], (self._last.position, self._last.recorded_at, 0))

    def close(self) -> None:
        self._thread.shutdown()
