"""The log of the embedded server: its rotation, and the messages after an offset."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MAX_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class ServerLog:
    path: Path

    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def since(self, offset: int) -> str:
        if not self.path.exists():
            return ""
        return self.path.read_bytes()[offset:].decode(errors="replace").strip()

    def rotate(self) -> None:
        """Move the last `MAX_BYTES` of a log that exceeds them to a file with the suffix `.log.1`.

        The server keeps the file open and appends to it, so the file is emptied, not renamed. Lines that are
        written at that moment may be lost; on a full disk, the old log is lost.
        """
        size = self.size()
        if size <= MAX_BYTES:
            return
        old = self.path.with_suffix(".log.1")
        old.unlink(missing_ok=True)
        with _opened(self.path, os.O_RDWR) as log:
            log.seek(size - MAX_BYTES)
            recent = log.read()
            log.truncate(0)
        with _opened(old, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
            file.write(recent)


def _opened(path: Path, flags: int) -> IO[bytes]:
    """Open a file without following a link, which PostgreSQL's user could put into the folder."""
    mode = "r+b" if flags & os.O_RDWR else "wb"
    return os.fdopen(os.open(path, flags | os.O_NOFOLLOW, 0o600), mode)
