"""The cost of queries: the pages that PostgreSQL reads."""

from __future__ import annotations

import re
from typing import Any

from projections.sql import ANY_SYSTEM
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until

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


# Sessions whose transactions may see rows that were replaced meanwhile; VACUUM keeps these rows.
SEEING_OLD_ROWS = b"""
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
"""


def pages(owner: Owner, asked: Queries) -> dict[str, int]:
    # The server's own ANALYZE in the background is one of these sessions.
    wait_until(lambda: owner.execute(SEEING_OLD_ROWS).fetchall() == [(0,)], "the end of older transactions")
    owner.execute("VACUUM ANALYZE")
    return {title: _pages(owner, *question) for title, question in asked.items()}


def _pages(owner: Owner, query: bytes, params: dict[str, Any]) -> int:
    plan = owner.execute(b"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) " + query, params).fetchall()
    touched = next((line for (line,) in plan if "Buffers:" in line), "")
    return sum(int(number) for number in re.findall(r"(?:hit|read)=(\d+)", touched))


def scans_of(plan: dict[str, Any], table: str) -> list[dict[str, Any]]:
    """Return the nodes of a plan in JSON that scan a table."""
    below = [scan for part in plan.get("Plans", ()) for scan in scans_of(part, table)]
    is_scan = plan.get("Relation Name") == table and "Scan" in plan["Node Type"]
    return [plan, *below] if is_scan else below


def rows_read(scan: dict[str, Any]) -> int:
    """Return the number of rows that a scan read, also those that its filter removed."""
    return int((scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0)) * scan["Actual Loops"])
