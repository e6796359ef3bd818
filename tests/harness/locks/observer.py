"""Observer of the locks of all sessions of a test server, read from pg_locks a few times in a second."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from runtime.locks import LockClass, LockKind
from tests.harness.locks.recorder import Recorder
from tests.harness.locks.statements import condition

INTERVAL_SECONDS = 0.1
# Sessions that a test uses itself: their locks are part of its situation.
PLANTED = "planted"
OF_TESTS = ("test owner", PLANTED)
TABLES = """
SELECT n.nspname || '.' || c.relname, c.oid::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('log', 'live', 'read') AND c.relkind = 'r'
"""
OF_TEST = b"SELECT application_name = ANY (%s) FROM pg_stat_activity WHERE pid = %s"


@dataclass
class SessionLocks:
    """The locks of a session at one moment."""

    transaction: str
    held: list[str] = field(default_factory=list)
    # The class of a row for which the session waits as the first: it has locked the tuple meanwhile.
    tuple_of: str | None = None
    awaited: str | None = None
    waits: bool = False

    def waits_for(self) -> str | None:
        return self.awaited or (self.tuple_of if self.waits else None)


def query(connection: psycopg.Connection[Any]) -> bytes:
    """Return the query for the locks with a class, in all databases that are copies of the connected one."""
    tables: dict[str, int] = dict(connection.execute(TABLES).fetchall())

    def relation_is(table: str) -> str:
        schema = table.removesuffix("*")
        oids = [
            oid
            for name, oid in tables.items()
            if name == table or (schema != table and name.startswith(schema))
        ]
        return f"relation IN ({', '.join(map(str, oids)) or 'NULL'})"

    classes = [each for each in LockClass if each.value.tables or each.value.advisory]
    cases = "\n".join(f"WHEN {condition(each, relation_is)} THEN '{each.name}'" for each in classes)
    rows = "\n".join(
        f"WHEN {' OR '.join(map(relation_is, each.value.tables))} THEN '{each.name}'"
        for each in classes
        if each.value.tables
    )
    return f"""
SELECT pid, virtualtransaction, locktype, granted, CASE WHEN locktype = 'tuple' THEN CASE {rows} END ELSE
    CASE {cases} END END AS name
FROM pg_locks WHERE locktype IN ('relation', 'tuple', 'advisory', 'transactionid') AND pid <> pg_backend_pid()
    AND (locktype <> 'transactionid' OR NOT granted) AND (locktype <> 'relation' OR mode <> 'AccessShareLock')
""".encode()


def sessions(rows: Iterable[tuple[Any, ...]]) -> dict[int, SessionLocks]:
    """Return the locks of each session."""
    found: dict[int, SessionLocks] = {}
    for pid, transaction, kind, granted, name in rows:
        one = found.setdefault(pid, SessionLocks(transaction))
        if kind == "tuple" and granted:
            one.tuple_of = name
        elif granted:
            one.held += [name] if name is not None and name not in one.held else []
        else:
            one.waits = True
            one.awaited = one.awaited or name
    return found


class Observer:
    """Writes the nestings of the sessions of a server to the recorder of this process."""

    def __init__(
        self, server_url: str, template_url: str, recorder: Recorder, ignored: Sequence[str] = OF_TESTS
    ) -> None:
        with psycopg.connect(template_url) as connection:
            self._query = query(connection)
        self._recorder = recorder
        self._connection = psycopg.connect(server_url, autocommit=True, application_name="test observer")
        self._order: dict[tuple[int, str], list[str]] = {}
        self._ignored = list(ignored)
        self._is_of_test: dict[int, bool] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lock observer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        # The server may be ended under the observer.
        with contextlib.suppress(psycopg.Error):
            while not self._stop.wait(INTERVAL_SECONDS):
                self.look()

    def look(self) -> None:
        """Read the present locks, and record what they show beside those of the last time."""
        now = sessions(self._connection.execute(self._query).fetchall())
        order: dict[tuple[int, str], list[str]] = defaultdict(list)
        for pid, one in now.items():
            before = [name for name in self._before(pid, one.transaction) if name in one.held]
            new = [name for name in one.held if name not in before]
            order[pid, one.transaction] = [*before, *new]
            awaited = one.waits_for()
            outer = [name for name in one.held if name != awaited]
            if (len(one.held) > 1 or (awaited and outer)) and not self._is_of_a_test(pid):
                self._record(before, new, awaited)
        self._order = order

    def _before(self, pid: int, transaction: str) -> list[str]:
        """Return the locks at the last time: those of the transaction, and of the session's earlier ones."""
        earlier = [
            name
            for (other, its), names in self._order.items()
            if other == pid and its != transaction
            for name in names
            if LockClass[name].value.kind is LockKind.SESSION
        ]
        return [*earlier, *self._order.get((pid, transaction), [])]

    def _record(self, before: list[str], new: list[str], awaited: str | None) -> None:
        for inner in new:
            if inner != awaited:
                for outer in before:
                    self._recorder.nest(outer, inner, "observer")
        if awaited:
            for outer in dict.fromkeys([*before, *new]):
                if outer != awaited:
                    self._recorder.nest(outer, awaited, "observer")
        for number, one in enumerate(new):
            for other in new[:number]:
                if awaited not in (one, other):
                    self._recorder.beside(one, other)

    def _is_of_a_test(self, pid: int) -> bool:
        if pid not in self._is_of_test:
            row = self._connection.execute(OF_TEST, (self._ignored, pid)).fetchone()
            if row is None:
                return True
            self._is_of_test[pid] = bool(row[0])
        return self._is_of_test[pid]
