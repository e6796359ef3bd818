"""The outcome of an attempt to send a message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DeliveryOutcome:
    """The message was sent if `error` is None.

    Otherwise it is tried again, unless the failure `is_final`. `is_server_failure`: the server of the
    recipient failed rather than this message, so that other messages to the server wait, too. `is_dropped`:
    the recipient is gone, so nothing has failed.
    """

    error: str | None = None
    is_final: bool = False
    is_server_failure: bool = False
    is_dropped: bool = False


SUCCESS = DeliveryOutcome()


def dropped(reason: str) -> DeliveryOutcome:
    """Return the outcome for a message whose recipient is gone."""
    return DeliveryOutcome(reason, is_final=True, is_dropped=True)
