"""Parallel sessions of the owner of the read models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from psycopg import Connection, Cursor

from domain.errors import LabledgerError
from projections.projector import SCHEMA
from projections.rebuild.schemas import SQL
from runtime.locks import LockClass

# One session for each half of a rebuild; each keeps a core busy.
MAX_SESSIONS = 2
OTHER_VERSION = "the database is of another version than this program: run `labledger migrate`"

Task = Callable[[Cursor[Any]], None]


def owner_session(url: str) -> Connection[Any]:
    """Open a session in the role of the read models' owner. Raises CannotRebuild if there are none."""
    connection = psycopg.connect(url, autocommit=True)
    try:
        for setting in ("SET timezone = 'UTC'", "SET jit = off"):
            connection.execute(setting)
        if connection.execute(SQL["become_owner"], (SCHEMA,)).fetchone() is None:
            raise CannotRebuild(OTHER_VERSION)
    except BaseException:
        connection.close()
        raise
    return connection


class ParallelSessions:
    def __init__(self, url: str) -> None:
        self._url = url

    def run(self, tasks: Iterable[Task]) -> None:
        """Run the tasks in parallel sessions. Raises the first error; then no further task starts."""
        lock, remaining, errors = LockClass.REBUILD_TASKS.mutex(), iter(tasks), list[BaseException]()

        def next_task() -> Task | None:
            with lock:
                return None if errors else next(remaining, None)

        def work() -> None:
            try:
                with owner_session(self._url) as connection, connection.cursor() as cursor:
                    while task := next_task():
                        task(cursor)
            except BaseException as error:
                errors.append(error)

        with ThreadPoolExecutor(MAX_SESSIONS) as pool:
            for _ in range(MAX_SESSIONS):
                pool.submit(work)
        if errors:
            raise errors[0]


class CannotRebuild(LabledgerError):
    """The read models cannot be rebuilt."""
