"""PostgreSQL, one of its backends, or a writer is killed, while it writes and between writes."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from store.event_log import EventLog
from tests.harness.appends import positions, whole_log
from tests.harness.databases import TestDatabase
from tests.harness.programs import Program, program, read_line
from tests.harness.waiting import wait_until
from tests.store.crashes.conftest import Mortal
from tests.store.crashes.writer import command

Acknowledged = dict[int, int]
"""Number of a command -> first position of its commit."""


def listen(writer: Program, commands: int) -> Acknowledged:
    """Return the next acknowledgements, fewer if the writer has ended."""
    lines = [line for line in (read_line(writer) for _ in range(commands)) if line]
    return {int(number): int(position) for number, position in map(str.split, lines)}


def listen_to_the_end(writer: Program) -> Acknowledged:
    assert writer.stdout is not None
    whole = [line.split() for line in writer.stdout if line.endswith("\n")]
    return {int(number): int(position) for number, position in whole}


def assert_there_once_and_in_order(log: EventLog, acknowledged: Acknowledged) -> None:
    written = whole_log(log)
    assert [recorded.position for recorded in written] == list(range(1, len(written) + 1))
    numbers = [int(recorded.subject.partition("/")[2]) for recorded in written]
    # Whole commits of two events, each command once, in the order of submission.
    assert numbers == [number for number in range(len(written) // 2) for _ in range(2)]
    first = {number: written[2 * number].position for number in range(len(written) // 2)}
    assert acknowledged.items() <= first.items()


WRITER = "tests.store.crashes.writer"
COMMANDS = 1_500
KILLS = 2

WRITERS_BACKEND = b"""
SELECT pid FROM pg_stat_activity WHERE query LIKE '%log.append%' AND pid <> pg_backend_pid()
"""


def kill_postmaster(mortal: Mortal) -> None:
    pid = mortal.cluster.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    mortal.cluster.start()


def kill_writers_backend(mortal: Mortal) -> None:
    """Kill a backend. The postmaster then ends all others and recovers."""
    with psycopg.connect(mortal.url, autocommit=True) as session:
        (pid,) = wait_until(lambda: session.execute(WRITERS_BACKEND).fetchone())
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: answers(mortal.url))


def answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.soak
@pytest.mark.parametrize("kill", [kill_postmaster, kill_writers_backend])
def test_append__postgres_killed_while_it_writes__acknowledged_there_once_and_in_order(
    mortal: Mortal, kill: Callable[[Mortal], None]
) -> None:
    dice = random.Random(20261121)
    acknowledged: Acknowledged = {}
    with program(WRITER, mortal.url, str(COMMANDS)) as writer:
        for _ in range(KILLS):
            acknowledged |= listen(writer, 100)
            time.sleep(dice.uniform(0, 0.02))
            kill(mortal)
        acknowledged |= listen_to_the_end(writer)

    assert sorted(acknowledged) == list(range(COMMANDS)), "the writer finished, and no append was refused"
    with closing(EventLog(mortal.url)) as log:
        assert_there_once_and_in_order(log, acknowledged)
        again = [positions(log.append([command(number)])[0])[0] for number in range(0, COMMANDS, 50)]
        assert again == [acknowledged[number] for number in range(0, COMMANDS, 50)]
        assert log.end() == 2 * COMMANDS


@pytest.mark.soak
def test_append__postmaster_killed_between_statements__acknowledged_there(mortal: Mortal) -> None:
    """An idle server writes nothing more, so the acknowledged commits must be written already."""
    acknowledged: Acknowledged = {}
    for number in range(3):
        with closing(EventLog(mortal.url)) as log:
            acknowledged[number] = positions(log.append([command(number)])[0])[0]
        kill_postmaster(mortal)

    with closing(EventLog(mortal.url)) as log:
        assert_there_once_and_in_order(log, acknowledged)


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
