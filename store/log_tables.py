"""The tables of the event log in memory, which execute the statements of `log.sql` as PostgreSQL does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from sys import maxsize
from typing import Any, Final, NamedTuple

from psycopg.errors import UniqueViolation

from domain.partition_numbers import read_by
from store.mapper import EventMapper, StoredRow
from store.selection import subjects_of
from store.sql import APPENDS, APPENDS_UNLESS_JOINED, BACKWARDS, BOUNDED, OF_ACTOR, SELECTIONS, SQL

Rows = Sequence[tuple[Any, ...]]


class _CommitRow(NamedTuple):
    first: int
    last: int
    recorded_at: datetime
    digest: bytes | None
    answer: bytes | None


class Request(NamedTuple):
    """One request of `log.append`."""

    command_id: str
    lease: str | None
    epoch: int | None
    digest: bytes | None
    answer: bytes | None
    partition: int
    expected: list[tuple[str, int]]
    events: list[tuple[str, int, str, bytes]]


class LogTables:
    """Tables of schema `log`, without originals; `on_commit` gets the rows. Not thread-safe.

    Quotas, addresses and power settings, which other schemas hold, are left out, too.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.events: list[StoredRow] = []
        self.commits: dict[str, _CommitRow] = {}
        self.epochs: dict[str, int] = {}
        self.versions: dict[str, int] = defaultdict(int)
        self.on_commit: list[Callable[[Sequence[StoredRow]], None]] = []
        self._now = now
        self._rows_of: dict[str, list[StoredRow]] = defaultdict(list)
        self._ids = {"job": 0, "recipe_set": 0, "recipe": 0, "task": 0, "partition": 1}

    @property
    def end(self) -> int:
        return len(self.events)

    def next_epoch(self, lease: str) -> int:
        """Raise the epoch of a lease, as a new holder does. Appends of earlier epochs are fenced."""
        self.epochs[lease] = self.epochs.get(lease, 0) + 1
        return self.epochs[lease]

    def append(self, *arrays: Sequence[Any]) -> Rows:
        """Append as `log.append` does. Each request is checked against the log before the call."""
        before, requests = self.end, _requests(*arrays)
        outcomes = [self._outcome(request) for request in requests]
        accepted = [request for request, outcome in zip(requests, outcomes, strict=True) if outcome == "done"]
        self._require_new_versions(accepted)
        moment = max(self._now(), self.events[-1].recorded_at) if self.events else self._now()
        for request in accepted:
            self._write(request, moment)
        if accepted:
            for callback in self.on_commit:
                callback(self.events[before:])
        return [
            (*self._answered(request, outcome), self._preceding(request) if outcome == "done" else None)
            for request, outcome in zip(requests, outcomes, strict=True)
        ]

    def _answered(self, request: Request, outcome: str) -> tuple[Any, ...]:
        return outcome, *(self.commits[request.command_id] if outcome in ("done", "known") else (None,) * 5)

    def _preceding(self, request: Request) -> int | None:
        if request.lease is None:
            return None
        return self._last(read_by(request.partition), self.commits[request.command_id].first - 1)

    def _last(self, partitions: Sequence[int], upto: int) -> int:
        """Return the last position up to `upto` of an event of these partitions, 0 without any."""
        positions = range(upto, 0, -1)
        return next((each for each in positions if self.events[each - 1].partition in partitions), 0)

    def end_of(self, partitions: Sequence[int]) -> Rows:
        return [(self._last(partitions, self.end),)]

    def is_fenced(self, request: Request) -> bool:
        return request.lease is not None and self.epochs.get(request.lease) != request.epoch

    def _outcome(self, request: Request) -> str:
        if request.command_id in self.commits:
            return "known"
        if self.is_fenced(request):
            return "fenced"
        if any(self.versions.get(subject, 0) != version for subject, version in request.expected):
            return "conflict"
        return "done"

    def _require_new_versions(self, requests: Sequence[Request]) -> None:
        """Raise UniqueViolation as the primary key of `log.events` would."""
        keys = [(subject, version) for request in requests for subject, version, _, _ in request.events]
        exists = any(version <= self.versions.get(subject, 0) for subject, version in keys)
        if exists or len(set(keys)) < len(keys):
            raise UniqueViolation("duplicate key value violates unique constraint")

    def _write(self, request: Request, moment: datetime) -> None:
        first, last = self.end + 1, self.end + len(request.events)
        for position, (subject, version, topic, state) in enumerate(request.events, start=first):
            row = StoredRow(position, last, moment, subject, version, topic, state, request.partition)
            self.events.append(row)
            self._rows_of[subject].append(row)
            self.versions[subject] = max(self.versions[subject], version)
        self.commits[request.command_id] = _CommitRow(first, last, moment, request.digest, request.answer)

    def load(self, subjects: Sequence[str], after: Sequence[int]) -> Rows:
        pairs = zip(subjects, after, strict=True)
        return [row for subject, last in pairs for row in self._rows_of[subject] if row.version > last]

    def at_positions(self, positions: Sequence[int]) -> Rows:
        return [self.events[position - 1] for position in sorted(positions) if 0 < position <= self.end]

    def page(self, params: Mapping[str, Any]) -> Rows:
        return self.bounded(self.events[params["after"] : params["after"] + params["limit"]], params["bytes"])

    def page_of(self, params: Mapping[str, Any]) -> Rows:
        later = (row for row in self.events[params["after"] :] if row.partition in params["partitions"])
        return self.bounded(list(islice(later, params["limit"])), params["bytes"])

    def all_but(self, params: Mapping[str, Any]) -> Rows:
        excluded, partitions = frozenset(params["excluded_topics"]), params["partitions"]
        rows = self.events[params["after"] : params["upto"]]
        return [row for row in rows if row.topic not in excluded and row.partition in partitions]

    def all_between(self, params: Mapping[str, Any]) -> Rows:
        hidden = frozenset(params["hidden"])
        rows = [row for row in self.events[params["after"] : params["upto"]] if row.topic not in hidden]
        return self.bounded(rows[: params["limit"]], params["bytes"])

    def of_partition(self, params: Mapping[str, Any]) -> Rows:
        topics, subjects, hidden = (frozenset(params[name]) for name in ("topics", "subjects", "hidden"))
        rows = (
            row
            for row in self.events[params["after"] : params["upto"]]
            if row.partition == params["partition"]
            and (params["everything"] or row.topic in topics or row.subject in subjects)
            and row.topic not in hidden
        )
        return self.bounded(list(islice(rows, params["limit"])), params["bytes"])

    @staticmethod
    def bounded(rows: Sequence[StoredRow], max_bytes: int) -> Rows:
        """Return the first rows up to a size, at least one."""
        result: list[StoredRow] = []
        byte_count = 0
        for row in rows:
            if byte_count >= max_bytes and result:
                break
            result.append(row)
            byte_count += len(row.state)
        return result

    def selected(self, params: Mapping[str, Any]) -> Rows:
        topics, subjects = frozenset(params["topics"]), frozenset(params["subjects"])
        of_subject, hidden = params["of_subject"], frozenset(params["hidden"])
        after, upto, partition = params["after"], params["upto"], params["partition"]

        def is_selected(row: StoredRow) -> bool:
            if partition is not None and row.partition != partition:
                return False
            if row.topic in topics:
                return True
            has_topic = row.subject in subjects and (of_subject is None or row.topic in of_subject)
            return has_topic and row.topic not in hidden

        if topics:
            candidates = self.events[after:upto]
        else:
            of_subjects = (row for subject in subjects for row in self._rows_of.get(subject, ()))
            candidates = sorted(row for row in of_subjects if after < row.position <= upto)
        rows = [row for row in candidates if is_selected(row)][: params["limit"]]
        return self.bounded(rows, params["bytes"])

    def directory(self, topics: Sequence[str], upto: int) -> Rows:
        wanted = frozenset(topics)
        return [row for row in self.events[:upto] if row.topic in wanted]

    def existing(self, subjects: Sequence[str]) -> Rows:
        return [(subject,) for subject in dict.fromkeys(subjects) if self._rows_of.get(subject)]

    def commits_of(self, command_ids: Sequence[str]) -> Rows:
        return [(each, *self.commits[each]) for each in dict.fromkeys(command_ids) if each in self.commits]

    def take_ids(self, *counts: int) -> Rows:
        """Return the next ids of jobs, recipe sets, recipes and tasks."""
        return [tuple(self._take(kind, count) for kind, count in zip(self._ids, counts, strict=False))]

    def last_job_id(self) -> Rows:
        return [(self._ids["job"] or None,)]

    def take_partition_number(self) -> Rows:
        return [(self._take("partition", 1)[0],)]

    def first_partitions(self, subjects: Sequence[str]) -> Rows:
        """Return subject and partition, for a command that of the event with its number as position."""
        found: list[tuple[Any, ...]] = []
        for subject in subjects:
            kind, _, name = subject.partition("/")
            caused_by = self.events[int(name) - 1 : int(name)] if kind == "command" else []
            rows = caused_by or self._rows_of.get(subject, [])
            found += [(subject, row.partition) for row in rows[:1]]
        return found

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
    partitions: Sequence[int],
    *events: Sequence[Any],
) -> list[Request]:
    heads = zip(command_ids, leases, epochs, digests, answers, strict=True)
    requests = [Request(*head, partition, [], []) for head, partition in zip(heads, partitions, strict=True)]
    for number, subject, version in zip(expect_requests, expect_subjects, expect_versions, strict=True):
        requests[number - 1].expected.append((subject, version))
    for number, subject, version, topic, state in zip(*events, strict=True):
        requests[number - 1].events.append((subject, version, topic, state))
    return requests


