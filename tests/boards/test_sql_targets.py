"""Every SQL query of the boards, as the role of Grafana, before and after a rebuild, and on an empty lab."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from projections.boards.queries import SQL
from tests.boards.conftest import logged_in
from tests.boards.filled_lab import SYSTEMS, WEST
from tests.boards.grafana_rules import Request, sql
from tests.boards.shipped import POSTGRESQL, ShippedTarget, boards, targets, variables
from tests.harness.databases import TestDatabase
from tests.projections.rebuild.silent import silent
from workers.rebuild import rebuild

TARGETS = targets(POSTGRESQL)
QUERIED = [
    pytest.param(variable["query"], id=f"{name}-{variable['name']}")
    for name, board in boards().items()
    for variable in variables(board).values()
    if variable["type"] == "query"
]
NUMBER = (int, float, Decimal)
POOLS = ("(no pool)", "big")
Rows = Sequence[tuple[Any, ...]]


def request(labs: Sequence[str] = tuple(SYSTEMS), pools: Sequence[str] = POOLS) -> Request:
    """Return a request of the last five minutes, and of a moment that is still to come."""
    now = datetime.now(UTC)
    span = now - timedelta(minutes=5), now + timedelta(seconds=10)
    return Request(*span, "1s", {"lab": labs, "pool": pools})


def run(session: psycopg.Connection, query: str, asked: Request) -> tuple[list[str], Rows]:
    """Return the names of the columns, and the rows."""
    cursor = session.execute(sql(query, asked).encode())
    assert cursor.description is not None
    return [column.name for column in cursor.description], cursor.fetchall()


def check_series(columns: list[str], rows: Rows) -> None:
    """Check the rules of the format `time_series`, for series that `metric` names."""
    assert columns[:2] == ["time", "metric"] and len(columns) == 3
    times = [row[0] for row in rows]
    assert times == sorted(times)
    assert {type(time) for time in times} <= {datetime, *NUMBER}
    assert all(isinstance(row[1], str) for row in rows)
    assert all(row[2] is None or isinstance(row[2], NUMBER) for row in rows)
    # Grafana takes two values of one series at one time for an error of the query.
    assert len({row[:2] for row in rows}) == len(rows)


def check_table(columns: list[str], rows: Rows) -> None:
    """Check that a table can be shown: columns of different names, of types that a cell has."""
    assert len(set(columns)) == len(columns) and "?column?" not in columns
    for row in rows:
        assert {type(value) for value in row} <= {str, bool, datetime, type(None), *NUMBER}


def check(target: ShippedTarget, columns: list[str], rows: Rows) -> None:
    {"time_series": check_series, "table": check_table}[target.target["format"]](columns, rows)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_sql_target__filled_lab__has_rows_of_its_format(filled: TestDatabase, target: ShippedTarget) -> None:
    with logged_in(filled) as session:
        columns, rows = run(session, target.target["rawSql"], request())
    assert rows
    check(target, columns, rows)


# Query -> the column of the word or number, and what the west shows: d is idle, and e drains.
@pytest.mark.parametrize(
    ("query", "column", "shown"),
    [
        ("systems_by_lab", "idle", {1}),
        ("systems_by_lab", "draining or occupied", {1}),
        ("systems_by_lab", "in use", {0}),
        ("unavailable", "usage", {"draining"}),
        ("unavailable_over_time", "metric", {"draining"}),
        # The places of idle, scheduled and draining in `STATES`.
        ("time_line", "state", {1, 3, 7}),
    ],
)
def test_sql_query__draining_system__is_not_idle(
    filled: TestDatabase, query: str, column: str, shown: set[Any]
) -> None:
    with logged_in(filled) as session:
        columns, rows = run(session, SQL[query], request([WEST]))
    of_the_west = [row for row in rows if columns[0] != "lab" or row[0] == WEST]
    last = {row[columns.index(column)] for row in of_the_west if row[columns.index(column)] is not None}
    assert last == shown


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
@pytest.mark.parametrize("labs", [(), ("",)], ids=["no lab", "an empty name"])
def test_sql_target__empty_lab__is_no_error(
    empty: TestDatabase, target: ShippedTarget, labs: Sequence[str]
) -> None:
    with logged_in(empty) as session:
        columns, rows = run(session, target.target["rawSql"], request(labs, labs))
    assert not rows
    check(target, columns, rows)


@pytest.mark.parametrize("query", QUERIED)
def test_variable__filled_lab__has_its_values_as_texts(filled: TestDatabase, query: str) -> None:
    with logged_in(filled) as session:
        _, rows = run(session, query, request())
    assert tuple(value for (value,) in rows) in (tuple(SYSTEMS), POOLS)


def test_sql_targets__before_and_after_a_rebuild__have_the_same_rows(rebuilt: TestDatabase) -> None:
    asked = request()
    with logged_in(rebuilt) as session:
        before = _all_rows(session, asked)
        rebuild(rebuilt.owner_url, silent)
        assert _all_rows(session, asked) == before
    # The statements of a new session are planned anew.
    with logged_in(rebuilt) as session:
        assert _all_rows(session, asked) == before


def _all_rows(session: psycopg.Connection, asked: Request) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each target, without the waits until now."""
    found = {}
    for target in TARGETS:
        columns, rows = run(session, target.target["rawSql"], asked)
        stable = [place for place, name in enumerate(columns) if name not in ("wait", "longest wait")]
        found[target.name] = [tuple(_rounded(row[place]) for place in stable) for row in rows]
    return found


def _rounded(value: Any) -> Any:
    """Round sums of seconds, which depend on the order of the rows."""
    return round(value, 6) if isinstance(value, float) else value
