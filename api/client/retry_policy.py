"""The retry policy: the number of attempts, and the pauses between them."""

from __future__ import annotations

from dataclasses import dataclass

# Statuses of temporary failures: a limit, an unavailable database, or read models that lag behind.
TEMPORARY_STATUSES = frozenset({429, 503, 504})


@dataclass(frozen=True)
class RetryPolicy:
    """`attempts` is the maximum number of failed connections, `seconds` the maximum sum of all pauses."""

    attempts: int = 5
    seconds: float = 30.0
    first_seconds: float = 0.1
    longest_seconds: float = 5.0

    def pause(self, failed: int) -> float:
        """Return the pause after this number of consecutive failures, which doubles up to a maximum."""
        return min(self.first_seconds * 2.0 ** min(failed - 1, 30), self.longest_seconds)

    def after_failure(self, failed: int, waited_seconds: float) -> float | None:
        """Return the pause after an attempt without a response, None to give up."""
        pause = self.pause(failed)
        return None if failed >= self.attempts or waited_seconds + pause > self.seconds else pause

    def after_refusal(self, retry_after: str | None, failed: int, waited_seconds: float) -> float | None:
        """Return the pause of the server's Retry-After, else `pause(failed)`; None to give up."""
        pause = _seconds(retry_after)
        pause = self.pause(failed) if pause is None else pause
        return None if waited_seconds + pause > self.seconds else pause


# For following a stream, which may take days.
PERSISTENT = RetryPolicy(attempts=10_000, seconds=600.0)
# For optional requests, which are sent once.
NO_RETRIES = RetryPolicy(attempts=1, seconds=0.0)


def _seconds(header: str | None) -> float | None:
    """Return the seconds of a `Retry-After` header, None for its date form or none."""
    seconds = (header or "").strip()
    return float(seconds) if seconds.isdecimal() else None
