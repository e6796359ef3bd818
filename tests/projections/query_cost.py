"""The cost of queries: the pages that PostgreSQL reads."""

from __future__ import annotations

import re
from typing import Any

from projections.sql import ANY_SYSTEM
from tests.harness.sessions import Owner

Queries = dict[str, tuple[bytes, dict[str, Any]]]

# Allows for another level of some indexes, and for rows on other pages.
MAX_GROWTH = 1.5
ANY_TIMELINE: dict[str, Any] = {
    **ANY_SYSTEM,
    "after": "",
    "limit": 100,
    "fqdns": None,
    "max_intervals": None,
    "max_page_intervals": 50_000,
    "resolution": 0,
}


def pages(owner: Owner, asked: Queries) -> dict[str, int]:
    owner.execute("VACUUM ANALYZE")
    return {title: _pages(owner, *question) for title, question in asked.items()}


def _pages(owner: Owner, query: bytes, params: dict[str, Any]) -> int:
    plan = owner.execute(b"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) " + query, params).fetchall()
    touched = next((line for (line,) in plan if "Buffers:" in line), "")
    return sum(int(number) for number in re.findall(r"(?:hit|read)=(\d+)", touched))
