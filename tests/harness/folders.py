"""Folders for temporary files of tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 << 30
RUN_FOLDER = "LABLEDGER_TEST_FOLDER"


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
def run_folder() -> Iterator[None]:
    """Keep the public folders of a test run in one folder, and remove what its processes left there.

    A process of pytest-xdist that is killed, or stops too slowly after Ctrl-C, leaves its servers running.
    """
    with _public_folder() as folder:
        os.environ[RUN_FOLDER] = str(folder)
        yield
        for left in folder.glob("*/postgresql"):
            # Imported here, because runs of pure tests need no server.
            from runtime.embedded.cluster import Cluster

            Cluster(left).remove()


def public_folder() -> AbstractContextManager[Path]:
    """Return a folder that every user may enter: PostgreSQL needs this, and folders of pytest forbid it."""
    return _public_folder(os.environ.get(RUN_FOLDER))


@contextmanager
def _public_folder(parent: str | None = None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="labledger-tests-", dir=parent) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
