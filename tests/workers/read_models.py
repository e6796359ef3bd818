"""Read models, emptied and projected from the beginning of the log."""

from __future__ import annotations

from contextlib import closing

from psycopg import sql

from projections.projector import Projector
from store.datastore import connect
from store.mapper import EventMapper
from store.tailer import Tailer
from tests.harness.sessions import Owner

TABLES = b"SELECT tablename FROM pg_tables WHERE schemaname = 'read' ORDER BY tablename"


def forget(owner: Owner) -> None:
    for (table,) in owner.execute(TABLES).fetchall():
        if table != "progress":
            owner.execute(sql.SQL("TRUNCATE read.{}").format(sql.Identifier(table)))
    owner.execute("UPDATE read.progress SET position = 0, recorded_at = NULL")


def project_undisturbed(url: str, upto: int, page_size: int) -> None:
    mapper = EventMapper()
    with connect(url) as connection, closing(Tailer(url, page_size=page_size)) as tailer:
        projector = Projector(connection)
        while projector.position < upto:
            projector.project([mapper.recorded(row) for row in tailer.next_page(1.0)])


def position(owner: Owner) -> int:
    row = owner.execute("SELECT position FROM read.progress").fetchone()
    assert row is not None
    return int(row[0])
