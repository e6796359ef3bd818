from __future__ import annotations

from pathlib import Path

import pytest

from runtime.embedded.locks import LockHeld, exclusive


def test_exclusive__held_by_another__tells_the_holders_note(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with exclusive(lock) as leave_note:
        leave_note("http://127.0.0.1:8080")
        with pytest.raises(LockHeld) as taken, exclusive(lock, wait=False):
            pytest.fail("two hold the lock")
    assert taken.value.note == "http://127.0.0.1:8080"


def test_exclusive__given_back__can_be_taken_without_the_old_note(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with exclusive(lock) as leave_note:
        leave_note("a long note from before")
    with exclusive(lock, wait=False):
        assert lock.read_text() == ""
