"""What the parts that speak PostgreSQL have in common."""

from __future__ import annotations

import psycopg

from domain.errors import LabledgerError

AWAY = (psycopg.OperationalError, psycopg.InterfaceError)
"""What psycopg raises while the database is away."""


class DatabaseAway(LabledgerError):
    """The database cannot be reached."""
