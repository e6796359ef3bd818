"""SQL statements of the read models, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from postgres.named_sql import named_queries

SQL: Final = named_queries(Path(__file__).with_name("folding.sql"))
"""The statements of the projector."""

QUERIES: Final = {
    name: query
    for subject in ("positions", "systems", "jobs", "recipes", "directory", "metrics")
    for name, query in named_queries(Path(__file__).with_name(f"{subject}.sql")).items()
}
"""The queries of `Reader`. A row has the columns that the query selects.

The parameter `at` is a log position from `Reader.as_of`; a query returns the state at that position. An open
interval has no end (null); tables store it as the `until_position` 9223372036854775807. A `version` is that
of the aggregate. It comes from the log where events change the aggregate without changing its row. Lists of
recipes include guest recipes, with their host; the queue does not.

Documents that an answer passes on unchanged are JSON text, which saves decoding and encoding them.
"""
