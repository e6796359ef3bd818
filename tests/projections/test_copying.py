"""What was copied into a table is read again as it was."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from projections.copying import Copying
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session

MOMENT = datetime(2026, 11, 22, 4, 30, 0, 250_001, tzinfo=UTC)
TABLE = b"""
CREATE TEMP TABLE copied
    (id bigint, name text, flag boolean, score double precision, at timestamptz, said jsonb)
"""
ROWS: list[tuple[Any, ...]] = [
    (1, "tab\tnewline\nreturn\rbackslash\\", True, 1.5, MOMENT, {"text": 'a "quote", \\ and \n\t'}),
    # What looks like the end of the data, or like nothing.
    (2, "\\.", False, 1, MOMENT, ["\\N"]),
    (3, "\\N", None, 1e300, None, []),
    (2**63 - 1, "", True, -0.1, None, None),
    (-1, "größe ✓ 𝄞", False, 0.1 + 0.2, MOMENT, {"größe": None, "big": 2**63}),
    (0, None, None, None, MOMENT, {"1": 1.0, "deep": [[{}]]}),
]


def test_copying__values_of_every_kind__are_read_again_as_they_were(database: TestDatabase) -> None:
    with owner_session(database.owner_url) as session, session.cursor() as cursor:
        cursor.execute(TABLE)
        copying = Copying("copied", ("id", "name", "flag", "score", "at", "said"), json=("said",))
        for copied in copying.copied(ROWS):
            copied.write(cursor)
        assert cursor.execute("SELECT * FROM copied").fetchall() == ROWS


def test_copying__no_rows__nothing_is_asked_of_the_database() -> None:
    assert list(Copying("copied", ("id",), json=()).copied([])) == []
