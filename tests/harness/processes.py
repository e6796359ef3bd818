"""State of processes, as seen from outside."""

from __future__ import annotations

from pathlib import Path


def is_alive(pid: int | None) -> bool:
    """Return whether the process runs; a zombie does not, since only its parent or init removes it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
