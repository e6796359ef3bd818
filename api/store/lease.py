"""The right of one process to decide: an advisory lock on a session of its own, and an epoch that fences."""

from __future__ import annotations

from typing import Any

import psycopg

from api.store.datastore import connect
from api.store.requests import Fence
from api.store.sql import SQL
from projections.database import AWAY

# The first of the two keys of the advisory lock, so that it meets no other lock of the database.
NAMESPACE = 0x4C4C

SCHEDULER = "scheduler/default"


class Lease:
    """Held as long as the session lives. Whoever takes it next raises the epoch, which fences this one."""

    def __init__(self, url: str, name: str, holder: str) -> None:
        self.name = name
        self._url = url
        self._holder = holder
        self._session: psycopg.Connection[Any] | None = None

    def try_take(self) -> Fence | None:
        """The fence to append with, or None while somebody else holds the lease."""
        try:
            session = self._session = self._session or connect(self._url)
            if not _one(session, SQL["try_lease"], (NAMESPACE, self.name)):
                return None
            return Fence(self.name, int(_one(session, SQL["take_lease"], (self.name, self._holder))))
        except AWAY:
            self.release()
            return None

    def held(self) -> bool:
        """Whether the session, and with it the lock, still lives."""
        if self._session is None:
            return False
        try:
            _one(self._session, b"SELECT 1", ())
        except AWAY:
            self.release()
            return False
        return True

    def release(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()


def _one(session: psycopg.Connection[Any], query: bytes, params: tuple[Any, ...]) -> Any:
    row = session.execute(query, params).fetchone()
    assert row is not None
    return row[0]
