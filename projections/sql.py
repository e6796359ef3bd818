"""The named queries of `folding.sql`."""

from __future__ import annotations

from pathlib import Path

from postgres.named_sql import named_queries

SQL = named_queries(Path(__file__).with_name("folding.sql"))
