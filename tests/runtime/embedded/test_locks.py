"""Locks and ports of the embedded server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.embedded.locks import LockHeld, exclusive
from runtime.embedded.ports import is_free_within
from runtime.locks import LockClass

FOLDER = LockClass.SERVICE_FOLDER


def test_exclusive__held_by_another__tells_the_holders_note(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with exclusive(FOLDER, lock) as leave_note:
        leave_note("http://127.0.0.1:8080")
        with pytest.raises(LockHeld) as taken, exclusive(FOLDER, lock, wait=False):
            pytest.fail("two hold the lock")
    assert taken.value.note == "http://127.0.0.1:8080"


def test_exclusive__given_back__can_be_taken_without_the_old_note(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with exclusive(FOLDER, lock) as leave_note:
        leave_note("a long note from before")
    with exclusive(FOLDER, lock, wait=False):
        assert lock.read_text() == ""


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
