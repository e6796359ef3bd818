"""Folders for temporary files of tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 << 30


def keep_temporary_files_in_memory() -> None:
    """Keep them in memory: tests create hundreds of databases, and files on a disk are most of their cost.

    Do nothing if TMPDIR is set, if memory is short, or if no program may be started from there.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    there = os.statvfs(MEMORY)
    if there.f_bavail * there.f_frsize >= ROOM_BYTES and not there.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


@contextmanager
def public_folder() -> Iterator[Path]:
    """Yield a folder that every user may enter: PostgreSQL needs this, and folders of pytest forbid it."""
    with tempfile.TemporaryDirectory(prefix="labledger-tests-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
