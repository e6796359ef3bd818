"""Bounds on logins without a readable body from one address, in this process."""

from __future__ import annotations

import math
from typing import Final

from api.moving_window import MovingWindow
from domain.errors import TooOften

# Those that are being read count as well.
MAX_FAULTY: Final = 100
WITHIN_SECONDS: Final = 60


class FaultyLogins:
    """Each login is counted before its body is read, until the body turns out to be sound."""

    def __init__(self) -> None:
        self._of_address = MovingWindow(MAX_FAULTY, WITHIN_SECONDS)

    def begin(self, address: str) -> None:
        """Raise TooOften after too many of them within a minute."""
        if seconds := self._of_address.take(address):
            raise TooOften(f"{MAX_FAULTY} faulty logins a minute are the most", max(1, math.ceil(seconds)))

    def was_sound(self, address: str) -> None:
        self._of_address.give_back(address)
