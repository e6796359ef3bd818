"""The turn to compute metrics that take longer than a scrape may, and their last values."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import NamedTuple

import orjson

from store.event_log import EventLog
from store.sql import SQL


class UnplacedCount(NamedTuple):
    """The number of unplaced recipes of a priority with a current reason, by its code."""

    reason: str
    priority: str
    recipes: int


class SlowMetricTurns:
    """The turns of one process. Each method is one query, blocks, and raises DatabaseAway."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._holder = uuid.uuid4().hex

    def take(self) -> int | None:
        """Take the turn if it is due; return the judged position. None if it is not due for this process."""
        rows = self._log.rows(SQL["take_turn_of_slow_metrics"], {"holder": self._holder})
        return int(rows[0][0]) if rows else None

    def save_judged(self, position: int) -> bool:
        """Save the judged position; return False if another process has taken the turn since."""
        params = {"holder": self._holder, "position": position}
        return bool(self._log.rows(SQL["save_judged_position"], params))

    def save_counts(self, counts: Sequence[UnplacedCount], next_seconds: float) -> None:
        """Save the counts, and end the turn: the next one is due after `next_seconds`."""
        content = orjson.dumps([each._asdict() for each in counts]).decode()
        params = {"holder": self._holder, "counts": content, "seconds": next_seconds}
        self._log.rows(SQL["save_counts_of_reasons"], params)
