"""The lease, which gives one scheduler the right to decide.

It consists of an advisory lock in a session of its own, an epoch that fences appends of earlier holders, and
a deadline for the holder to renew it.
"""

from __future__ import annotations

import logging
import time
from math import inf
from typing import Any

import psycopg
from psycopg.errors import InsufficientPrivilege

from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from postgres.errors import DATABASE_ERRORS
from store.datastore import connect
from store.requests import Fence
from store.sql import SQL

logger = logging.getLogger(__name__)


def scheduler_lease(partition: PartitionIdentity) -> str:
    """Return the name of the lease of a partition's scheduler, and of its snapshots.

    It has the number of the partition, because a later partition may have its name. That of `default` is
    older than numbers.
    """
    if partition == DEFAULT_PARTITION:
        return f"scheduler/{partition.name}"
    return f"scheduler/{partition.name}/{partition.number}"


SCHEDULER = scheduler_lease(DEFAULT_PARTITION)
LEASE_SECONDS = 10.0
# Maximum time until a lost session is detected. Appends of a fenced holder are refused meanwhile.
CHECK_SECONDS = 1.0


class Lease:
    """A lease, held while its session lives. The next holder raises the epoch, which fences this one.

    A holder that does not renew it for `seconds` loses it to the next process that calls `try_take`. `renew`
    may be called by another thread than the other methods.
    """

    def __init__(self, url: str, name: str, holder: str, seconds: float = LEASE_SECONDS) -> None:
        self.name = name
        self.seconds = seconds
        self._url = url
        self._holder = holder
        self._session: psycopg.Connection[Any] | None = None
        self._epoch: int | None = None
        self._may_end_sessions = True
        self._checked_at = -inf

    def try_take(self) -> Fence | None:
        """Return the fence for appends, or None while another process holds and renews the lease."""
        try:
            session = self._session = self._session or connect(self._url)
            self._epoch = self._take(session)
            if self._epoch is None and self._end_hung_holder(session):
                self._epoch = self._take(session)
        except DATABASE_ERRORS:
            self.release()
        return None if self._epoch is None else Fence(self.name, self._epoch)

    def _take(self, session: psycopg.Connection[Any]) -> int | None:
        epoch: int | None = _fetch_value(session, SQL["take_lease"], (self.name, self._holder, self.seconds))
        return epoch

    def _end_hung_holder(self, session: psycopg.Connection[Any]) -> bool:
        """End the session of a holder that does not renew the lease; return whether there was one."""
        try:
            hung = _fetch_value(session, SQL["end_hung_holder"], (self.name,))
        except InsufficientPrivilege:
            if self._may_end_sessions:
                logger.error(
                    "lease: the holder hangs, and its session has another login role: kill its process"
                )
            self._may_end_sessions = False
            return False
        if hung is not None:
            logger.warning("lease: the holder hung, so its session was ended", extra={"holder": hung})
        return hung is not None

    def renew(self) -> None:
        """Renew the lease. Errors are only logged; `is_held` detects a lost session."""
        session, epoch = self._session, self._epoch
        if session is not None and epoch is not None:
            try:
                session.execute(SQL["renew_lease"], (self.name, epoch))
            except psycopg.Error as error:
                # A concurrent `release` of the session may raise other errors than DATABASE_ERRORS.
                logger.warning("lease: not renewed: %s", error)

    def is_held(self) -> bool:
        """Return whether the session, and so the lock, existed at most CHECK_SECONDS ago."""
        if self._session is None:
            return False
        now = time.monotonic()
        if now < self._checked_at + CHECK_SECONDS:
            return True
        try:
            _fetch_value(self._session, b"SELECT 1", ())
        except DATABASE_ERRORS:
            self.release()
            return False
        self._checked_at = now
        return True

    def release(self) -> None:
        session, self._session, self._epoch = self._session, None, None
        self._checked_at = -inf
        if session is not None:
            session.close()


def _fetch_value(session: psycopg.Connection[Any], query: bytes, params: tuple[Any, ...]) -> Any:
    row = session.execute(query, params).fetchone()
    assert row is not None
    (value,) = row
    return value
