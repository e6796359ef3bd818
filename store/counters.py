"""Counters of all processes, summed in a table beside the log.

The counts of a killed process since its last write are lost. No count is ever added twice.
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
    """A metric name, and pairs of label and value, sorted by label."""

    name: str
    labels: tuple[tuple[str, str], ...] = ()


def series(name: str, **labels: str) -> Series:
    return Series(name, tuple(sorted(labels.items())))


Totals = Mapping[Series, float]
"""The counts of a process since its start."""


@dataclass(frozen=True)
class _Batch:
    """The increments of one write, and the totals up to it."""

    number: int
    increments: dict[Series, float]
    totals: dict[Series, float]


class Counters:
    """Writer of a process's `totals` when they change, and always of its `watchers`. Not thread-safe.

    The scheduler with the lease of a `partition` reports the recipes that are `held_back` there, by reason,
    while there are any.
    """

    def __init__(
        self,
        log: EventLog,
        totals: Callable[[], Totals],
        watchers: Callable[[], int] | None = None,
        held_back: Callable[[], Mapping[str, int]] = dict,
        partition: int | None = None,
    ) -> None:
        self._log = log
        self._totals = totals
        self._watchers = watchers
        self._held_back = held_back
        self._partition = partition
        self._reported: Mapping[str, int] = {}
        self._writer = uuid.uuid4().hex
        self._batch = _Batch(0, {}, {})
        self._is_written = True

    def write(self) -> None:
        """Add new counts to the table. Blocking. After DatabaseAway, the next call repeats the batch."""
        if not self._is_written:
            self._add()
        self._batch, self._is_written = self._next(), False
        self._add()

    def _next(self) -> _Batch:
        totals = {each: float(total) for each, total in self._totals().items()}
        before = self._batch.totals
        increments = {
            each: total - before.get(each, 0.0)
            for each, total in totals.items()
            if total != before.get(each, 0.0)
        }
        return _Batch(self._batch.number + 1, increments, totals)

    def _add(self) -> None:
        """Add the batch. The table ignores a batch that was already added."""
        increments = self._batch.increments
        held_back = self._held_back()
        if increments or self._watchers is not None or held_back or self._reported:
            names = [name for name, _ in increments]
            labels = [orjson.dumps(dict(labels)).decode() for _, labels in increments]
            watchers = 0 if self._watchers is None else self._watchers()
            params = {
                "writer": self._writer,
                "batch": self._batch.number,
                "watchers": watchers,
                "held_back": orjson.dumps(held_back).decode(),
                "partition": self._partition,
                "names": names,
                "labels": labels,
                "values": list(increments.values()),
            }
            self._log.rows(SQL["add_to_counters"], params)
            self._reported = held_back
        self._is_written = True
