"""Bulk events of the kinds that a busy lab produces."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from datetime import UTC, datetime

from domain.events import Change, Event, Stamp
from domain.partition_numbers import partition_of
from domain.recipe.events import RecipeAborted, RecipeQueued, RecipeRunning
from domain.system.events import SystemDrained, SystemIdle, SystemRegistered
from store.event_log import EventLog
from store.requests import AppendRequest, Committed

STAMP = Stamp(datetime(2026, 1, 1, tzinfo=UTC), "tester", "request/test")
AT_ONCE = 500
SUBJECTS = 2_000


class BulkEvents:
    """Appends commits of one to four events. Each name has its own subjects, and always the same events.

    They are of one partition, by default that of their subjects.
    """

    def __init__(
        self,
        log: EventLog,
        name: int = 1,
        words: int = 20,
        subjects: int = SUBJECTS,
        partition: int | None = None,
        actor: str = STAMP.actor,
    ) -> None:
        self._log = log
        self._subjects = subjects
        self._partition = partition
        self._name = name
        self._stamp = replace(STAMP, actor=actor)
        self._dice = random.Random(name)
        self._words = "x" * words
        self._versions: dict[str, int] = {}
        self._registered: set[str] = set()
        self._commits = itertools.count(1)

    def append(self, events: int) -> int:
        """Append this number of events and up to three more; return the last position."""
        position = 0
        while events > 0:
            requests = self._requests(min(AT_ONCE, events))
            for outcome in self._log.append(requests):
                assert isinstance(outcome, Committed), outcome
                position = outcome.position
            events -= sum(len(request.changes) for request in requests)
        return position

    def _requests(self, events: int) -> list[AppendRequest]:
        """Return requests that share no subject, as a single call requires."""
        taken: set[str] = set()
        requests: list[AppendRequest] = []
        while events > 0 and len(taken) < self._subjects:
            happened = [self._happened() for _ in range(self._dice.randint(1, 4))]
            changes = tuple(Change(*one, self._stamp) for one in happened if one[0] not in taken)
            if changes:
                requests.append(self._request(changes))
                taken |= requests[-1].expected.keys()
                events -= len(changes)
        return requests

    def _request(self, changes: tuple[Change, ...]) -> AppendRequest:
        versions = self._versions
        expected = {change.subject: versions.get(change.subject, 0) for change in changes}
        for change in changes:
            versions[change.subject] = versions.get(change.subject, 0) + 1
        partition = partition_of(expected) if self._partition is None else self._partition
        command_id = f"busy/{self._name}/{next(self._commits)}"
        return AppendRequest(command_id, changes, expected, partition=partition)

    def _happened(self) -> tuple[str, Event]:
        number = self._name * self._subjects + self._dice.randrange(self._subjects)
        recipe, system = f"recipe/{number}", f"system/s{number}.example.com"
        made: tuple[tuple[str, Event], ...] = (
            (recipe, RecipeQueued(self._words)),
            (recipe, RecipeRunning(system)),
            (recipe, RecipeAborted(self._words)),
            (system, SystemIdle()),
            (system, SystemDrained(self._words)),
        )
        subject, event = self._dice.choice(made)
        if subject == system and system not in self._registered:
            # Other events of a system require that it is registered.
            self._registered.add(system)
            return system, SystemRegistered("lab-1", "tester", "Automated", {})
        return subject, event
