"""A limit on logins without a valid body from one address, in this process."""

from __future__ import annotations

from typing import Final

from api.moving_window import MovingWindow
from domain.errors import TooOften

# A login counts as faulty until its body has been validated.
MAX_FAULTY: Final = 100
WITHIN_SECONDS: Final = 60


class FaultyLogins:
    """Count logins whose body has not been found valid, by address. For one event loop."""

    def __init__(self) -> None:
        self._window = MovingWindow(MAX_FAULTY, WITHIN_SECONDS)

    def begin(self, address: str) -> None:
        """Count a login. Raises TooOften after MAX_FAULTY logins without a valid body."""
        if seconds := self._window.take(address):
            raise TooOften(f"at most {MAX_FAULTY} logins without a valid body are allowed a minute", seconds)

    def confirm_valid(self, address: str) -> None:
        """Remove a login with a valid body from the count."""
        self._window.give_back(address)
