"""Eight processes race for 200 versions of one aggregate."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.programs import program, read_line, write_line
from tests.store.racing_writer import SUBJECT

WRITERS = 8
VERSIONS = 200


@pytest.mark.parametrize(
    "store_database", ["embedded", pytest.param("system", marks=pytest.mark.soak)], indirect=True
)
def test_append__eight_processes_race_200_versions__one_winner_each_and_all_others_in_conflict(
    log: EventLog, database: TestDatabase
) -> None:
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                program("tests.store.racing_writer", database.service_url, str(number), str(VERSIONS))
            )
            for number in range(WRITERS)
        ]
        assert [read_line(writer) for writer in writers] == ["ready"] * WRITERS
        for writer in writers:
            write_line(writer, "go")
        output = "".join(writer.communicate(timeout=60)[0] for writer in writers)
        assert [writer.returncode for writer in writers] == [0] * WRITERS

    won = [[int(word) for word in line.split()] for line in output.splitlines()]
    # Each version has one winner, at the reported position. No other process wrote an event.
    assert sorted(version for version, _ in won) == list(range(1, VERSIONS + 1))
    written = log.load({SUBJECT: 0})[SUBJECT]
    assert [[recorded.version, recorded.position] for recorded in written] == sorted(won)
    assert [recorded.position for recorded in written] == list(range(1, VERSIONS + 1))
