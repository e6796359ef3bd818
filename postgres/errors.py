"""Errors of PostgreSQL that mean that the database is away."""

from __future__ import annotations

import psycopg
import psycopg.errors

from domain.errors import LabledgerError

DATABASE_ERRORS = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    # The server ended a session that was idle within a transaction.
    psycopg.errors.IdleInTransactionSessionTimeout,
    # The server is a standby, or read-only for a while.
    psycopg.errors.ReadOnlySqlTransaction,
)
"""Errors of psycopg that mean that the database is away. psycopg classes the last two as internal errors."""


class DatabaseAway(LabledgerError):
    """The database cannot be reached."""


class DatabaseFull(DatabaseAway):
    """The database's disk is full."""


def away(error: Exception) -> DatabaseAway:
    """Return the DatabaseAway for an error of psycopg, or for an error that was raised from one."""
    cause = error.__cause__ or error
    if isinstance(cause, psycopg.errors.DiskFull):
        # The other lines describe the statement that happened to need the space.
        return DatabaseFull(str(error).partition("\n")[0])
    return DatabaseAway(str(error).strip())
