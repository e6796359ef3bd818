"""A connection with the part of psycopg's interface that the service uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from eventsourcing.persistence import InterfaceError, OperationalError

from store.in_memory import Cursor, InMemoryDatastore
from store.log_tables import Rows
from tests.simulation.database.server import Server
from tests.simulation.database.statements import WRITING, statement_of
from tests.simulation.machine.strands import RUNNING, current

# An idle process may be resumed late, so that idle days take few steps.
IDLE_SECONDS = 1.0
IDLE_STRETCH = 600.0


class Session:
    """A session in autocommit. Writes within `transaction` wait for the commit; no code reads them before."""

    def __init__(self, server: Server) -> None:
        self.process = RUNNING.get()
        self.dead = False
        # The client has noticed the end of the session.
        self.lost = False
        self.unwritten: list[Callable[[], None]] = []
        self.in_transaction = False
        self._server = server
        self._notifications: list[str] = []
        self._waiting: Any = None
        server.connect(self)
        self.process.at_death(lambda: server.end_session(self))

    @property
    def closed(self) -> bool:
        return self.lost

    @property
    def adapters(self) -> psycopg.adapt.AdaptersMap:
        """Return any adapters: no value is converted to text here."""
        return psycopg.adapt.AdaptersMap(psycopg.adapters)

    def execute(self, query: Any, params: Any = (), **_: Any) -> Cursor:
        return self.cursor().execute(query if isinstance(query, bytes) else query.encode(), params)

    def cursor(self, **_: Any) -> SessionCursor:
        return SessionCursor(self)

    def ask(self, query: bytes, params: Any) -> Rows:
        if self.lost:
            raise psycopg.OperationalError("the connection is closed")
        if query.startswith(b"LISTEN "):
            channel = query.split()[1].decode()
            self._server.listen(channel, self._notify)
            return []
        statement = statement_of(self._server, query)
        if self.in_transaction and self.unwritten:
            # The row of the position is locked, so no other session sees the time until the commit.
            return self._server.at_once(self, statement, params)
        return self._server.answer(self, statement, params, writes=query in WRITING)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.in_transaction = True
        try:
            yield
            self._server.answer(self, _commit, (), writes=True)
        except BaseException:
            self.unwritten.clear()
            self._server.read.release(self)
            raise
        finally:
            self.in_transaction = False

    def notifies(self, *, timeout: float, stop_after: int) -> Iterator[psycopg.Notify]:
        assert stop_after == 1
        if self.lost:
            raise psycopg.OperationalError("the connection is closed")
        if not self._notifications:
            stretch = self._server.dice.random() * IDLE_STRETCH if timeout >= IDLE_SECONDS else 0.0
            self._waiting = current()
            current().wait(timeout + stretch)
            self._waiting = None
        if self.dead:
            self.lost = True
            raise psycopg.OperationalError("terminating connection")
        # psycopg, too, returns all notifications that have arrived.
        payloads, self._notifications = self._notifications, []
        yield from (psycopg.Notify("", payload, 0) for payload in payloads)

    def _notify(self, payload: str) -> None:
        self._notifications.append(payload)
        if self._waiting is not None:
            self._waiting.wake()

    def close(self) -> None:
        self.lost = True
        self._server.unlisten(self._notify)
        self._server.end_session(self)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _commit(session: Session, _: Any) -> Rows:
    for write in session.unwritten:
        write()
    session.unwritten.clear()
    session._server.read.release(session)
    return []


class SessionCursor(Cursor):
    def __init__(self, session: Session) -> None:
        super().__init__(session.ask)

    def __enter__(self) -> SessionCursor:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: the cursor holds nothing."""

    @contextmanager
    def copy(self, query: bytes) -> Iterator[Copy]:
        copy = Copy()
        yield copy
        self.execute(query, copy.rows)


class Copy:
    def __init__(self) -> None:
        self.rows: Sequence[Any] = ()

    def write(self, rows: Sequence[Any]) -> None:
        """Keep the rows: `postgres.binary_copy.encoded` does not encode them here."""
        self.rows = rows


class Datastore(InMemoryDatastore):
    """A stand-in for `store.datastore.Datastore`: a pool that also returns dead sessions."""

    def __init__(self, server: Server, url: str, pool_size: int = 2) -> None:
        super().__init__(url)
        self._server = server
        self._free: list[Session] = []

    @contextmanager
    def get_connection(self) -> Iterator[Session]:
        try:
            session = self._free.pop() if self._free else Session(self._server)
            yield session
        except psycopg.OperationalError as error:
            raise OperationalError(error) from error
        except psycopg.InterfaceError as error:
            raise InterfaceError(error) from error
        if not session.lost:
            self._free.append(session)

    def close(self) -> None:
        for session in self._free:
            session.close()
