"""Deletions of results that the read models still have to make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from psycopg import Cursor

from postgres.binary_copy import CopyData, arrays
from projections.sql import SQL


class ResultDeletions:
    """The jobs of a page whose results are deleted. Flush it after the tables of recipes and results.

    A rebuild deletes the results of all such jobs at once, when it has written all rows (`rebuild.schemas`).
    """

    def __init__(self) -> None:
        self._rows: list[tuple[int, int]] = []

    def add(self, job_id: int, position: int) -> None:
        """Delete the results of a job up to a position."""
        self._rows.append((job_id, position))

    def take_closed_rows(self) -> Iterator[CopyData]:
        """Yield nothing, because no table has deletions."""
        self._rows.clear()
        return iter(())

    def take_remaining_rows(self) -> Iterator[CopyData]:
        return self.take_closed_rows()

    def flush(self, cursor: Cursor[Any]) -> None:
        if self._rows:
            cursor.execute(SQL["delete_results"], arrays(("integer", "bigint"), self._rows))
            self._rows = []
