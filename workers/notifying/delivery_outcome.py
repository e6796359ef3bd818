"""The outcome of an attempt to send a message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeliveryOutcome:
    """Sent if `error` is None.

    Otherwise it is tried again, unless the failure `is_final`. If `is_of_host`, the server of the recipient
    failed rather than this message, so that other messages to it wait, too.
    """

    error: str | None = None
    is_final: bool = False
    is_of_host: bool = False


SENT = DeliveryOutcome()
