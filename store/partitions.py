"""The partitions that exist, read from the log without the directory."""

from __future__ import annotations

from typing import Any

import psycopg

from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from postgres.errors import DATABASE_ERRORS, DatabaseAway
from store.datastore import connect
from store.event_log import EventLog
from store.sql import SQL


def existing_partitions(log: EventLog) -> list[PartitionIdentity]:
    """Return the partitions that exist: `default`, then the others by name. Raises DatabaseAway."""
    return _identities(log.rows(SQL["existing_partitions"], ()))


class PartitionReader:
    """A reader of the partitions with one connection, and without the threads of a pool: its process forks.

    Not thread-safe.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.Connection[Any] | None = None

    def read(self) -> list[PartitionIdentity]:
        """Return the partitions that exist, as `existing_partitions` does. Blocking. Raises DatabaseAway."""
        try:
            self._connection = self._connection or connect(self._url)
            return _identities(self._connection.execute(SQL["existing_partitions"]).fetchall())
        except DATABASE_ERRORS as error:
            self.close()
            raise DatabaseAway(str(error).strip()) from error

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _identities(rows: list[tuple[Any, ...]]) -> list[PartitionIdentity]:
    return [DEFAULT_PARTITION, *(PartitionIdentity(number, name) for number, name in rows)]
