"""Rate limits for requests. Each process counts separately."""

from __future__ import annotations

from typing import Final

from api.moving_window import MovingWindow
from domain.errors import TooOften

# For unknown tokens from one address, because each makes the feed read up to the end of the log.
UNKNOWN_TOKENS_PER_SECOND: Final = 20


class Rates:
    """`per_second` is the limit of each user and each lab controller; 0 means no limit."""

    def __init__(self, per_second: int) -> None:
        self._callers = MovingWindow(per_second, 1.0) if per_second else None
        self._unknown_tokens = MovingWindow(UNKNOWN_TOKENS_PER_SECOND, 1.0)

    def take(self, caller: str) -> None:
        """Count a request of a caller, by `Principal.limit_key`. Raises TooOften above the limit."""
        if self._callers is not None:
            _take(self._callers, caller)

    def take_unknown_token(self, address: str) -> None:
        """Count a request with an unknown token, by its address. Raises TooOften above the limit."""
        _take(self._unknown_tokens, address)


def _take(window: MovingWindow, key: str) -> None:
    if window.take(key):
        raise TooOften(f"{window.amount} requests a second are allowed", 1)
