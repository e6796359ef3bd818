"""State of processes, as seen from outside."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def is_alive(pid: int | None) -> bool:
    """Return whether the process runs; a zombie does not, since only its parent or init removes it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(parent: int) -> list[int]:
    with suppress(OSError):
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        return [pid for pid in map(int, text.split()) if is_alive(pid)]
    return []
