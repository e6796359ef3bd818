"""All texts that the database stores beside its secrets, to look for what must not be there."""

from __future__ import annotations

from tests.use_cases.town import Town


def stored_texts(town: Town) -> list[str]:
    """Return all rows of all tables but those of the secret schema, as texts; bytes also as hexadecimal."""
    tables = town.log.rows(
        b"SELECT table_schema::text || '.' || table_name::text FROM information_schema.tables"
        b" WHERE table_schema IN ('log', 'read', 'live') AND table_type = 'BASE TABLE'",
        (),
    )
    assert len(tables) > 20
    return [
        row
        for (table,) in tables
        for (row,) in town.log.rows(f"SELECT t::text FROM {table} AS t".encode(), ())
    ]
