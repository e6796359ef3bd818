"""Sessions of the owner that work on the same schema in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import psycopg
from psycopg import Connection, Cursor

from domain.errors import LabledgerError
from projections.projector import SCHEMA
from projections.rebuild.schemas import SQL

# One for each part of the log. PostgreSQL uses a core for each.
MAX_SESSIONS = 2
OTHER_VERSION = "the database is of another version than this program: run `labledger migrate`"

Task = Callable[[Cursor[Any]], None]


def owners(url: str) -> Connection[Any]:
    """Open a session in the role of the owner of the read models. Raises CannotRebuild if there are none."""
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

    def work(self, tasks: Iterable[Task]) -> None:
        """Run the tasks in parallel sessions. Raises the first error."""
        lock, waiting, wrong = Lock(), iter(tasks), list[BaseException]()

        def next_task() -> Task | None:
            with lock:
                return None if wrong else next(waiting, None)

        def work() -> None:
            try:
                with owners(self._url) as connection, connection.cursor() as cursor:
                    while task := next_task():
                        task(cursor)
            except BaseException as error:
                wrong.append(error)

        with ThreadPoolExecutor(MAX_SESSIONS) as pool:
            for _ in range(MAX_SESSIONS):
                pool.submit(work)
        if wrong:
            raise wrong[0]


class CannotRebuild(LabledgerError):
    """The read models cannot be rebuilt."""
