"""How long a client keeps asking before it reports the failure."""

from __future__ import annotations

from dataclasses import dataclass

# The server is there but cannot answer now: away from its database, or its read model behind.
PASSING = frozenset({429, 503, 504})


@dataclass(frozen=True)
class Patience:
    """`attempts` bounds failed connections, `seconds` the waiting altogether."""

    attempts: int = 5
    seconds: float = 30.0
    first_seconds: float = 0.1
    longest_seconds: float = 5.0

    def pause(self, failed: int) -> float:
        """Seconds to wait after so many failures in a row: doubling, bounded."""
        return min(self.first_seconds * 2.0 ** min(failed - 1, 30), self.longest_seconds)

    def after_failure(self, failed: int, waited_seconds: float) -> float | None:
        """Seconds until the next attempt at a server that does not answer; None: give up."""
        pause = self.pause(failed)
        return None if failed >= self.attempts or waited_seconds + pause > self.seconds else pause

    def after_refusal(self, retry_after: str | None, failed: int, waited_seconds: float) -> float | None:
        """Seconds the server asks for. Asking earlier would not help, so a longer wait than ours: give up."""
        pause = _seconds(retry_after)
        pause = self.pause(failed) if pause is None else pause
        return None if waited_seconds + pause > self.seconds else pause


# Of somebody who follows what may take days.
PERSISTENT = Patience(attempts=10_000, seconds=600.0)
# Of who would rather do without an answer than wait for it.
AT_ONCE = Patience(attempts=1, seconds=0.0)


def _seconds(header: str | None) -> float | None:
    """`Retry-After` in its seconds form; the date form is left to our own pace."""
    seconds = (header or "").strip()
    return float(seconds) if seconds.isdecimal() else None
