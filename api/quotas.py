"""Quotas of users: bytes of log a day, unfinished recipes, live tokens (docs/decisions/0024)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from domain.errors import Refused, TooOften
from store.requests import AppendRequest, Committed, Outcome


@dataclass(frozen=True)
class QuotaLimits:
    """Maximum amounts for each user; 0 means no quota."""

    log_bytes_per_day: int = 0
    unfinished_recipes: int = 0
    live_tokens: int = 0


class _Written(NamedTuple):
    """The bytes of log that a user has written on one day, and the end of that day."""

    ends_at: datetime
    size_bytes: int
    ends_at_monotonic: float


class Quotas:
    """Check quotas in one process, for one event loop and its threads.

    Each commit returns the counts of the database, over all processes, so a check costs no query. The counts
    here may lack changes of other processes, so a user can exceed a quota by concurrent requests to several
    processes.
    """

    def __init__(
        self, limits: QuotaLimits = QuotaLimits(), monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.limits = limits
        self._monotonic = monotonic
        self._written: dict[str, _Written] = {}
        self._unfinished: dict[str, int] = {}
        # Recipes whose commits are under way, by owner.
        self._reserved = Counter[str]()

    def store_counts(self, append: AppendRequest, outcome: Outcome) -> None:
        """Store the counts that a commit returned."""
        if not isinstance(outcome, Committed):
            return
        if outcome.author_bytes is not None:
            midnight = _midnight_after(outcome.recorded_at)
            # The day is that of the database: the clock of this process may be wrong.
            seconds_left = (midnight - outcome.recorded_at).total_seconds()
            latest = _Written(midnight, outcome.author_bytes, self._monotonic() + seconds_left)
            # Commits may return out of order, so the latest day and then the largest count is kept.
            self._written[append.actor] = max(self._written.get(append.actor, latest), latest)
        if outcome.unfinished_count is not None:
            self._unfinished.update(dict.fromkeys(append.new_recipes, outcome.unfinished_count))

    def require_log_bytes(self, user: str) -> None:
        """Raise TooOften if the user has reached the quota of log bytes for the day."""
        quota, written = self.limits.log_bytes_per_day, self._written.get(user)
        if not quota or written is None or written.size_bytes < quota:
            return
        seconds = written.ends_at_monotonic - self._monotonic()
        if seconds > 0:
            raise TooOften(
                f"{user} has written {written.size_bytes:,} bytes of log today, the quota is {quota:,} bytes "
                f"a day; the next day begins at {written.ends_at:%Y-%m-%dT%H:%M:%SZ}",
                seconds,
            )

    @contextmanager
    def reservation(self) -> Iterator[Counter[str]]:
        """Return an empty reservation for one commit, which is released when the commit has an outcome."""
        reserved = Counter[str]()
        try:
            yield reserved
        finally:
            self.release(reserved)

    def release(self, reserved: Counter[str]) -> None:
        self._reserved -= reserved
        reserved.clear()

    def reserve_recipes(self, reserved: Counter[str], owner: str, more: int) -> bool:
        """Reserve `more` recipes; return False if that exceeds the quota, or no present count is cached.

        The present count may be lower than the cached one, because recipes have finished since.
        """
        quota, count = self.limits.unfinished_recipes, self._unfinished.get(owner)
        if quota and (count is None or count + self._reserved[owner] + more > quota):
            return False
        reserved[owner] += more
        self._reserved[owner] += more
        return True

    def require_recipes(self, reserved: Counter[str], owner: str, present: int, more: int) -> None:
        """Store the present count and reserve `more` recipes. Raise Refused if they exceed the quota."""
        self._unfinished[owner] = present
        if not self.reserve_recipes(reserved, owner, more):
            others = self._reserved[owner]
            under_way = f", {others:,} more are being submitted" if others else ""
            raise Refused(
                f"{owner} has {present:,} unfinished recipes{under_way} and the job has {more:,}, "
                f"the quota is {self.limits.unfinished_recipes:,}; "
                "submit again when recipes have finished or were cancelled"
            )

    def require_token(self, user: str, ends: Iterable[str | None]) -> None:
        """Raise Refused if the user has reached the quota. `ends` has an item for each live token."""
        quota, expiries = self.limits.live_tokens, list(ends)
        if not quota or len(expiries) < quota:
            return
        first = min((end for end in expiries if end is not None), default=None)
        retry = "after one is revoked" if first is None else f"at {first}, or after one is revoked"
        raise Refused(
            f"{user} has {len(expiries):,} live tokens, the quota is {quota:,}; a new one is possible {retry}"
        )


def _midnight_after(moment: datetime) -> datetime:
    day = moment.astimezone(UTC).date()
    return datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC)
