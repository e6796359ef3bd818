"""Timeouts of connections by phase."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

# The request timeout starts again after this many bytes of a body or answer.
PROGRESS_BYTES = 64 << 10
# The time in which a client that is still sending can read its answer, before the connection is reset.
CLOSING_SECONDS = 2.0


class Phase(Enum):
    """The phase of a connection."""

    # Waiting for a request, or the rest of its head.
    HEAD = auto()
    BODY = auto()
    ANSWER = auto()
    # Between requests.
    IDLE = auto()
    # The last answer was sent; further input is ignored.
    CLOSING = auto()


@dataclass(frozen=True)
class ClientTimeouts:
    request_seconds: float
    keepalive_seconds: float

    def seconds(self, phase: Phase) -> float:
        """Return the maximum time of a phase without progress."""
        match phase:
            case Phase.HEAD | Phase.BODY:
                return self.request_seconds
            case Phase.IDLE:
                return self.keepalive_seconds
            case Phase.CLOSING:
                return CLOSING_SECONDS
            case Phase.ANSWER:
                return float("inf")
