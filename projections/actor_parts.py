"""The actors of each part of the log, so that a page of the events of one actor reads no other parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from psycopg import Cursor

from domain.events import Recorded
from postgres.binary_copy import CopyData, CopyEncoder, Row, arrays
from postgres.log_parts import PART_POSITIONS
from projections.sql import SQL

_COLUMNS: Final = {"actor": "text", "part": "bigint", "since_position": "bigint"}


class ActorParts:
    """The rows of `actor_parts` that are not stored. Add all events, in the order of the log."""

    def __init__(self) -> None:
        self._encoder = CopyEncoder("actor_parts", _COLUMNS)
        self._last_parts: dict[str, int] = {}
        self._rows: list[Row] = []

    def add(self, recorded: Recorded) -> None:
        actor, part = recorded.stamp.actor, recorded.position // PART_POSITIONS
        if self._last_parts.get(actor) != part:
            self._last_parts[actor] = part
            self._rows.append((actor, part, recorded.position))

    def take_closed_rows(self) -> Iterator[CopyData]:
        """Yield all rows that are not stored, for a table that has no row of this process."""
        rows, self._rows = self._rows, []
        return self._encoder.encode(rows)

    def take_remaining_rows(self) -> Iterator[CopyData]:
        return self.take_closed_rows()

    def flush(self, cursor: Cursor[Any]) -> None:
        """Store the rows, but for those that an earlier process has stored."""
        if self._rows:
            cursor.execute(SQL["store_actor_parts"], arrays(_COLUMNS.values(), self._rows))
            self._rows = []
