"""The fold of events: rows, their binary copies, and names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from domain.events import TOPICS, Event
from postgres.binary_copy import NEVER, ROWS_AT_ONCE, CopyEncoder, array
from projections.folding import FACTS, FOLDED, SKIPPED_EVENTS
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session


def test_folding__every_event_of_the_log__has_its_row() -> None:
    every: set[type[Event]] = {cls for topic, cls in TOPICS.items() if not topic.startswith("test.")}
    assert set(FOLDED) | SKIPPED_EVENTS == every
    assert not set(FOLDED) & SKIPPED_EVENTS
    assert set(FACTS) <= set(FOLDED), "the fold reads their topics"


BEFORE = datetime(1969, 7, 20, 20, 17, 40, 1, tzinfo=UTC)
MOMENT = datetime(2026, 11, 22, 4, 30, 0, 250_001, tzinfo=UTC)
TABLE = b"""
CREATE TEMP TABLE copied
    (id bigint, name text, flag boolean, score double precision, at timestamptz, said jsonb,
     few smallint, many integer)
"""
TYPES = {
    "id": "bigint",
    "name": "text",
    "flag": "boolean",
    "score": "double precision",
    "at": "timestamptz",
    "said": "jsonb",
    "few": "smallint",
    "many": "integer",
}
ROWS: list[tuple[Any, ...]] = [
    (1, "tab\tnewline\nreturn\rbackslash\\", True, 1.5, MOMENT, {"text": 'a "quote", \\ and \n\t'}, 1, 1),
    # Values like the marks of the end and of null.
    (2, "\\.", False, 1, MOMENT, ["\\N"], -(2**15), -(2**31)),
    (3, "\\N", None, 1e300, None, [], None, 2**31 - 1),
    (2**63 - 1, "", True, -0.1, BEFORE, None, 2**15 - 1, 0),
    (-1, "größe ✓ 𝄞", False, 0.1 + 0.2, MOMENT, {"größe": None, "big": 2**63}, 3, 3),
    (0, None, None, None, MOMENT, {"1": 1.0, "deep": [[{}]]}, 0, 7),
]


def test_encode__values_of_every_type__are_read_back(database: TestDatabase) -> None:
    with owner_session(database.owner_url) as session, session.cursor() as cursor:
        cursor.execute(TABLE)
        copying = CopyEncoder("copied", TYPES)
        for copied in copying.encode(ROWS):
            copied.write(cursor)
        assert cursor.execute("SELECT * FROM copied").fetchall() == ROWS


def test_encode__more_rows_than_are_encoded_at_once__are_read_back_in_order(database: TestDatabase) -> None:
    rows = [(number, f"text {number % 7}") for number in range(2 * ROWS_AT_ONCE + 1)]
    with owner_session(database.owner_url) as session, session.cursor() as cursor:
        cursor.execute(TABLE)
        (copied,) = CopyEncoder("copied", {"id": "bigint", "name": "text"}).encode(rows)
        copied.write(cursor)
        assert cursor.execute("SELECT id, name FROM copied").fetchall() == rows


def test_encode__never__is_after_all_other_times(database: TestDatabase) -> None:
    with owner_session(database.owner_url) as session, session.cursor() as cursor:
        cursor.execute(TABLE)
        for copied in CopyEncoder("copied", {"at": "timestamptz"}).encode([(NEVER,)]):
            copied.write(cursor)
        assert cursor.execute("SELECT at = 'infinity' FROM copied").fetchall() == [(True,)]


def test_encode__no_rows__no_statement() -> None:
    assert list(CopyEncoder("copied", {"id": "bigint"}).encode([])) == []


def test_array__values_of_every_type__are_read_back(database: TestDatabase) -> None:
    columns = dict(zip(TYPES, zip(*ROWS, strict=True), strict=True))
    with owner_session(database.owner_url) as session:
        for name, type_ in TYPES.items():
            asked = f"SELECT * FROM unnest(%s::{type_}[])".encode()
            found = session.execute(asked, (array(type_, columns[name]),)).fetchall()
            assert [value for (value,) in found] == list(columns[name])
