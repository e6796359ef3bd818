"""Bounds on logins without a readable body from one address, in this process."""

from __future__ import annotations

from typing import Final

from api.moving_window import MovingWindow
from domain.errors import TooOften

# Logins count as faulty until their body is read.
MAX_FAULTY: Final = 100
WITHIN_SECONDS: Final = 60


class FaultyLogins:
    """Count logins without a valid body so far, by address. For one event loop."""

    def __init__(self) -> None:
        self._of_address = MovingWindow(MAX_FAULTY, WITHIN_SECONDS)

    def begin(self, address: str) -> None:
        """Count a login. Raise TooOften when too many within a minute were unsound."""
        if seconds := self._of_address.take(address):
            raise TooOften(
                f"at most {MAX_FAULTY} logins without a valid body are allowed a minute",
                seconds,
            )

    def was_sound(self, address: str) -> None:
        """Stop counting a login whose body was sound."""
        self._of_address.give_back(address)
