"""How often anybody may ask, so that nobody keeps out the others. Each process counts for itself."""

from __future__ import annotations

from typing import Final

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from domain.errors import TooOften

# Of tokens that nobody knows, from one address: each of them is looked for at the end of the log.
STRANGERS_PER_SECOND: Final = 20


class Rates:
    """`per_second` is for each token, 0 for no bound."""

    def __init__(self, per_second: int) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._known = RateLimitItemPerSecond(per_second) if per_second else None
        self._stranger = RateLimitItemPerSecond(STRANGERS_PER_SECOND)

    def take(self, token_id: str) -> None:
        """Count a request. Raises TooOften beyond what is allowed."""
        self._hit(self._known, f"token/{token_id}")

    def take_stranger(self, address: str) -> None:
        """The same for a token that nobody knows."""
        self._hit(self._stranger, f"address/{address}")

    def _hit(self, allowed: RateLimitItemPerSecond | None, who: str) -> None:
        if allowed is not None and not self._limiter.hit(allowed, who):
            raise TooOften(f"{allowed.amount} requests a second are allowed", 1)
