"""Locks that statements of this process take in the database: seen in psycopg, and read from pg_locks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.harness.locks.recorder import TOP, Hold, Recorder, calling_frame

TESTS = str(TOP / "tests")
IDLE, IN_TRANSACTION = 0, 2
# A read of pg_locks takes a millisecond, which pages of a projector would notice.
MAX_LOOKS = 10
TRIES, TRIED = "pg_try", "SKIP LOCKED"


class SessionHold(Hold):
    """A lock of the database, which is over with its session, or with the transaction of the session."""

    def __init__(self, name: str, connection: Any, *, ends_with_transaction: bool) -> None:
        super().__init__(name)
        self.ends_with_transaction = ends_with_transaction
        self._connection = weakref.ref(connection)

    @property
    def is_over(self) -> bool:
        connection = self._connection()
        if self.is_released or connection is None or connection.closed:
            return True
        return self.ends_with_transaction and connection.pgconn.transaction_status == IDLE


def install(psycopg: ModuleType, recorder: Recorder) -> None:
    """Watch the statements of psycopg."""
    sessions = _Sessions(recorder, psycopg)
    execute = psycopg.Cursor.execute

    def watched_execute(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(query, bytes | str) or not (taken := _classes_here(query)):
            return execute(cursor, query, *args, **kwargs)
        return sessions.take(cursor.connection, taken, lambda: execute(cursor, query, *args, **kwargs))

    psycopg.Cursor.execute = watched_execute  # type: ignore[attr-defined]
    sessions.end_after(psycopg.Transaction, "__exit__", lambda transaction: transaction.connection)
    for method in ("commit", "rollback", "close"):
        sessions.end_after(psycopg.Connection, method, lambda connection: connection)


class _Sessions:
    """The locks of the sessions of this process."""

    def __init__(self, recorder: Recorder, psycopg: ModuleType) -> None:
        self._recorder = recorder
        self._psycopg = psycopg
        self._looks: dict[tuple[str, ...], list[list[str]]] = {}
        self._held: weakref.WeakKeyDictionary[Any, list[SessionHold]] = weakref.WeakKeyDictionary()

    def take(self, connection: Any, names: tuple[str, ...], execute: Callable[[], Any]) -> Any:
        """Run a statement that takes locks of these classes."""
        held = self._holds(connection)
        before = {hold.name for hold in held}
        new = [name for name in names if name not in before]
        for name in new:
            # A statement that never waits cannot be part of a deadlock as the inner one.
            if name in _waited_for():
                self._recorder.enter(name, source="statement", others=held)
        began = [self._recorder.hold(Hold(name)) for name in new]
        try:
            return execute()
        finally:
            is_open = self._is_open(connection)
            outlive = [hold for hold in began if is_open or hold.name in _of_session()]
            for hold in reversed(began):
                self._recorder.release(hold, is_over=hold not in outlive)
            if outlive and not connection.closed:
                self._look(connection, tuple(hold.name for hold in outlive), outlive[0].since)

    def end_after(self, owner: Any, method: str, connection_of: Callable[[Any], Any]) -> None:
        original = getattr(owner, method)

        def watched(self_: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(self_, *args, **kwargs)
            finally:
                self._end_transaction(connection_of(self_))

        setattr(owner, method, watched)

    def _is_open(self, connection: Any) -> bool:
        return not connection.closed and connection.pgconn.transaction_status == IN_TRANSACTION

    def _look(self, connection: Any, taken: tuple[str, ...], since: float) -> None:
        """Hold the locks that the session has after a statement, which began at that time."""
        if connection._pipeline is not None:
            return
        held = self._holds(connection)
        names = {hold.name for hold in held}
        for name in self._locks_after(connection, (*sorted(names), "", *taken)):
            if name not in names:
                for outer in names:
                    self._recorder.nest(outer, name, "pg_locks")
                hold = SessionHold(name, connection, ends_with_transaction=name not in _of_session())
                hold.since = since
                self._recorder.hold(hold)
                self._held.setdefault(connection, []).append(hold)

    def _locks_after(self, connection: Any, key: tuple[str, ...]) -> list[str]:
        """Return the locks of a session after a statement; those read before after MAX_LOOKS equal ones.

        An advisory lock of a session may be refused, so it is read each time.
        """
        looks = self._looks.setdefault(key, [])
        if len(looks) >= MAX_LOOKS and looks.count(looks[-1]) == MAX_LOOKS and not {*key} & _of_session():
            return looks[-1]
        found = sorted(self._own_locks(connection))
        self._looks[key] = [*looks, found][-MAX_LOOKS:]
        return found

    def _own_locks(self, connection: Any) -> list[str]:
        """Return the classes of the locks of this session, read by itself, in no order."""
        from psycopg.rows import tuple_row

        try:
            with connection.cursor(row_factory=tuple_row) as cursor:
                rows = cursor.execute(own_locks().encode()).fetchall()
        except self._psycopg.Error:
            return []
        return [name for (name,) in rows]

    def _holds(self, connection: Any) -> list[SessionHold]:
        """Return the locks of a session, without those that are over."""
        held = self._held.get(connection, [])
        over = [hold for hold in held if hold.is_over]
        for hold in over:
            held.remove(hold)
            self._recorder.release(hold)
        return held

    def _end_transaction(self, connection: Any) -> None:
        if connection in self._held:
            self._holds(connection)


@cache
def _waited_for() -> frozenset[str]:
    """Return the classes of locks that some statement waits for."""
    return frozenset(
        name for _, words, name in _places() if not words.startswith(TRIES) and TRIED not in words
    )


@cache
def _of_session() -> frozenset[str]:
    """Return the classes of locks that a session keeps after the transaction."""
    from runtime.locks import LockClass, LockKind

    return frozenset(each.name for each in LockClass if each.value.kind is LockKind.SESSION)


@cache
def own_locks() -> str:
    """Return the query for the classes of the locks that a session has."""
    from runtime.locks import LockClass

    cases = "\n".join(
        f"WHEN {condition(each, _relation_is)} THEN '{each.name}'"
        for each in LockClass
        if each.value.tables or each.value.advisory
    )
    return f"""
