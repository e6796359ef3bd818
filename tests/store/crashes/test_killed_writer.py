"""A writer is killed in the middle of its appends."""

from __future__ import annotations

import random
import time

from store.event_log import EventLog
from tests.harness.databases import TestDatabase
from tests.harness.programs import program
from tests.store.crashes.acknowledged import (
    Told,
    assert_there_once_and_in_order,
    listen,
    listen_to_the_end,
)

WRITER = "tests.store.crashes.writer"


def test_append__writer_killed__acknowledged_there_once_and_same_ids_get_first_positions(
    log: EventLog, database: TestDatabase
) -> None:
    dice = random.Random(20261121)
    told: Told = {}
    for _ in range(3):
        with program(WRITER, database.service_url, "100000") as writer:
            # Beyond what the one before had reached, so that known commands and new ones are sent again.
            heard = listen(writer, len(told) + 100)
            time.sleep(dice.uniform(0, 0.05))
            writer.kill()
            heard |= listen_to_the_end(writer)
        assert told.items() <= heard.items(), "the same command ids got the first positions"
        told = heard

    assert_there_once_and_in_order(log, told)
