"""Looking at processes from outside."""

from __future__ import annotations

from pathlib import Path


def is_alive(pid: int | None) -> bool:
    """Zombies do not count: who reaps an orphan is up to the machine."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
