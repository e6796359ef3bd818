"""Read models as bytes, and the definitions of their tables, for comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import sql

from projections.rebuild import schemas
from projections.rebuild.schemas import SQL
from tests.harness.sessions import Owner

Copies = dict[str, bytes]

# A column of `progress` that depends on the time of the build, not on the log.
NOT_COMPARED = frozenset({"whole_from"})

# The definitions of the tables, and the rights on them.
SHAPE = b"""
SELECT 'column', c.relname, concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                                      pg_get_expr(d.adbin, d.adrelid), a.attstattarget)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = to_regnamespace('read') AND c.relkind = 'r'
UNION ALL SELECT 'index', tablename, indexdef FROM pg_indexes WHERE schemaname = 'read'
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = to_regnamespace('read')
UNION ALL SELECT 'table', relname, concat_ws(' ', relowner::regrole, reloptions,
       (SELECT string_agg(acl::text, ' ' ORDER BY acl::text) FROM unnest(relacl) AS acl)) FROM pg_class
WHERE relnamespace = to_regnamespace('read') AND relkind IN ('r', 'i')
UNION ALL SELECT 'schema', nspname, concat_ws(' ', nspowner::regrole,
       (SELECT string_agg(acl::text, ' ' ORDER BY acl::text) FROM unnest(nspacl) AS acl)) FROM pg_namespace
WHERE nspname = 'read'
ORDER BY 1, 2, 3
"""


def copies(owner: Owner) -> Copies:
    """Return table -> output of COPY, in the order of the key."""
    with owner.cursor() as cursor:
        return {table: _copy(cursor, table) for table in schemas.tables(cursor, "read")}


def _copy(cursor: Any, table: str) -> bytes:
    (key,) = cursor.execute(SQL["key_of"], ("read", table)).fetchone()
    (columns,) = cursor.execute(SQL["columns_of"], ("read", table)).fetchone()
    query = sql.SQL("COPY (SELECT {} FROM {} ORDER BY {}) TO STDOUT").format(
        _list(name for name in columns if name not in NOT_COMPARED), sql.Identifier("read", table), _list(key)
    )
    with cursor.copy(query) as copied:
        return b"".join(map(bytes, copied))


def _list(names: Iterable[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def shape(owner: Owner) -> list[tuple[Any, ...]]:
    return owner.execute(SHAPE).fetchall()


def left_over(owner: Owner) -> list[str]:
    """Return the schemas that a rebuild has left."""
    names = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'read\\_%' ORDER BY 1"
    return [name for (name,) in owner.execute(names).fetchall()]


@contextmanager
def unchanged(owner: Owner) -> Iterator[None]:
    before = copies(owner), shape(owner)
    yield
    assert shape(owner) == before[1]
    assert copies(owner) == before[0]
