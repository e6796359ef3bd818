"""Free TCP ports of this machine."""

from __future__ import annotations

import socket
import time

RETRY_SECONDS = 0.02


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    return _bind(host, port) is not None


def is_free_within(seconds: float, port: int, host: str) -> bool:
    """Return whether the port becomes free in time. The kernel releases a killed process's port late."""
    deadline = time.monotonic() + seconds
    while not is_free(port, host):
        if time.monotonic() > deadline:
            return False
        time.sleep(RETRY_SECONDS)
    return True


def any_free(host: str = "127.0.0.1") -> int:
    """Return a free port. Another process may take it before the caller uses it."""
    port = _bind(host, 0)
    if port is None:
        raise OSError(f"no free port on {host}")
    return port


def _bind(host: str, port: int) -> int | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return None
        return int(probe.getsockname()[1])
