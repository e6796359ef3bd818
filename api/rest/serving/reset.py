"""The end of a connection at once, for one who does not read."""

from __future__ import annotations

import socket
import struct
from typing import Any

_RESET = struct.pack("ii", 1, 0)


def reset(transport: Any) -> None:
    """What was not taken is given up, here and in the kernel, which would go on trying to deliver it."""
    line = transport.get_extra_info("socket")
    if line is not None:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    transport.abort()
