"""The running PostgreSQL server of a data folder, according to its pid file and the process of that pid."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")

# Lines of postmaster.pid, as PostgreSQL's miscadmin.h numbers them.
_PID, _PORT, _SOCKETS, _STATE = 0, 3, 4, 7


@dataclass(frozen=True)
class Postmaster:
    pid: int
    port: int
    sockets: str
    is_ready: bool


def running_postmaster(data: Path) -> Postmaster | None:
    """Return the server on this data folder, if any. A pid file alone may be left from a killed server."""
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        pid, port, sockets = int(lines[_PID]), int(lines[_PORT]), lines[_SOCKETS]
    except (FileNotFoundError, ValueError, IndexError):
        return None
    if not _serves(pid, data):
        return None
    state = lines[_STATE].strip() if len(lines) > _STATE else "starting"
    return Postmaster(pid, port, sockets, state == "ready")


def _serves(pid: int, data: Path) -> bool:
    """Return whether the process was started on this folder, because pids are reused."""
    if not _PROC.is_dir():
        return _is_alive(pid)
    try:
        arguments = (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return os.fsencode(data) in arguments


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
