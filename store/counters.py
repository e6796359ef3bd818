"""Counters of all processes, added up in one table beside the log.

A killed process loses its counts since the last write. No count is ever added twice.
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
    """A name, and labels with their values, sorted by label."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()


def series(name: str, **labels: str) -> Series:
    return Series(name, tuple(sorted(labels.items())))


Totals = Mapping[Series, float]
"""The counts of a process since its start."""


@dataclass(frozen=True)
class _Batch:
    number: int
    news: dict[Series, float]
    totals: dict[Series, float]


class Counters:
    """The counters of one process, which `totals` returns. Not thread-safe.

    `watchers` returns the present number of watchers. Without it, a process writes nothing while it counts
    nothing.
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
        """Add new counts to the table. Blocking. Raises DatabaseAway; the next call then repeats the batch
        first.
        """
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
        """Add the batch. The table ignores a batch that it has already."""
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
