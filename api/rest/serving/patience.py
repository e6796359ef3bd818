"""How long a client is waited for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

# Of what is sent and taken slowly, so much has to come or go in the time of a request.
PROGRESS_BYTES = 64 << 10
# For an answer to be taken by one who still sends, and hears nothing after a reset.
PARTING_SECONDS = 2.0


class Phase(Enum):
    """Where a connection is."""

    # A request is awaited, or the rest of its head.
    HEAD = auto()
    BODY = auto()
    ANSWER = auto()
    # Between requests.
    IDLE = auto()
    # All is said; what still comes is not listened to.
    PARTING = auto()


@dataclass(frozen=True)
class Patience:
    request_seconds: float
    keepalive_seconds: float

    def seconds(self, phase: Phase) -> float:
        """The most for which a phase may go on without an end or progress."""
        match phase:
            case Phase.HEAD | Phase.BODY:
                return self.request_seconds
            case Phase.IDLE:
                return self.keepalive_seconds
            case Phase.PARTING:
                return PARTING_SECONDS
            case Phase.ANSWER:
                return float("inf")
