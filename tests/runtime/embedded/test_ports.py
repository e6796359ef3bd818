"""The wait for a port that another process still has."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from runtime.embedded.ports import is_free_within

HOST = "127.0.0.1"


@pytest.fixture
def taken() -> Iterator[socket.socket]:
    with socket.create_server((HOST, 0)) as listening:
        yield listening


def test_port__given_back_meanwhile__is_free(taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    giving_back = threading.Timer(0.1, taken.close)
    giving_back.start()
    assert is_free_within(30, port, HOST)
    giving_back.join()


def test_port__kept_by_another__is_not_free(taken: socket.socket) -> None:
    assert not is_free_within(0.05, taken.getsockname()[1], HOST)
