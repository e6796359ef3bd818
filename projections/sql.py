"""SQL statements of the read models, by name, and the filters of lists."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from postgres.named_sql import named_queries

SQL: Final = named_queries(Path(__file__).with_name("folding.sql"))
"""The statements of the projector."""

QUERIES: Final = {
    name: query
    for subject in (
        "positions",
        "systems",
        "timeline",
        "jobs",
        "recipes",
        "waits",
        "locks",
        "claims",
        "directory",
        "metrics",
        "overview",
        "conservation",
    )
    for name, query in named_queries(Path(__file__).with_name(f"{subject}.sql")).items()
}
"""The queries of `Reader`. A row has the columns that the query selects.

The parameter `at` is a log position from `Reader.as_of`; a query returns the state at that position. An open
interval has no end (null); tables store it as the `until_position` 9223372036854775807. A `version` is that
of the aggregate. It comes from the log where events change the aggregate without changing its row. Lists of
recipes include guest recipes, with their host; the queue does not.

Documents that an answer passes on unchanged are JSON text, which saves decoding and encoding them.
"""


SYSTEM_FILTERS = ("condition", "usage", "lab_controller", "pool", "owner", "location", "draining")
# Parameters without any filter.
ANY_LAB: Mapping[str, Any] = dict.fromkeys(("labs", "other_labs"))
ANY_DOCUMENT: Mapping[str, Any] = dict.fromkeys((*ANY_LAB, "containing"))
ANY_SYSTEM: Mapping[str, Any] = dict.fromkeys((*SYSTEM_FILTERS, *ANY_LAB, "fqdn", "hidden"))
ANY_LOCK: Mapping[str, Any] = dict.fromkeys(("level", "name", "state", "hidden"))
ANY_CLAIM: Mapping[str, Any] = dict.fromkeys(("recipe_id", "system", "hidden"))