# The first parameters of the statement that appends are the arrays of `log.append`.
_ARRAY_COUNT: Final = 14


def _append(tables: LogTables, params: Any) -> Rows:
    return [(*row, None, None) for row in tables.append(*params[:_ARRAY_COUNT])]


def _append_unless_joined(tables: LogTables, params: Any) -> Rows:
    seen, *arrays = params
    joined = ("system.registered", "system.lab-controller-changed")
    (command_id,) = arrays[0]
    if command_id not in tables.commits and any(row.topic in joined for row in tables.events[seen:]):
        return [("conflict", *(None,) * 8)]
    return _append(tables, arrays)


def _backwards(tables: LogTables, params: Mapping[str, Any], name: str) -> Rows:
    """Return the last rows of a bounded statement, newest first."""
    unlimited = {**params, "limit": maxsize, "bytes": maxsize}
    rows = [StoredRow._make(row) for row in STATEMENTS[BOUNDED[name]](tables, unlimited)]
    return tables.bounded(rows[::-1][: params["limit"]], params["bytes"])


def _of_actor(tables: LogTables, params: Mapping[str, Any], name: str) -> Rows:
    """Return the visible rows of a bounded statement by one actor."""
    unlimited = {**params, "limit": maxsize, "bytes": maxsize}
    found = map(StoredRow._make, STATEMENTS[BOUNDED[name]](tables, unlimited))
    mapper, actor, unseen = EventMapper(), params["actor"], frozenset(params["unseen"])
    events = ((row, mapper.recorded(row)) for row in found)
    rows = [row for row, each in events if each.stamp.actor == actor and unseen.isdisjoint(subjects_of(each))]
    return tables.bounded(rows[: params["limit"]], params["bytes"])


