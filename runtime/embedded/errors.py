"""What can go wrong with the PostgreSQL that Labledger runs itself."""

from __future__ import annotations

from domain.errors import LabledgerError


class EmbeddedPostgresError(LabledgerError):
    """The embedded PostgreSQL cannot be used."""
