"""What processes count, added up in one table over all of them: no event, and no part of history.

A process that is killed takes along what it has counted since it last wrote; nothing is ever added twice.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from store.event_log import EventLog
from store.sql import SQL


class Series(NamedTuple):
    """What is counted: a name, and labels with their values, in the order of the labels."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()


def series(name: str, **labels: str) -> Series:
    return Series(name, tuple(sorted(labels.items())))


Totals = Mapping[Series, float]
"""What a process has counted since it was started."""


@dataclass(frozen=True)
class _Batch:
    number: int
    news: dict[Series, float]
    totals: dict[Series, float]


class Counters:
    """Of one process, which says by `totals` what it has counted; not thread-safe.

    `watchers` tells how many it has now. Without it the process is not heard of while it counts nothing.
    """

    def __init__(
        self, log: EventLog, totals: Callable[[], Totals], watchers: Callable[[], int] | None = None
    ) -> None:
        self._log = log
        self._totals = totals
        self._watchers = watchers
        self._writer = uuid.uuid4().hex
        self._batch = _Batch(0, {}, {})
        self._is_written = True

    def write(self) -> None:
        """Add what is new to the table. Blocking; raises DatabaseAway: the next call then begins with it."""
        if not self._is_written:
            self._add()
        self._batch, self._is_written = self._next(), False
        self._add()

    def _next(self) -> _Batch:
        totals = {one: float(total) for one, total in self._totals().items()}
        before = self._batch.totals
        news = {
            one: total - before.get(one, 0.0)
            for one, total in totals.items()
            if total != before.get(one, 0.0)
        }
        return _Batch(self._batch.number + 1, news, totals)

    def _add(self) -> None:
        """Made again, whatever became of it, a batch does not change anything any more."""
        news = self._batch.news
        if news or self._watchers is not None:
            names = [name for name, _ in news]
            labels = [orjson.dumps(dict(labels)).decode() for _, labels in news]
            watchers = 0 if self._watchers is None else self._watchers()
            asked = {
                "writer": self._writer,
                "batch": self._batch.number,
                "watchers": watchers,
                "names": names,
                "labels": labels,
                "values": list(news.values()),
            }
            self._log.rows(SQL["add_to_counters"], asked)
        self._is_written = True
