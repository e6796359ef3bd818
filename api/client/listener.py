"""The user whose process listens on a port of this machine, according to the kernel."""

from __future__ import annotations

import pwd
from pathlib import Path

from domain.errors import LabledgerError

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ADDRESS, _STATE, _UID = 1, 3, 7
_LISTENS = "0A"


def require_listener(url: str, port: int, uid: int) -> None:
    """Raise NotTheServer if a process of another user listens on the port. Without /proc, check nothing."""
    others = sorted(_listeners(port) - {uid})
    if others:
        raise NotTheServer(url, _name(others[0]), _name(uid))


def _listeners(port: int) -> set[int]:
    ending = f":{port:04X}"
    lines = (line.split() for table in TABLES if table.exists() for line in table.read_text().splitlines())
    listening = (line for line in lines if line[_STATE] == _LISTENS and line[_ADDRESS].endswith(ending))
    return {int(line[_UID]) for line in listening}


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"number {uid}"


class NotTheServer(LabledgerError):
    """A process of another user listens on the port of the server."""

    def __init__(self, url: str, found: str, expected: str) -> None:
        owners = f"a process of user {found} listens there, the server belongs to {expected}"
        self.detail = f"{url}: {owners}; nothing was sent"
        super().__init__(f"{self.title}: {self.detail}")