SELECT DISTINCT name FROM (
    SELECT CASE {cases} END AS name
    FROM pg_catalog.pg_locks l
    LEFT JOIN pg_catalog.pg_class c ON c.oid = l.relation
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE l.pid = pg_catalog.pg_backend_pid() AND l.granted) AS own
WHERE name IS NOT NULL"""


def condition(lock_class: Any, relation_is: Callable[[str], str]) -> str:
    """Return the condition on a row of pg_locks that is a lock of a class."""
    spec = lock_class.value
    if spec.advisory:
        return f"locktype = 'advisory' AND {spec.advisory}"
    tables = " OR ".join(map(relation_is, spec.tables))
    return f"locktype = 'relation' AND mode <> 'AccessShareLock' AND ({tables})"


def _relation_is(table: str) -> str:
    schema, _, name = table.partition(".")
    in_schema = f"n.nspname = '{schema}' AND c.relkind = 'r'"
    return f"({in_schema})" if name == "*" else f"({in_schema} AND c.relname = '{name}')"


def _classes_here(query: bytes | str) -> tuple[str, ...]:
    """Return the classes of the locks that a statement of the product takes; none for one of a test."""
    anywhere, by_file = _classes(query)
    if not anywhere and not by_file:
        return ()
    frame = calling_frame()
    file = "" if frame is None else frame.f_code.co_filename
    if file.startswith(TESTS):
        return ()
    here = [name for path, name in by_file if file.endswith(path)]
    return tuple(dict.fromkeys([*anywhere, *here]))


@cache
def _classes(query: bytes | str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the classes of a statement by its text, and further ones by the file that executes it."""
    text = query.decode("utf-8", "replace") if isinstance(query, bytes) else query
    anywhere: list[str] = []
    by_file: list[tuple[str, str]] = []
    for place, words, name in _places():
        if place.endswith("()"):
            # A migration defines the function, and does not call it.
            if place[:-1] in text and "FUNCTION" not in text:
                anywhere.append(name)
        elif place.endswith(".py"):
            if words.partition("{}")[0] in text:
                by_file.append((place, name))
        elif place in text:
            anywhere.append(name)
    return tuple(anywhere), tuple(by_file)


@cache
def _places() -> tuple[tuple[str, str, str], ...]:
    return tuple(_read_places())


def _read_places() -> Iterator[tuple[str, str, str]]:
    """Yield the place, the words and the class of each lock, with the text of an SQL file as its place."""
    from postgres.named_sql import named_queries
    from runtime.locks import LockClass

    for lock_class in LockClass:
        for place, words in lock_class.value.places:
            file, _, query = place.partition(":")
            if file.endswith(".sql") and (TOP / file).exists():
                text = named_queries(TOP / file)[query].decode() if query else Path(TOP / file).read_text()
                yield text, words, lock_class.name
            else:
                yield place, words, lock_class.name
