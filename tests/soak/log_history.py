"""The log, read on after each fault, and the conditions that it must satisfy.

A session of its own reads the log, without the service. This module never writes.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import TypeVar

from domain.events import Recorded
from postgres.errors import DatabaseAway
from replay.audit import Audit, EventRecord
from replay.audit.record import record_of
from store.event_log import EventLog
from tests.soak.book import Acknowledged, Book, LabJournal

T = TypeVar("T")

FAILURES = ("watchdog expired", "simulated machine failed", "simulated machine broke")
RETRY_SECONDS = 60.0
PAGE = 5_000
# Number of events that are read again after each fault, to prove that they have not changed.
AGAIN = 2_000

Place = tuple[str, int, str, int]
"""The content of a position: subject, version, topic, end of its commit."""


class LogHistory:
    """The log up to now. Call `check` after each fault, `check_again` once at the end. Mutable."""

    def __init__(self, log: EventLog, book: Book, journal: LabJournal) -> None:
        self.audit = Audit()
        self.places: list[Place] = []
        self.acknowledged = 0
        # The last epoch and the number of grants of each partition, the number of recipe sets of each queue.
        self.epochs: Counter[int] = Counter()
        self.grants: Counter[int] = Counter()
        self.queues: Counter[str] = Counter()
        self._log = log
        self._book = book
        self._journal = journal
        self._of_subject: defaultdict[str, list[EventRecord]] = defaultdict(list)
        self._whiteboards: Counter[str] = Counter()
        self._scheduled: dict[str, float] = {}
        self._wrong: list[str] = []

    @property
    def end(self) -> int:
        return len(self.places)

    @property
    def unfinished(self) -> int:
        return len(self.audit.world.recipes)

    def count(self, topic: str) -> int:
        """Return the number of events of a topic."""
        return sum(topic == place[2] for place in self.places)

    @property
    def machines_failed(self) -> int:
        """Number of recipes that were aborted because of a machine."""
        return sum(
            record.topic == "recipe.aborted" and any(why in record.data["reason"] for why in FAILURES)
            for records in self._of_subject.values()
            for record in records
        )

    def busy(self) -> list[str]:
        """Return the systems that have a recipe or are about to get one, with what happened to them last."""
        systems = self.audit.world.systems.values()
        busy = [system for system in systems if system.recipe_id or system.usage == "pending"]
        return [
            f"{system.subject} is {system.usage}: {self._last_events(system.subject)};"
            f" recipe/{system.recipe_id}: {self._last_events(f'recipe/{system.recipe_id}')}"
            for system in busy
        ]

    def _last_events(self, subject: str) -> str:
        records = self._of_subject[subject][-4:]
        return ", ".join(f"{record.position} {record.topic} by {record.actor}" for record in records)

    def check(self) -> list[str]:
        """Read on, and return the findings about new events and about answers since the last check."""
        self._book.note(*self._journal.news())
        answered = self._book.since(self.acknowledged)
        self.acknowledged += len(answered)
        self._wrong += self._reread()
        self.read_on()
        wrong, self._wrong = [*self._wrong, *self._missing(answered), *self._doubled()], []
        return wrong

    def check_again(self) -> list[str]:
        """Return a finding if the log differs from what was read of it between faults."""
        found = [place_of(one) for one in self._events(0, self.end)]
        return [] if found == self.places else ["the log has changed since it was read"]

    def scheduled(self, recipe_id: int) -> float | None:
        """Return the time of a recipe's first grant."""
        self.read_on()
        return self._scheduled.get(f"recipe/{recipe_id}")

    def read_on(self) -> None:
        """Read new events; `check` returns their findings."""
        for _, together in groupby(self._events(self.end), key=lambda one: one.commit_end):
            commit = list(together)
            for one in commit:
                self._wrong += self._take(one)
            self._wrong += map(str, self.audit.take(commit))

    def _reread(self) -> Iterator[str]:
        after = max(0, self.end - AGAIN)
        if [place_of(one) for one in self._events(after, self.end)] != self.places[after:]:
            yield f"the log between {after} and {self.end} is not what it was"

    def _take(self, one: Recorded) -> Iterator[str]:
        record = record_of(one)
        if one.position != self.end + 1:
            yield f"position {one.position} follows {self.end}"
        last = self.epochs[record.basis_partition or 0]
        if record.epoch is not None and record.epoch < last:
            yield f"position {one.position}: written under epoch {record.epoch}, after {last}"
        self.epochs[record.basis_partition or 0] = max(last, record.epoch or 0)
        self.places.append(place_of(one))
        self._of_subject[one.subject].append(record)
        if record.topic == "job.submitted":
            self._whiteboards[record.data["whiteboard"]] += 1
        if record.topic == "recipe.scheduled":
            self._scheduled.setdefault(one.subject, one.recorded_at.timestamp())
            self.grants[record.partition] += 1
        if record.topic == "recipe-set.submitted":
            self.queues[record.data.get("queue") or "root.default"] += 1

    def _missing(self, answered: list[Acknowledged]) -> Iterator[str]:
        for fact in answered:
            if not any(map(fact.is_by, self._of_subject[fact.subject])):
                yield f"acknowledged, and not in the log: {fact}"

    def _doubled(self) -> Iterator[str]:
        for whiteboard, times in self._whiteboards.items():
            if times > 1:
                yield f"{times} jobs for one submission: {whiteboard}"
            if whiteboard not in self._book.asked:
                yield f"a job that nobody submitted: {whiteboard}"

    def _events(self, after: int, upto: int | None = None) -> Iterator[Recorded]:
        end = upto if upto is not None else _patiently(self._log.end)
        while after < end:
            page, after = _patiently(partial(self._log.select, after, end, PAGE))
            yield from page


def _patiently(ask: Callable[[], T]) -> T:
    """Retry while the database restarts."""
    deadline = time.monotonic() + RETRY_SECONDS
    while True:
        try:
            return ask()
        except DatabaseAway:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def place_of(one: Recorded) -> Place:
    return one.subject, one.version, one.event.TOPIC, one.commit_end
