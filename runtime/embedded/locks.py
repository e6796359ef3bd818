"""File locks for one process at a time, which the kernel releases when the process ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.locks import LockClass


class LockHeld(Exception):
    """Another process holds the lock. `note` is the text that it wrote to the file."""

    def __init__(self, note: str) -> None:
        self.note = note
        super().__init__(note)


@contextmanager
def exclusive(lock_class: LockClass, path: Path, *, wait: bool = True) -> Iterator[Callable[[str], None]]:
    """Hold the lock on a file. The yielded function writes the note that others get with `LockHeld`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+", encoding="utf-8") as file:
        try:
            lock_class.lock_file(file, wait=wait)
        except BlockingIOError:
            raise LockHeld(file.read()) from None

        def leave_note(note: str) -> None:
            file.seek(0)
            file.truncate()
            file.write(note)
            file.flush()

        leave_note("")
        yield leave_note
