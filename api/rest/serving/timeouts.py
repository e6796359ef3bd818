"""Timeouts for clients."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

# The bytes of a slow body or answer that have to arrive or leave within the request timeout.
PROGRESS_BYTES = 64 << 10
# The time for a client that still sends to read its answer before the connection is reset.
PARTING_SECONDS = 2.0


class Phase(Enum):
    """The phase of a connection."""

    # Waiting for a request, or the rest of its head.
    HEAD = auto()
    BODY = auto()
    ANSWER = auto()
    # Between requests.
    IDLE = auto()
    # The last answer was sent; further input is ignored.
    PARTING = auto()


@dataclass(frozen=True)
class ClientTimeouts:
    request_seconds: float
    keepalive_seconds: float

    def seconds(self, phase: Phase) -> float:
        """Return the maximum time of a phase without an end or progress."""
        match phase:
            case Phase.HEAD | Phase.BODY:
                return self.request_seconds
            case Phase.IDLE:
                return self.keepalive_seconds
            case Phase.PARTING:
                return PARTING_SECONDS
            case Phase.ANSWER:
                return float("inf")
