"""Fixtures that run the command line against the server of `loopback`, and against a real service."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli import main
from tests.cli.loopback import LoopbackServer, serving
from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running

REAL_SECONDS = 180


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with serving() as made:
        yield made


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use UTC as the local time zone."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def run(server: LoopbackServer, tmp_path: Any) -> Callable[..., Result]:
    """Run the command line against the server."""

    def run(*arguments: str, **more: Any) -> Result:
        environment = {
            "LABLEDGER_URL": server.url,
            "LABLEDGER_TOKEN": "ll_test",
            "LABLEDGER_DATA": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        }
        return CliRunner(env=environment | more.pop("env", {})).invoke(main, arguments, **more)

    return run


@pytest.fixture(scope="package")
def service(servers: ServerPool) -> Iterator[Running]:
    """Run a service with the sample lab for all tests here."""
    with servers.databases("embedded").fresh() as database, running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        yield started


@contextmanager
def _bounded() -> Iterator[None]:
    """Limit the time of a test: one that waits for a dead service fails."""

    def too_long(*_: Any) -> None:
        raise TimeoutError(f"took longer than {REAL_SECONDS} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(REAL_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def real(service: Running, tmp_path: Any) -> Callable[..., Result]:
    """Run the command line against the real service, by default as its admin."""

    def run(*arguments: str, **more: Any) -> Result:
        unset = dict.fromkeys(("LABLEDGER_DATABASE_URL", "LABLEDGER_DATA"))
        environment = {**service.environment, **unset, "XDG_CONFIG_HOME": str(tmp_path / "config")}
        with _bounded():
            return CliRunner(env=environment | more.pop("env", {})).invoke(main, arguments, **more)

    return run
