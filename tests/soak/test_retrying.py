"""Retries of the soak's clients, and its readiness checks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import cast

import httpx
import pytest

from tests.acceptance.up import Up
from tests.cli.loopback import HANG_UP, Answer, LoopbackServer, serving
from tests.harness.running import free_port
from tests.soak.machine import Machine
from tests.soak.retrying_transport import RetryingTransport, Stopped

CHECKS = {"database": {"ok": True}}


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """Return a server that refuses at first, and then is ready."""
    with serving() as made:
        made.on("GET", "/readyz", Answer(status=HANG_UP), Answer(status=503), Answer({"checks": CHECKS}))
        yield made


def nowhere() -> str:
    return f"http://127.0.0.1:{free_port()}"


def test_retries__nobody_there_or_busy__asks_until_it_is_answered(server: LoopbackServer) -> None:
    with httpx.Client(transport=RetryingTransport([nowhere(), server.url], threading.Event())) as client:
        assert client.get(f"{server.url}/readyz").json() == {"checks": CHECKS}
    assert len(server.asked) == 3


def test_retries__stopped__sends_no_more() -> None:
    stop = threading.Event()
    stop.set()
    with httpx.Client(transport=RetryingTransport([nowhere()], stop)) as client, pytest.raises(Stopped):
        client.get("http://machine.example.com")


def test_machine__asked_whether_it_is_ready__has_its_checks_once_it_is(server: LoopbackServer) -> None:
    machine = Machine("first", cast(Up, None), server.url)
    assert machine.ready() is None
    assert machine.ready() is None
    assert machine.ready() == CHECKS
