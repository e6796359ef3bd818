"""A plain socket to the PostgreSQL server of a URL, for a relay between the server and a client."""

from __future__ import annotations

import socket

from psycopg import conninfo


def server_socket(url: str) -> socket.socket:
    """Connect by TCP, or by a Unix socket if the host is a folder."""
    given = conninfo.conninfo_to_dict(url)
    host, port = str(given.get("host") or "127.0.0.1"), int(given.get("port") or 5432)
    if not host.startswith("/"):
        return socket.create_connection((host, port), timeout=5)
    made = socket.socket(socket.AF_UNIX)
    try:
        made.connect(f"{host}/.s.PGSQL.{port}")
    except OSError:
        made.close()
        raise
    return made
