"""A writer is killed in the middle of its appends."""

from __future__ import annotations

import random
import time

import pytest

from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.programs import program
from tests.store.crashes.acknowledged import (
    Acknowledged,
    assert_there_once_and_in_order,
    listen,
    listen_to_the_end,
)

WRITER = "tests.store.crashes.writer"


@pytest.mark.parametrize(
    "store_database", ["embedded", pytest.param("system", marks=pytest.mark.soak)], indirect=True
)
def test_append__writer_killed__acknowledged_there_once_and_same_ids_get_first_positions(
    log: EventLog, database: TestDatabase
) -> None:
    dice = random.Random(20261121)
    acknowledged: Acknowledged = {}
    for _ in range(3):
        with program(WRITER, database.service_url, "100000") as writer:
            # Go beyond the run before, so that this one sends repeated and new commands.
            received = listen(writer, len(acknowledged) + 100)
            time.sleep(dice.uniform(0, 0.05))
            writer.kill()
            received |= listen_to_the_end(writer)
        assert acknowledged.items() <= received.items(), "the same command ids got the first positions"
        acknowledged = received

    assert_there_once_and_in_order(log, acknowledged)
