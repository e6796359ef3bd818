"""Prestarted services: they wait for their turn, and end with their parent."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runtime.processes.prestart import give_turn
from runtime.processes.programs import WITH_SPARE, program
from runtime.processes.supervisor import end, spawn
from runtime.settings import Settings
from tests.harness.databases import TestDatabase
from tests.harness.waiting import wait_until

PATIENCE_SECONDS = 60


@contextmanager
def waiting(command: str, database: TestDatabase, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    settings = Settings(database_url=database.service_url, port=0)
    with log.open("wb") as output:
        process = spawn(program(command, settings), output=output, waiting=True)
        try:
            yield process
        finally:
            end(process, PATIENCE_SECONDS, command)


@pytest.mark.parametrize("command", WITH_SPARE)
def test_spare__given_its_turn__begins(command: str, database: TestDatabase, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with waiting(command, database, log) as process:
        assert give_turn(process)
        wait_until(lambda: '"started"' in log.read_text(), "it to begin", PATIENCE_SECONDS)


@pytest.mark.parametrize("command", WITH_SPARE)
def test_spare__its_supervisor_is_gone__ends_without_having_begun(
    command: str, database: TestDatabase, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with waiting(command, database, log) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(PATIENCE_SECONDS) == 0
    assert log.read_text() == ""
