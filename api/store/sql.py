"""The named queries of `log.sql`."""

from __future__ import annotations

from pathlib import Path

from projections.named_sql import named_queries

SQL = named_queries(Path(__file__).with_name("log.sql"))

# Events may carry whole jobs: what is read at once is bounded by bytes, too.
PAGE_BYTES = 4 << 20

BOUNDED = {name: SQL["bounded"].replace(b"QUERY", SQL[name]) for name in ("page", "all_between", "selected")}
