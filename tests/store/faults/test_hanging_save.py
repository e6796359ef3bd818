"""Fault 2: a big batch is saved over a unix socket while its backend is busy for a moment."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator

import pytest

from api import database_setup
from runtime.settings import Settings
from tests.harness.databases import register_topics_of_tests
from tests.harness.programs import Program, program, read_line, write_line
from tests.harness.servers import FAST, cluster

PAUSE_SECONDS = 0.5
SILENCE_SECONDS = 4.0  # twenty times what the save takes
PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def socket_url() -> Iterator[str]:
    """Yield the URL of a server for this test alone."""
    with cluster(FAST) as made:
        url = made.start().owner_url
        database_setup.migrate(Settings.read({}, database_url=url))
        register_topics_of_tests(url)
        yield url


def test_insert_events__big_batch_and_backend_paused__hangs_in_stock_alone(
    kind: str, socket_url: str
) -> None:
    with program("tests.store.faults.big_save", kind, socket_url) as saving:
        backend = int(read_line(saving))
        os.kill(backend, signal.SIGSTOP)
        try:
            write_line(saving, "go")
            time.sleep(PAUSE_SECONDS)
        finally:
            os.kill(backend, signal.SIGCONT)
        output = hear_within(saving, SILENCE_SECONDS if kind == "stock" else PATIENCE_SECONDS)

    assert output == (None if kind == "stock" else "saved")


def hear_within(process: Program, seconds: float) -> str | None:
    readable, _, _ = select.select([process.stdout], [], [], seconds)
    return read_line(process) if readable else None
