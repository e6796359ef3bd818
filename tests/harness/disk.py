"""A small disk for a database, which a test can fill to the last byte."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE_MB = 768
FILLER = "filler"
PAGE_BYTES = 4096


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / FILLER

    def free_bytes(self) -> int:
        there = os.statvfs(self.folder)
        return there.f_bavail * there.f_frsize

    def fill(self) -> None:
        """Fill the disk. A server may free space afterwards: call this again."""
        with self._filler.open("ab") as file:
            asked = self.free_bytes()
            while asked >= PAGE_BYTES:
                end = os.fstat(file.fileno()).st_size
                try:
                    os.posix_fallocate(file.fileno(), end, asked)
                except OSError:
                    # The call allocates all or nothing, and another process has taken a page meanwhile.
                    asked //= 2

    def make_room(self) -> None:
        self._filler.unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk | None]:
    """Yield a file system in memory on a new folder; None if this process may not mount one."""
    folder.mkdir()
    if not may_mount():
        yield None
        return
    size = f"size={SIZE_MB}m,mode=755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "labledger-soak", str(folder)], check=True)
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def may_mount() -> bool:
    """Try to mount: root in a container may lack the right."""
    if os.geteuid() != 0:
        return False
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return tried.returncode == 0
