"""The computation of the metrics that take longer than a scrape may.

One serving process computes them for all, while its metrics are scraped. A scrape reads the last values.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from api.metrics.slow_metrics import SlowMetrics
from api.rest.context import Principal
from api.rest.current_reasons import counts_answer
from api.rest.judged_estimates import judged_estimates
from api.rest.ports import ExplainParts
from api.rest.views import View
from domain.directory.roles import AUDITOR
from projections.reader import At
from store.slow_metric_turns import SlowMetricTurns, UnplacedCount

POLL_SECONDS: Final = 2.0
MIN_INTERVAL_SECONDS: Final = 30.0
MAX_INTERVAL_SECONDS: Final = 300.0
# The share of the time of an explaining process, which also answers users, unless counting takes over 3 s.
COUNTING_SHARE: Final = 0.01
# The counts are those of a reader who sees all systems.
_PRINCIPAL: Final = Principal("", AUDITOR, None, "")


class SlowMetricsComputation:
    """The computation by one process, in its turns."""

    def __init__(self, parts: ExplainParts, metrics: SlowMetrics, turns: SlowMetricTurns) -> None:
        self._parts = parts
        self._metrics = metrics
        self._turns = turns

    async def take_turn_if_wanted(self) -> None:
        """Do the same as `take_turn` while the metrics of this process are scraped."""
        if self._metrics.is_wanted:
            await self.take_turn()

    async def take_turn(self) -> None:
        """Compute the metrics if it is the turn of this process.

        Raises LabledgerError if the database, the read models or an explaining process do not answer.
        """
        judged_position = await asyncio.to_thread(self._turns.take)
        if judged_position is not None:
            await self._judge(judged_position)
            await self._count()

    async def _judge(self, after: int) -> None:
        self._parts.reader.require_whole()
        upto = self._parts.reader.position
        if upto > after:
            outcomes = await judged_estimates(self._parts, after, upto)
            if await asyncio.to_thread(self._turns.save_judged, upto):
                self._metrics.outcomes += outcomes

    async def _count(self) -> None:
        began = time.monotonic()
        view = View(_PRINCIPAL, At(self._parts.reader.position), frozenset(), False, None)
        _, answer = await counts_answer(self._parts, view, None)
        counts = [
            UnplacedCount(row["code"], priority, recipes)
            for row in answer["reasons"]
            for priority, recipes in row["by_priority"].items()
        ]
        await asyncio.to_thread(self._turns.save_counts, counts, interval(time.monotonic() - began))


def interval(count_seconds: float) -> float:
    """Return the seconds until the next turn, by the time that counting took."""
    return min(max(count_seconds / COUNTING_SHARE, MIN_INTERVAL_SECONDS), MAX_INTERVAL_SECONDS)