STATEMENTS: Mapping[bytes, Callable[[LogTables, Any], Rows]] = {
    **dict.fromkeys(APPENDS.values(), _append),
    **dict.fromkeys(APPENDS_UNLESS_JOINED.values(), _append_unless_joined),
    SQL["load"]: lambda tables, params: tables.load(*params),
    SQL["existing"]: lambda tables, params: tables.existing(*params),
    SQL["at_positions"]: lambda tables, params: tables.at_positions(*params),
    SQL["directory"]: lambda tables, params: tables.directory(*params),
    SQL["end"]: lambda tables, _: [(tables.end,)],
    SQL["end_of"]: lambda tables, params: tables.end_of(*params),
    SQL["commits_of"]: lambda tables, params: tables.commits_of(*params),
    SQL["take_ids"]: lambda tables, params: tables.take_ids(*params),
    SQL["last_job_id"]: lambda tables, _: tables.last_job_id(),
    SQL["first_partitions"]: lambda tables, params: tables.first_partitions(*params),
    SQL["take_partition_number"]: lambda tables, _: tables.take_partition_number(),
    SQL["all_but"]: lambda tables, params: tables.all_but(params),
    SQL["rest_of_commit"]: lambda tables, params: tables.events[slice(*params)],
    BOUNDED["page"]: lambda tables, params: tables.page(params),
    BOUNDED["page_of"]: lambda tables, params: tables.page_of(params),
    BOUNDED["all_between"]: lambda tables, params: tables.all_between(params),
    BOUNDED["of_partition"]: lambda tables, params: tables.of_partition(params),
    BOUNDED["selected"]: lambda tables, params: tables.selected(params),
    **{BOUNDED[f"{name}_of_actor"]: partial(_of_actor, name=name) for name in SELECTIONS},
    **{BACKWARDS[name]: partial(_backwards, name=name) for name in (*SELECTIONS, *OF_ACTOR)},
}
"""Statement -> the function that returns its rows."""
