"""What the parts that speak PostgreSQL have in common."""

from __future__ import annotations

import psycopg
import psycopg.errors

from domain.errors import LabledgerError

AWAY = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    # By its class it would be a fault of ours: the server has given up who hung within a transaction.
    psycopg.errors.IdleInTransactionSessionTimeout,
    # So would be this: this one is a standby, or read-only for a while. Another takes writes, or it will.
    psycopg.errors.ReadOnlySqlTransaction,
)
"""What psycopg raises while the database is away."""


class DatabaseAway(LabledgerError):
    """The database cannot be reached."""


class DatabaseFull(DatabaseAway):
    """The database's disk is full."""


def away(error: Exception) -> DatabaseAway:
    """What is told of an error of psycopg, or of one that was raised from it."""
    cause = error.__cause__ or error
    if isinstance(cause, psycopg.errors.DiskFull):
        # What follows on the first line is of the statement that happened to need the room.
        return DatabaseFull(str(error).partition("\n")[0])
    return DatabaseAway(str(error).strip())
