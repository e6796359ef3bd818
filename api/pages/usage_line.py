"""The usage of a system in a time span, as the bars of a picture whose width is MAX_X."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

MAX_X: Final = 1_000.0
# Shorter intervals are not drawn by themselves.
MIN_WIDTH: Final = 1.0
MIXED: Final = "mixed"


@dataclass
class UsageBar:
    """The part of an interval in the span; `usage` is MIXED for neighbours that are too short to be seen.

    `since` may be before the span.
    """

    x: float
    width: float
    condition: str
    usage: str
    since: datetime


def usage_bars(intervals: Iterable[dict[str, Any]], since: datetime, until: datetime) -> list[UsageBar]:
    """Return the bars of intervals in their order. An open interval lasts until the end of the span."""
    bars: list[UsageBar] = []
    scale = MAX_X / (until - since).total_seconds()
    for interval in intervals:
        first, last = max(interval["since"], since), min(interval["until"] or until, until)
        width = (last - first).total_seconds() * scale
        if width <= 0:
            continue
        x = (first - since).total_seconds() * scale
        bar = UsageBar(x, width, interval["condition"], interval["usage"], interval["since"])
        if bars and _is_joined(bars[-1], bar):
            _join(bars[-1], bar)
        else:
            bars.append(bar)
    return bars


def _is_joined(before: UsageBar, bar: UsageBar) -> bool:
    """Return whether a bar becomes part of the one before it: two of the same condition, both short."""
    is_short = before.width < MIN_WIDTH or before.usage == MIXED
    return is_short and bar.width < MIN_WIDTH and before.condition == bar.condition


def _join(before: UsageBar, bar: UsageBar) -> None:
    before.width += bar.width
    before.usage = MIXED
