"""Search of the whole database for a text that only one table may have."""

from __future__ import annotations

from tests.harness.running import Running
from tests.harness.sessions import owner_session


def tables_with(service: Running, text: str) -> list[str]:
    """Return the tables of the whole database that have a text, as it is or as the bytes of a value."""
    hidden = f"%{text}%", f"%{text.encode().hex()}%"
    with owner_session(service.database.owner_url) as owner:
        tables = owner.execute(
            "SELECT table_schema || '.' || table_name FROM information_schema.tables"
            " WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'"
        ).fetchall()
        assert len(tables) > 30
        return [
            table
            for (table,) in tables
            if owner.execute(
                f"SELECT FROM {table} AS t WHERE t::text LIKE %s OR t::text LIKE %s LIMIT 1".encode(), hidden
            ).fetchall()
        ]
