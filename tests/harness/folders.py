"""Where tests put what is temporary."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 << 30


def keep_temporary_files_in_memory() -> None:
    """Databases are made by the hundred, and files on a disk are most of what one costs.

    Not where somebody has named another place, there is little room, or no program may be started.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    there = os.statvfs(MEMORY)
    if there.f_bavail * there.f_frsize >= ROOM_BYTES and not there.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)


@contextmanager
def public_folder() -> Iterator[Path]:
    """One that every user may enter, as PostgreSQL's has to and those of pytest do not let it."""
    with tempfile.TemporaryDirectory(prefix="labledger-tests-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
