"""The outcome of an attempt to send a message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeliveryOutcome:
    """Sent if `error` is None.

    Otherwise it is tried again, unless the failure `is_final`. If `is_of_host`, the server of the recipient
    failed rather than this message, so that other messages to it wait, too. `is_dropped`: the recipient is
    gone, so nothing has failed.
    """

    error: str | None = None
    is_final: bool = False
    is_of_host: bool = False
    is_dropped: bool = False


SENT = DeliveryOutcome()


def dropped(reason: str) -> DeliveryOutcome:
    """Return the outcome for a message that nobody waits for any more."""
    return DeliveryOutcome(reason, is_final=True, is_dropped=True)
