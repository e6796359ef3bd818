"""A connection, with as much of psycopg's manner as the service uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from eventsourcing.persistence import InterfaceError, OperationalError

from store.in_memory import Cursor, InMemoryDatastore, Rows
from tests.simulation.database.server import Server
from tests.simulation.database.statements import WRITING, statement_of
from tests.simulation.machine.strands import RUNNING, current

# A process that has nothing to do may be given the processor late: so a day of idling is soon over.
IDLE_SECONDS = 1.0
IDLE_STRETCH = 600.0


class Session:
    """Autocommit. Within `transaction` what is written waits for the commit; nobody reads it back before."""

    def __init__(self, server: Server) -> None:
        self.process = RUNNING.get()
        self.dead = False
        # Noticed on this side, too.
        self.lost = False
        self.unwritten: list[Callable[[], None]] = []
        self.in_transaction = False
        self._server = server
        self._told: list[str] = []
        self._waiting: Any = None
        server.connect(self)
        self.process.at_death(lambda: server.forget(self))

    @property
    def closed(self) -> bool:
        return self.lost

    @property
    def adapters(self) -> psycopg.adapt.AdaptersMap:
        """No value is made text of here, so what is asked for is of no consequence."""
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
            # The position is moved, and its row held: what comes between that and the commit nobody sees.
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
        if not self._told:
            stretch = self._server.dice.random() * IDLE_STRETCH if timeout >= IDLE_SECONDS else 0.0
            self._waiting = current()
            current().wait(timeout + stretch)
            self._waiting = None
        if self.dead:
            self.lost = True
            raise psycopg.OperationalError("terminating connection")
        # All that have come are handed on together, as psycopg does.
        told, self._told = self._told, []
        yield from (psycopg.Notify("", payload, 0) for payload in told)

    def _notify(self, payload: str) -> None:
        self._told.append(payload)
        if self._waiting is not None:
            self._waiting.wake()

    def close(self) -> None:
        self.lost = True
        self._server.unlisten(self._notify)
        self._server.forget(self)

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
        """`postgres.binary_copy.encoded` makes none here."""
        self.rows = rows


class Datastore(InMemoryDatastore):
    """In the place of `store.datastore.Datastore`: a pool that hands out dead sessions, too."""

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
