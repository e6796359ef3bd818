"""Rebuild of the read models in a schema of its own, while a projector may move the live ones.

Readers of the live tables never wait for a rebuild. The projector waits while the last page or two are
folded, and then continues with the new tables. A killed rebuild leaves complete live tables, either the old
or the new ones. The next rebuild removes its remains.
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
from postgres.binary_copy import CopyData
from projections.projector import CHANNEL, SCHEMA, Projector
from projections.rebuild import schemas
from projections.rebuild.differences import Difference, differences
from projections.rebuild.schemas import SQL
from projections.rebuild.sessions import OTHER_VERSION, CannotRebuild, ParallelSessions, Task, owner_session
from projections.sql import SQL as FOLDING

FRESH, OLD = "read_fresh", "read_old"
_LOCK = (0x4C4C, 0x5242)
# The server ends the session of a rebuild that hangs during the swap, which blocks all projectors.
HANG_TIMEOUT = "10s"

Pages = Callable[[], Sequence[Recorded]]
"""A function that returns the next page of the log, or an empty one at its end."""


class Rebuild:
    """One rebuild, in a session of the owner of the schema. Close it.

    `migration_lock` is the key of the lock that blocks migrations. Raises RebuildRunning while another
    rebuild runs, and CannotRebuild if the database has other migrations than this program.
    """

    def __init__(self, owner_url: str, migration_lock: int, migrations: Iterable[str]) -> None:
        self._migration_lock = migration_lock
        self._migrations = sorted(migrations)
        self._connection = owner_session(owner_url)
        self._sessions = ParallelSessions(owner_url)
        self._fresh: Projector | None = None
        try:
            self._begin()
        except BaseException:
            self._connection.close()
            raise

    def _begin(self) -> None:
        if self._fetch_value("one_at_a_time", *_LOCK) is not True:
            raise RebuildRunning("another rebuild is running: wait for its end")
        self._connection.execute(SQL["end_if_hung"], (HANG_TIMEOUT,))
        with self._connection.transaction(), self._connection.cursor() as cursor:
            self._block_migrations(cursor)
            self._drop_remains(cursor)
            self._index_statements = schemas.copy(cursor, SCHEMA, FRESH)

    @property
    def position(self) -> int:
        return 0 if self._fresh is None else self._fresh.position

    def live_position(self) -> int:
        return int(self._fetch_value("live_position"))

    def log_end(self) -> int:
        return int(self._fetch_value("log_end"))

    def commit_end(self, position: int) -> int:
        """Return the last position of the commit that has an event at a position."""
        return int(self._fetch_value("commit_end", position))

    def fill(self, rows: Sequence[Generator[CopyData]]) -> None:
        """Write the rows of both halves in parallel, at most once; `complete` adds keys and durability."""
        self._sessions.run(partial(_write, half) for half in rows)

    def complete(self, position: int = 0) -> None:
        """Create keys and indexes, and set the position up to which the tables were filled.

        It must be the end of a commit.
        """
        self._connection.execute(SQL["stand_at"], (position, position))
        names = self._largest_first()
        # The sums need the keys of other tables.
        self._sessions.run(self._completion(name) for name in names if name in schemas.SUMMED)
        rest = [name for name in names if name not in (*schemas.SUMMED, schemas.SUMS)]
        self._sessions.run([self._complete_sums, *map(self._completion, rest)])
        self._fresh = Projector(self._connection, FRESH)

    def _completion(self, table: str) -> Task:
        return partial(schemas.complete, schema=FRESH, statements=self._index_statements[table])

    def _complete_sums(self, cursor: Cursor[Any]) -> None:
        schemas.close_hours(cursor, FRESH)
        self._completion(schemas.SUMS)(cursor)

    def fold(self, page: Sequence[Recorded]) -> None:
        """Fold a page after `complete`, as a projector does. Per event this is slower than `fill`."""
        assert self._fresh is not None, "call complete first"
        self._fresh.project(page)

    def swap(self, rest: Pages) -> None:
        """Replace the live tables at this or a later position. Raises CannotRebuild if migrated meanwhile."""
        with self._connection.cursor() as cursor:
            names = self._largest_first()
            self._sessions.run(partial(schemas.analyse, schema=FRESH, table=name) for name in names)
            with self._connection.transaction():
                self._block_migrations(cursor)
                # Readers continue. The first statement of a projector's page waits for this lock, and then
                # finds the new table by name.
                cursor.execute("LOCK TABLE read.progress IN EXCLUSIVE MODE")
                while self.position < self.live_position():
                    if page := rest():
                        self.fold(page)
                schemas.rename(cursor, SCHEMA, OLD)
                schemas.rename(cursor, FRESH, SCHEMA)
                cursor.execute(FOLDING["notify"], (CHANNEL, str(self.position)))
            self._drop_remains(cursor)

    def _largest_first(self) -> list[str]:
        """Return the tables by size, so that the parallel sessions finish at nearly the same time."""
        return [name for (name,) in self._connection.execute(SQL["largest_first"], (FRESH,)).fetchall()]

    def differences(self, limit: int) -> list[Difference]:
        """Return the differences as of the new tables' position, at most `limit` of each table."""
        with self._connection.cursor() as cursor:
            return list(differences(cursor, SCHEMA, FRESH, self.position, limit))

    def close(self) -> None:
        """Drop the new tables, unless they were swapped."""
        try:
            with suppress(psycopg.Error), self._connection.cursor() as cursor:
                self._drop_remains(cursor)
                # Release the lock now; the server would keep it until it notices the end of the session.
                cursor.execute(SQL["let_others"], _LOCK)
        finally:
            self._connection.close()

    def _block_migrations(self, cursor: Cursor[Any]) -> None:
        cursor.execute(SQL["hold_migrations"], (self._migration_lock,))
        applied = [name for (name,) in cursor.execute(SQL["migrations"]).fetchall()]
        if applied != self._migrations:
            raise CannotRebuild(OTHER_VERSION)

    def _drop_remains(self, cursor: Cursor[Any]) -> None:
        """Drop the tables of this or a killed rebuild. Waits for the readers of the old tables."""
        for schema in (FRESH, OLD):
            schemas.drop(cursor, schema)

    def _fetch_value(self, query: str, *params: object) -> Any:
        row = self._connection.execute(SQL[query], params).fetchone()
        assert row is not None
        (value,) = row
        return value


def _write(rows: Generator[CopyData], cursor: Cursor[Any]) -> None:
    schemas.set_search_path(cursor, FRESH, is_local=False)
    cursor.execute("SET synchronous_commit = off")
    with closing(rows):
        for piece in rows:
            piece.write(cursor)


class RebuildRunning(LabledgerError):
    """The read models are being rebuilt already."""
