"""Read models made anew beside the live ones, which a projector may move on all the while.

Who reads the live ones never waits for it; the projector does while the last page or two are folded, and then
finds itself before the new ones. Whenever it is killed, the live ones are whole, the old or the new; what it
leaves behind, the next one clears away.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any

import psycopg
from psycopg import Cursor

from domain.errors import LabledgerError
from domain.events import Recorded
from postgres.binary_copy import Copied
from projections.projector import CHANNEL, SCHEMA, Projector
from projections.rebuild import schemas
from projections.rebuild.differences import Difference, differences
from projections.rebuild.schemas import SQL
from projections.rebuild.sessions import OTHER_VERSION, NotMigrated, Sessions, owners
from projections.sql import SQL as FOLDING

FRESH, OLD = "read_fresh", "read_old"
_LOCK = (0x4C4C, 0x5242)
# Who hangs while it swaps must not keep every projector waiting for ever.
HANGS_AFTER = "10s"

Pages = Callable[[], Sequence[Recorded]]
"""The page of the log after the last one; empty for a moment where the log ends."""


class Rebuild:
    """A session of the owner's; `migration_lock` keeps the schema as it is while it is held. Close it.

    Raises AtWork while another one is, and NotMigrated where the database is not of this version.
    """

    def __init__(self, owner_url: str, migration_lock: int, migrations: Iterable[str]) -> None:
        self._migration_lock = migration_lock
        self._migrations = sorted(migrations)
        self._connection = owners(owner_url)
        self._sessions = Sessions(owner_url)
        self._fresh: Projector | None = None
        try:
            self._begin()
        except BaseException:
            self._connection.close()
            raise

    def _begin(self) -> None:
        if self._one("one_at_a_time", *_LOCK) is not True:
            raise AtWork("another one is at work on these read models: wait for its end")
        self._connection.execute(SQL["end_if_hung"], (HANGS_AFTER,))
        with self._connection.transaction(), self._connection.cursor() as cursor:
            self._hold_version(cursor)
            self._clear_away(cursor)
            self._for_later = schemas.copy(cursor, SCHEMA, FRESH)

    @property
    def position(self) -> int:
        """How far the new ones are."""
        return 0 if self._fresh is None else self._fresh.position

    def live_position(self) -> int:
        return int(self._one("live_position"))

    def log_end(self) -> int:
        return int(self._one("log_end"))

    def fill(self, rows: Sequence[Generator[Copied]]) -> None:
        """Write the rows that the parts of the log come to, side by side, before anything else.

        They wait for no keys, and for no disk: none of them counts before `complete`.
        """
        self._sessions.work(partial(_write, each) for each in rows)

    def complete(self, position: int = 0) -> None:
        """Give them their keys and indexes, at the position up to which they were filled."""
        self._sessions.work(
            partial(schemas.complete, schema=FRESH, statements=self._for_later[table])
            for table in self._largest_first()
        )
        self._connection.execute(SQL["stand_at"], (position, position))
        self._fresh = Projector(self._connection, FRESH)

    def fold(self, page: Sequence[Recorded]) -> None:
        """What came later, as a projector does: it costs more, and shows at once."""
        assert self._fresh is not None, "they are not complete"
        self._fresh.project(page)

    def swap(self, rest: Pages) -> None:
        """Put the new ones in the place of the live ones, at their position or beyond it.

        Raises NotMigrated where somebody has migrated the database meanwhile: the live ones stay.
        """
        with self._connection.cursor() as cursor:
            names = self._largest_first()
            self._sessions.work(partial(schemas.analyse, schema=FRESH, table=name) for name in names)
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

    def _largest_first(self) -> list[str]:
        """The tables, so that the sessions are done with the last ones at the same time."""
        return [name for (name,) in self._connection.execute(SQL["largest_first"], (FRESH,)).fetchall()]

    def differences(self, limit: int) -> list[Difference]:
        """What the live ones say otherwise as of the new ones' position, no more than so much of a table."""
        with self._connection.cursor() as cursor:
            return list(differences(cursor, SCHEMA, FRESH, self.position, limit))

    def close(self) -> None:
        """The new ones, unless they were swapped, are dropped."""
        try:
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
            raise NotMigrated(OTHER_VERSION)

    def _clear_away(self, cursor: Cursor[Any]) -> None:
        """What this one or a killed one has left. Whoever still reads the old ones is waited for."""
        for schema in (FRESH, OLD):
            schemas.drop(cursor, schema)

    def _one(self, query: str, *params: object) -> Any:
        row = self._connection.execute(SQL[query], params).fetchone()
        assert row is not None
        return row[0]


def _write(rows: Generator[Copied], cursor: Cursor[Any]) -> None:
    schemas.search(cursor, FRESH, is_local=False)
    cursor.execute("SET synchronous_commit = off")
    with closing(rows):
        for copied in rows:
            copied.write(cursor)


class AtWork(LabledgerError):
    """The read models are being made anew already."""
