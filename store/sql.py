"""The named queries of `log.sql`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from postgres.log_parts import PART_POSITIONS
from postgres.named_sql import named_queries
from store.mapper import StoredRow

SQL = named_queries(Path(__file__).with_name("log.sql"))

# An event may contain a whole job, so a read is limited in bytes, too.
MAX_PAGE_BYTES = 4 << 20

# Parameters of a query, and their values in the part of the log that `of_actor` reads.
_IN_A_PART = {
    b"%(after)s": b"greatest(%(after)s::bigint, wanted_part.part * PART_POSITIONS - 1)",
    b"%(upto)s": b"least(%(upto)s::bigint, (wanted_part.part + 1) * PART_POSITIONS - 1)",
    b"%(limit)s": b"PART_POSITIONS",
}


def _of_actor(query: bytes) -> bytes:
    for parameter, value in _IN_A_PART.items():
        query = query.replace(parameter, value)
    statement = SQL["of_actor"].replace(b"QUERY", query)
    return statement.replace(b"PART_POSITIONS", str(PART_POSITIONS).encode())


SELECTIONS = ("all_between", "of_partition", "selected")
OF_ACTOR = {f"{name}_of_actor": _of_actor(SQL[name]) for name in SELECTIONS}
_BOUNDED_QUERIES = {**{name: SQL[name] for name in ("page", "page_of", *SELECTIONS)}, **OF_ACTOR}
BOUNDED = {name: SQL["bounded"].replace(b"QUERY", query) for name, query in _BOUNDED_QUERIES.items()}
# The same statements from the last row to the first. They name the direction of each of their orders.
BACKWARDS = {name: BOUNDED[name].replace(b" ASC", b" DESC") for name in (*SELECTIONS, *OF_ACTOR)}


class BoundedRows(NamedTuple):
    """The rows of a `BOUNDED` query; if `may_have_more`, others may follow."""

    rows: list[StoredRow]
    may_have_more: bool


def bounded_rows(result: Iterable[tuple[Any, ...]], limit: int, max_bytes: int) -> BoundedRows:
    """Return the rows of the result of a `BOUNDED` query with these limits."""
    rows = [*map(StoredRow._make, result)]
    return BoundedRows(rows, len(rows) >= limit or sum(len(row.state) for row in rows) >= max_bytes)


def _append(
    *, is_one: bool, with_recipes: bool, with_originals: bool, with_power: bool, with_addresses: bool
) -> bytes:
    count = "one" if is_one else "many"
    parts = [SQL["append_recipes"]] * with_recipes + [SQL["append_originals"]] * with_originals
    parts += [SQL["append_power"]] * with_power + [SQL["append_addresses"]] * with_addresses
    substitutions = {
        b"WRITTEN": SQL[f"written_by_{count}"],
        b"BYTES": SQL[f"bytes_of_{count}"],
        b"PARTS": b"\n".join(parts),
        b"UNFINISHED": SQL["unfinished_after"] if with_recipes else b"NULL::bigint",
    }
    statement = SQL["append"]
    for placeholder, part in substitutions.items():
        statement = statement.replace(placeholder, part)
    return statement


APPENDS = {
    (is_one, with_recipes, with_originals, with_power, with_addresses): _append(
        is_one=is_one,
        with_recipes=with_recipes,
        with_originals=with_originals,
        with_power=with_power,
        with_addresses=with_addresses,
    )
    for is_one, with_recipes, with_originals, with_power, with_addresses in product((False, True), repeat=5)
}
"""The statement that appends: for one request or more, with or without recipes that begin or finish,
originals, power settings, and addresses of clients.
"""

APPENDS_UNLESS_JOINED = {
    with_addresses: APPENDS[True, False, False, False, with_addresses].replace(
        b"log.append(", b"log.append_unless_joined(%b::bigint, "
    )
    for with_addresses in (False, True)
}
"""The statement that appends one request unless a system has joined a lab after a position.

It is for a request with or without the address of a client.
"""
