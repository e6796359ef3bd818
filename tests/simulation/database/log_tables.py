"""The schema `log`: what `log.append` and the queries of `store/log.sql` promise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import psycopg

from store.mapper import StoredRow


class Commit(NamedTuple):
    first: int
    last: int
    recorded_at: datetime
    digest: bytes | None
    answer: bytes | None


class Asked(NamedTuple):
    """One request of an append."""

    command_id: str
    lease: str | None
    epoch: int | None
    digest: bytes | None
    answer: bytes | None
    expected: list[tuple[str, int]]
    events: list[tuple[str, int, str, bytes]]


class LogTables:
    def __init__(self, now: Callable[[], datetime]) -> None:
        self.events: list[StoredRow] = []
        self.commits: dict[str, Commit] = {}
        self.epochs: dict[str, int] = {}
        self.versions: dict[str, int] = defaultdict(int)
        self._now = now
        self._of_subject: dict[str, list[StoredRow]] = defaultdict(list)
        self._ids = {"job": 0, "recipe_set": 0, "recipe": 0, "task": 0}

    @property
    def end(self) -> int:
        return len(self.events)

    def append(self, *arrays: Sequence[Any]) -> list[tuple[Any, ...]]:
        """As log.append: each request stands or falls alone and whole, judged by what was there before."""
        requests = _requests(*arrays)
        outcomes = [self._outcome(request) for request in requests]
        done = [request for request, outcome in zip(requests, outcomes, strict=True) if outcome == "done"]
        self._require_new(done)
        moment = max(self._now(), self.events[-1].recorded_at) if self.events else self._now()
        for request in done:
            self._write(request, moment)
        answers = []
        for request, outcome in zip(requests, outcomes, strict=True):
            commit = self.commits[request.command_id] if outcome in ("done", "known") else (None,) * 5
            answers.append((outcome, *commit))
        return answers

    def fenced(self, request: Asked) -> bool:
        return request.lease is not None and self.epochs.get(request.lease) != request.epoch

    def _outcome(self, request: Asked) -> str:
        if request.command_id in self.commits:
            return "known"
        if self.fenced(request):
            return "fenced"
        if any(self.versions.get(subject, 0) != version for subject, version in request.expected):
            return "conflict"
        return "done"

    def _require_new(self, requests: Sequence[Asked]) -> None:
        """The primary key of log.events."""
        keys = [(subject, version) for request in requests for subject, version, _, _ in request.events]
        taken = any(version <= self.versions.get(subject, 0) for subject, version in keys)
        if taken or len(set(keys)) < len(keys):
            raise psycopg.errors.UniqueViolation("duplicate key value violates unique constraint")

    def _write(self, request: Asked, moment: datetime) -> None:
        first, last = self.end + 1, self.end + len(request.events)
        for position, (subject, version, topic, state) in enumerate(request.events, start=first):
            row = StoredRow(position, last, moment, subject, version, topic, state)
            self.events.append(row)
            self._of_subject[subject].append(row)
            self.versions[subject] = max(self.versions[subject], version)
        self.commits[request.command_id] = Commit(first, last, moment, request.digest, request.answer)

    # Queries

    def load(self, subjects: Sequence[str], after: Sequence[int]) -> list[StoredRow]:
        wanted = zip(subjects, after, strict=True)
        return [
            row for subject, last in wanted for row in self._of_subject.get(subject, ()) if row.version > last
        ]

    def page(self, asked: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self.bounded(self.events[asked["after"] : asked["after"] + asked["limit"]], asked["bytes"])

    def all_between(self, asked: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        hidden = frozenset(asked["hidden"])
        rows = [row for row in self.events[asked["after"] : asked["upto"]] if row.topic not in hidden]
        return self.bounded(rows[: asked["limit"]], asked["bytes"])

    @staticmethod
    def bounded(rows: Sequence[StoredRow], size_bytes: int) -> list[tuple[Any, ...]]:
        """With how many there are: no more bytes than asked for, but at least one row."""
        kept: list[tuple[Any, ...]] = []
        so_far = 0
        for row in rows:
            if so_far >= size_bytes and kept:
                break
            kept.append((*row, len(rows)))
            so_far += len(row.state)
        return kept

    def selected(self, asked: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        topics, subjects = frozenset(asked["topics"]), frozenset(asked["subjects"])
        of_subject, hidden = asked["of_subject"], frozenset(asked["hidden"])

        def wanted(row: StoredRow) -> bool:
            if row.topic in topics:
                return True
            mine = row.subject in subjects and (of_subject is None or row.topic in of_subject)
            return mine and row.topic not in hidden

        candidates = (
            self.events[asked["after"] : asked["upto"]]
            if topics
            else sorted(
                row
                for subject in subjects
                for row in self._of_subject.get(subject, ())
                if asked["after"] < row.position <= asked["upto"]
            )
        )
        rows = [row for row in candidates if wanted(row)][: asked["limit"]]
        return self.bounded(rows, asked["bytes"])

    def directory(self, topics: Sequence[str], upto: int) -> list[StoredRow]:
        wanted = frozenset(topics)
        return [row for row in self.events[:upto] if row.topic in wanted]

    def commits_of(self, command_ids: Sequence[str]) -> list[tuple[Any, ...]]:
        return [(each, *self.commits[each]) for each in dict.fromkeys(command_ids) if each in self.commits]

    def take_ids(self, *counts: int) -> list[tuple[Any, ...]]:
        """Of jobs, recipe sets, recipes and tasks."""
        return [tuple(self._take(kind, count) for kind, count in zip(self._ids, counts, strict=True))]

    def _take(self, kind: str, count: int) -> list[int]:
        first = self._ids[kind] + 1
        self._ids[kind] += count
        return list(range(first, first + count))


def _requests(
    command_ids: Sequence[str],
    leases: Sequence[str | None],
    epochs: Sequence[int | None],
    digests: Sequence[bytes | None],
    answers: Sequence[bytes | None],
    expect_requests: Sequence[int],
    expect_subjects: Sequence[str],
    expect_versions: Sequence[int],
    *events: Sequence[Any],
) -> list[Asked]:
    plain = zip(command_ids, leases, epochs, digests, answers, strict=True)
    requests = [Asked(*each, [], []) for each in plain]
    for number, subject, version in zip(expect_requests, expect_subjects, expect_versions, strict=True):
        requests[number - 1].expected.append((subject, version))
    for number, subject, version, topic, state in zip(*events, strict=True):
        requests[number - 1].events.append((subject, version, topic, state))
    return requests
