"""Differences between the live read models and rebuilt ones, as of a position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from psycopg import Cursor, sql

from projections.counts import COUNTED, CountedTable
from projections.intervals import OPEN_UNTIL
from projections.rebuild import schemas
from projections.rebuild.schemas import SQL

NOT_COMPARED = frozenset({"progress", *(counted.table for counted in COUNTED)})
"""The table of progress, and those of counts, which are compared with the rows that they count."""


# The live row of a term may have got jobs after the position; it must have those of the fresh row.
_GROWN_SINCE = sql.SQL(
    "(l.last_position <= %(at)s AND f.last_position <= %(at)s OR l.jobs & f.jobs IS DISTINCT FROM f.jobs)"
)
# The live tables may have no results of a job that were deleted after the position.
_DELETED_SINCE = sql.SQL(
    "(l.since_position IS NOT NULL OR NOT EXISTS ("
    "SELECT FROM {details} AS d JOIN {jobs} AS j ON j.job_id = d.job_id"
    " WHERE d.recipe_id = f.recipe_id AND (j.deleted ->> 'position')::bigint > %(at)s))"
)


class Difference(NamedTuple):
    """A row that differs, or that only one side has."""

    table: str
    key: dict[str, Any]
    live: dict[str, Any] | None
    fresh: dict[str, Any] | None


def differences(
    cursor: Cursor[Any], live: str, fresh: str, position: int, limit: int
) -> Iterator[Difference]:
    """Yield at most `limit` differences of each table; `fresh` is at the position, `live` may be later."""
    for table in schemas.tables(cursor, live):
        if table not in NOT_COMPARED:
            yield from _table_differences(cursor, table, live, fresh, position, limit)
    for counted in COUNTED:
        yield from _count_differences(cursor, counted, live, limit)


def _table_differences(
    cursor: Cursor[Any], table: str, live: str, fresh: str, position: int, limit: int
) -> Iterator[Difference]:
    (columns,) = _fetch_row(cursor, "columns_of", live, table)
    (key,) = _fetch_row(cursor, "key_of", live, table)
    query = sql.SQL(
        "SELECT to_jsonb(l), to_jsonb(f)"
        " FROM (SELECT {shown} FROM {live} WHERE since_position <= %(at)s) AS l"
        " FULL JOIN (SELECT {columns} FROM {fresh}) AS f USING ({key})"
        " WHERE l::text IS DISTINCT FROM f::text AND {wanted} ORDER BY {key} LIMIT %(limit)s"
    ).format(
        shown=_list(_as_of(column) for column in columns),
        columns=_list(map(sql.Identifier, columns)),
        key=_list(map(sql.Identifier, key)),
        wanted=_wanted(table, live),
        live=sql.Identifier(live, table),
        fresh=sql.Identifier(fresh, table),
    )
    params = {"at": position, "limit": limit, "open": OPEN_UNTIL}
    for live_row, fresh_row in cursor.execute(query, params).fetchall():
        either = live_row or fresh_row
        yield Difference(table, {name: either[name] for name in key}, live_row, fresh_row)


def _wanted(table: str, live: str) -> sql.Composable:
    """Return the condition for differences that the later position of the live table does not explain."""
    if table == schemas.JOB_TERMS:
        return _GROWN_SINCE
    if table == schemas.RESULTS:
        tables = {"details": sql.Identifier(live, "recipe_details"), "jobs": sql.Identifier(live, "jobs")}
        return _DELETED_SINCE.format(**tables)
    return sql.SQL("true")


def _count_differences(
    cursor: Cursor[Any], counted: CountedTable, live: str, limit: int
) -> Iterator[Difference]:
    """Compare counts with the (checked) live rows that they count, in one snapshot; no row counts 0."""
    query = sql.SQL(
        # Grouped, because a join would not find the rows in which a column of the key is null.
        "SELECT {key}, sum(live_count)::bigint, sum(counted)::bigint FROM ("
        " SELECT {key}, open_count AS live_count, NULL AS counted FROM {counts}"
        " UNION ALL SELECT {key}, NULL, count(*) FROM {rows} WHERE until_position = %(open)s::bigint"
        " GROUP BY {key}) AS both_counts"
        " GROUP BY {key} HAVING coalesce(sum(live_count), 0) <> coalesce(sum(counted), 0)"
        " ORDER BY {key} LIMIT %(limit)s"
    ).format(
        key=_list(map(sql.Identifier, counted.columns)),
        counts=sql.Identifier(live, counted.table),
        rows=sql.Identifier(live, counted.counts_rows_of),
    )
    for *values, live_count, count in cursor.execute(query, {"limit": limit, "open": OPEN_UNTIL}).fetchall():
        key = dict(zip(counted.columns, values, strict=True))
        yield Difference(counted.table, key, _counted(key, live_count), _counted(key, count))


def _counted(key: dict[str, Any], count: int | None) -> dict[str, Any] | None:
    return None if count is None else {**key, "open_count": count}


def _as_of(column: str) -> sql.Composable:
    """Return the expression of a column as of `at`: an interval that ended later is still open."""
    never = {"until_position": "%(open)s::bigint", "until": "'infinity'::timestamptz"}.get(column)
    if never is None:
        return sql.Identifier(column)
    return sql.SQL("CASE WHEN until_position <= %(at)s THEN {0} ELSE {1} END AS {0}").format(
        sql.Identifier(column), sql.SQL(never)
    )


def _list(parts: Iterable[sql.Composable]) -> sql.Composable:
    return sql.SQL(", ").join(parts)


def _fetch_row(cursor: Cursor[Any], query: str, *params: object) -> tuple[Any, ...]:
    row = cursor.execute(SQL[query], params).fetchone()
    assert row is not None
    return tuple(row)
