"""The projector, which folds pages of whole commits into the read models, each page exactly once.

Rows and position are written in one transaction, which requires the previous position. If two projectors fold
the same page, one commits, and the other one raises ConcurrentProjector.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from psycopg import Connection, Cursor

from domain.errors import LabledgerError
from domain.events import Recorded
from projections.folding import fold
from projections.read_models import ReadModels
from projections.sql import SQL

CHANNEL = "labledger_read"
SCHEMA = "read"
BEGIN_SESSION = "SELECT set_config('search_path', %s, false), set_config('enable_seqscan', 'off', false)"


class Projector:
    """A projector for one schema, on its search path, with autocommit. Not thread-safe."""

    def __init__(
        self, connection: Connection[Any], schema: str = SCHEMA, models: ReadModels | None = None
    ) -> None:
        self._connection = connection
        # All statements find their rows by indexes. Plans made while a table was small would scan it
        # until the next ANALYZE.
        connection.execute(BEGIN_SESSION, (schema,))
        self._models = ReadModels() if models is None else models
        # The object id of the progress table; a rebuild changes it.
        self._table_id: int | None = None
        connection.execute(SQL["begin"])
        self.position, self._recorded_at = self._stored_progress()

    def stored_position(self) -> int:
        """Return the position in the database, which another projector may have moved."""
        position, _ = self._stored_progress()
        return position

    def _stored_progress(self) -> tuple[int, datetime | None]:
        row = self._connection.execute(SQL["stored_progress"]).fetchone()
        assert row is not None, "the read models were never migrated"
        position, recorded_at = row
        return position, recorded_at

    def project(self, page: Sequence[Recorded]) -> None:
        """Fold the next page. Raises ConcurrentProjector if another one moved the position."""
        try:
            self._project(page)
        except BaseException:
            # The cache has rows that were rolled back.
            self._models = ReadModels()
            raise
        self.position, self._recorded_at = page[-1].position, page[-1].recorded_at

    def _project(self, page: Sequence[Recorded]) -> None:
        last = page[-1]
        with self._connection.transaction(), self._connection.cursor() as cursor:
            self._move(cursor, last)
            self._models.begin(cursor, page)
            for recorded in page:
                fold(self._models, recorded)
            self._models.flush(cursor)
            self._close_hours(cursor, page)
            cursor.execute(SQL["notify"], (CHANNEL, str(last.position)))

    def _move(self, cursor: Cursor[Any], last: Recorded) -> None:
        """Move the position first, so that a second projector waits here, before it folds anything."""
        moved = cursor.execute(SQL["move"], (last.position, last.recorded_at, self.position)).fetchone()
        if moved is None:
            raise ConcurrentProjector(f"the read models are not at position {self.position}")
        (table_id,) = moved
        if self._table_id not in (None, table_id):
            # A rebuild has replaced the tables, so the cache is invalid.
            self._models = ReadModels()
        self._table_id = table_id

    def _close_hours(self, cursor: Cursor[Any], page: Sequence[Recorded]) -> None:
        """Store the sums of the hours that are over since this page: one statement for all of them."""
        first = _hour_of(self._recorded_at or page[0].recorded_at)
        end = _hour_of(page[-1].recorded_at)
        if first < end:
            cursor.execute(SQL["close_hours"], (first, end))


def _hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


class ConcurrentProjector(LabledgerError):
    """Another projector updates these read models."""
