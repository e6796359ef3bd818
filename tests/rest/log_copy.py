"""A copy of a database that ends at a position of its log."""

from __future__ import annotations

import psycopg

from tests.harness.databases import TestDatabase

# Table -> query of the rows that were written up to the position.
TABLES = {
    "log.events": "SELECT * FROM log.events WHERE notification_id <= {position} ORDER BY notification_id",
    "log.commits": "SELECT * FROM log.commits WHERE last_position <= {position} ORDER BY last_position",
    "log.originals": "SELECT * FROM log.originals WHERE encode(sha256, 'hex') IN ("
    "SELECT convert_from(state, 'UTF8')::jsonb #>> '{{data,original_sha256}}' FROM log.events "
    "WHERE topic = 'job.submitted' AND notification_id <= {position})",
}


def cut(whole: TestDatabase, position: int, into: TestDatabase) -> None:
    """Copy the log up to a position, which must be the end of a commit."""
    with psycopg.connect(whole.owner_url) as source, psycopg.connect(into.owner_url) as target:
        for table, rows in TABLES.items():
            read = f"COPY ({rows.format(position=position)}) TO STDOUT (FORMAT binary)".encode()
            write = f"COPY {table} FROM STDIN (FORMAT binary)".encode()
            with source.cursor().copy(read) as out, target.cursor().copy(write) as copy:
                for data in out:
                    copy.write(data)


def commit_ends(database: TestDatabase) -> list[int]:
    with psycopg.connect(database.owner_url) as session:
        rows = session.execute(b"SELECT DISTINCT commit_end FROM log.events ORDER BY commit_end").fetchall()
    return [int(row[0]) for row in rows]
