"""The reset of a connection whose client does not read."""

from __future__ import annotations

import socket
import struct
from typing import Any

_RESET = struct.pack("ii", 1, 0)


def reset(transport: Any) -> None:
    """Reset the connection and discard unsent data, also that in the kernel."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    transport.abort()
