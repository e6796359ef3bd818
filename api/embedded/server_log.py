"""What the server said: all that explains a start that failed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MOST_BYTES = 8 * 1024 * 1024


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
        """Keep one old log. Only while the server is down: it holds the file open by its descriptor."""
        if self.size() > MOST_BYTES:
            self.path.replace(self.path.with_suffix(".log.1"))
