"""Read models made anew beside the live ones, which a projector may move on all the while.

Who reads the live ones never waits for it; the projector does while the last page or two are folded, and then
finds itself before the new ones. Whenever it is killed, the live ones are whole, the old or the new; what it
leaves behind, the next one clears away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import Cursor

from domain.errors import LabledgerError
from domain.events import Recorded
from projections.projector import CHANNEL, SCHEMA, Projector
from projections.rebuild import schemas
from projections.rebuild.differences import Difference, differences
from projections.rebuild.filling import Filling
from projections.rebuild.schemas import SQL
from projections.sql import SQL as FOLDING

# Rows that are true now, some 500 bytes each. If there are more, the tables are completed early.
MOST_KEPT = 1_000_000
FRESH, OLD = "read_fresh", "read_old"
_LOCK = (0x4C4C, 0x5242)
# Who hangs while it swaps must not keep every projector waiting for ever.
HANGS_AFTER = "10s"
_OTHER_VERSION = "the database is of another version than this program: run `labledger migrate`"

Pages = Callable[[], Sequence[Recorded]]
"""The page of the log after the last one; empty for a moment where the log ends."""


class Rebuild:
    """A session of the owner's; `migration_lock` keeps the schema as it is while it is held. Close it.

    Raises AtWork while another one is, and NotMigrated where the database is not of this version.
    """

    def __init__(self, owner_url: str, migration_lock: int, migrations: Iterable[str]) -> None:
        self._migration_lock = migration_lock
        self._migrations = sorted(migrations)
        self._connection = psycopg.connect(owner_url, autocommit=True)
        self._fresh: Filling | Projector = Filling(self._connection, FRESH)
        try:
            self._begin()
        except BaseException:
            self._connection.close()
            raise

    def _begin(self) -> None:
        if self._one("one_at_a_time", *_LOCK) is not True:
            raise AtWork("another one is at work on these read models: wait for its end")
        for setting in ("SET timezone = 'UTC'", "SET jit = off"):
            self._connection.execute(setting)
        self._connection.execute(SQL["end_if_hung"], (HANGS_AFTER,))
        if self._connection.execute(SQL["become_owner"], (SCHEMA,)).fetchone() is None:
            raise NotMigrated(_OTHER_VERSION)
        with self._connection.transaction(), self._connection.cursor() as cursor:
            self._hold_version(cursor)
            self._clear_away(cursor)
            self._for_later = schemas.copy(cursor, SCHEMA, FRESH)

    @property
    def position(self) -> int:
        """How far the new ones are."""
        return self._fresh.position

    def live_position(self) -> int:
        return int(self._one("live_position"))

    def log_end(self) -> int:
        return int(self._one("log_end"))

    def fold(self, page: Sequence[Recorded]) -> None:
        self._fresh.project(page)
        if isinstance(self._fresh, Filling) and self._fresh.kept > MOST_KEPT:
            self.complete()

    def complete(self) -> None:
        """Give them their keys and indexes. What is folded from here on costs more, and shows at once."""
        if not isinstance(self._fresh, Filling):
            return
        models = self._fresh.finish()
        with self._connection.transaction(), self._connection.cursor() as cursor:
            schemas.complete(cursor, FRESH, self._for_later)
        self._fresh = Projector(self._connection, FRESH, models)

    def swap(self, rest: Pages) -> None:
        """Put the new ones in the place of the live ones, at their position or beyond it.

        Raises NotMigrated where somebody has migrated the database meanwhile: the live ones stay.
        """
        self.complete()
        with self._connection.cursor() as cursor:
            schemas.analyse(cursor, FRESH)
            with self._connection.transaction():
                self._hold_version(cursor)
                # Readers go on. A projector waits here, as its first statement is about this table, and then
                # finds the new one by the name.
                cursor.execute("LOCK TABLE read.progress IN EXCLUSIVE MODE")
                while self.position < self.live_position():
                    if page := rest():
                        self.fold(page)
                schemas.rename(cursor, SCHEMA, OLD)
                schemas.rename(cursor, FRESH, SCHEMA)
                cursor.execute(FOLDING["tell"], (CHANNEL, str(self.position)))
            self._clear_away(cursor)

    def differences(self, limit: int) -> list[Difference]:
        """What the live ones say otherwise as of the new ones' position, no more than so much of a table."""
        self.complete()
        with self._connection.cursor() as cursor:
            return list(differences(cursor, SCHEMA, FRESH, self.position, limit))

    def close(self) -> None:
        """The new ones, unless they were swapped, are dropped."""
        try:
            if isinstance(self._fresh, Filling):
                self._fresh.close()
            with suppress(psycopg.Error), self._connection.cursor() as cursor:
                self._clear_away(cursor)
                # The server would let go of it only when it has noticed that the session ended.
                cursor.execute(SQL["let_others"], _LOCK)
        finally:
            self._connection.close()

    def _hold_version(self, cursor: Cursor[Any]) -> None:
        cursor.execute(SQL["hold_migrations"], (self._migration_lock,))
        applied = [name for (name,) in cursor.execute(SQL["migrations"]).fetchall()]
        if applied != self._migrations:
            raise NotMigrated(_OTHER_VERSION)

    def _clear_away(self, cursor: Cursor[Any]) -> None:
        """What this one or a killed one has left. Whoever still reads the old ones is waited for."""
        for schema in (FRESH, OLD):
            schemas.drop(cursor, schema)

    def _one(self, query: str, *params: object) -> Any:
        if isinstance(self._fresh, Filling):
            self._fresh.wait()
        row = self._connection.execute(SQL[query], params).fetchone()
        assert row is not None
        return row[0]


class AtWork(LabledgerError):
    """The read models are being made anew already."""


class NotMigrated(LabledgerError):
    """The read models cannot be made anew."""
