"""Checks of each commit of the growing log, by the audit and by the recomputation of decisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from domain.events import Recorded
from replay.audit import Audit
from replay.verify.recomputation import Recomputation
from replay.verify.recorded_decisions import commits
from store.mapper import EventMapper


class Watching:
    """Checks each commit. `found` is called with each finding."""

    def __init__(
        self,
        mapper: EventMapper,
        found: Callable[[str], None],
        heard: Callable[[Sequence[Recorded]], None],
    ) -> None:
        self.log: list[Recorded] = []
        self._found = found
        self._heard = heard
        self._mapper = mapper
        self._audit = Audit()
        self._again = Recomputation()

    def take(self, rows: Sequence[Any]) -> None:
        news = [self._mapper.recorded(row) for row in rows]
        self.log += news
        for commit in commits(news):
            self._heard(commit)
            for violation in self._audit.take(commit):
                self._found(f"audit: {violation}")
            for difference in self._again.take(commit):
                self._found(f"verify: the recomputed decision differs: {difference}")

    def at_rest(self) -> Iterator[str]:
        for violation in self._audit.at_rest():
            yield f"audit, at rest: {violation}"
        counts = self._again.counts
        if counts.mended:
            yield f"verify: {counts.mended} decisions of the consistency loop"
        if counts.unchecked:
            yield f"verify: {counts.unchecked} decisions could not be checked"
