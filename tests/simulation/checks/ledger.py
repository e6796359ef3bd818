"""Acknowledged requests: each must be in the log exactly once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from domain.events import Recorded
from domain.job.events import JobSubmitted
from domain.recipe.lifecycle import FINISHED
from store.requests import Committed


class Ledger:
    """Requests and their answers.

    `requested` contains the markers of all submitted jobs, answered or not. Mutable.
    """

    def __init__(self) -> None:
        self.requested: list[str] = []
        self.refusals: list[str] = []
        self.cancelled_sets: list[int] = []
        self._submitted: dict[str, dict[str, Any]] = {}
        self._cancelled: set[int] = set()
        self._commits: list[tuple[str, Committed]] = []

    def submitted(self, marker: str, answer: dict[str, Any], done: Committed) -> None:
        self._submitted[marker] = answer
        self._commits.append((f"submits {marker}", done))

    def cancelled(self, recipe_ids: Sequence[int]) -> None:
        self._cancelled.update(recipe_ids)

    def committed(self, what: str, done: Committed | None) -> None:
        if done is not None:
            self._commits.append((what, done))

    @property
    def acknowledged(self) -> int:
        return len(self._commits)

    def missing(self, log: Sequence[Recorded]) -> Iterator[str]:
        """Yield acknowledged requests that are missing from the log, differ from it, or are in it more
        than once.
        """
        yield from self._jobs(log)
        for what, done in self._commits:
            if done.position > len(log):
                yield f"acknowledged at position {done.position}, which the log does not have: {what}"
                continue
            first, last = log[done.first_position - 1], log[done.position - 1]
            if first.commit_end != last.commit_end or last.commit_end != done.position:
                yield f"acknowledged as {done.first_position}-{done.position}, which is no commit: {what}"
        yield from self._not_cancelled(log)

    def _jobs(self, log: Sequence[Recorded]) -> Iterator[str]:
        found = Counter[str]()
        numbers: dict[str, str] = {}
        for recorded in log:
            if isinstance(recorded.event, JobSubmitted):
                found[recorded.event.whiteboard] += 1
                numbers[recorded.event.whiteboard] = recorded.subject
        for marker, count in found.items():
            if count > 1:
                yield f"job {marker!r} is in the log {count} times"
        for marker, answer in self._submitted.items():
            if numbers.get(marker) != f"job/{answer['job_id']}":
                found_as = numbers.get(marker)
                yield f"job {marker!r} was acknowledged as {answer['job_id']}, the log has {found_as}"

    def _not_cancelled(self, log: Sequence[Recorded]) -> Iterator[str]:
        states, sets = dict[int, str](), dict[int, int]()
        for recorded in log:
            kind, _, number = recorded.subject.partition("/")
            if kind == "recipe":
                sets.setdefault(int(number), getattr(recorded.event, "recipe_set_id", 0))
                states[int(number)] = getattr(recorded.event, "STATE", states.get(int(number), "new"))
        for recipe_id, state in states.items():
            concerned = recipe_id in self._cancelled or sets[recipe_id] in self.cancelled_sets
            if concerned and state not in FINISHED:
                yield f"recipe {recipe_id} was acknowledged as cancelled, and is {state}"
