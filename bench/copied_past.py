"""A long past, copied from a short one: its events again and again, with later ids, versions and positions.

The original events were decided by the production code while no recipe waited and no system was busy at
their beginning and end. So a copy continues where the one before it ended, and folds as its original does.
Copied decisions were not decided anew, and `labledger replay verify` does not accept them: their times within
the events are those of the originals.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

import psycopg

from bench.cluster_fixture import BenchCluster
from bench.history import DAYS, grow_past, spread_times
from bench.outcome import ProgressCallback, Sizes
from domain.errors import LabledgerError
from domain.events import split_subject

Owner = psycopg.Connection[Any]

# Maximum number of events that the production code decides; the others are copies of them.
DECIDED_EVENTS: Final = 100_000
# The kinds of subjects that have ids, and the sequences of these ids. Tasks are no subjects.
SEQUENCES: Final = {
    "job": "log.job_ids",
    "recipe-set": "log.recipe_set_ids",
    "recipe": "log.recipe_ids",
    "task": "log.task_ids",
}
POSITION: Final = "position"
# Fields of `state` with a number or a list of numbers. A quotation mark within a string is escaped.
_FIELDS: Final = {
    rb'"cause":"event/': POSITION,
    rb'"basis":': POSITION,
    rb'"after":': POSITION,
    rb'"upto":': POSITION,
    rb'"job_id":': "job",
    rb'"recipe_set_id":': "recipe-set",
    rb'"recipe_set_ids":[': "recipe-set",
    rb'"recipe_id":': "recipe",
    rb'"recipe_ids":[': "recipe",
    rb'"host_recipe_id":': "recipe",
    rb'"overtook":': "recipe",
    rb'"task_id":': "task",
}
_NUMBERS: Final = re.compile(b"(%b)([0-9]+(?:,[0-9]+)*)" % b"|".join(map(re.escape, _FIELDS)))


class PastEvent(NamedTuple):
    """An event of the original; its texts have `%d` for each number that a copy raises.

    Copy n adds n times the second number of a pair to the first one.
    """

    subject: str
    version: tuple[int, int]
    topic: str
    state: bytes
    position: int
    commit_end: int
    partition: int
    subject_numbers: Sequence[tuple[int, int]]
    state_numbers: Sequence[tuple[int, int]]


def grow_with_copies(
    cluster: BenchCluster, sizes: Sizes, on_progress: ProgressCallback
) -> Callable[[int], object]:
    """Fill the log with at least `sizes.events` events; return a function that queues a number of recipes.

    No service runs then, and the read models are empty.
    """
    past = grow_past(cluster, sizes, min(DECIDED_EVENTS, sizes.events // 2), on_progress)
    copy_past(cluster.owner_url, past.begin, sizes.events, on_progress)
    return partial(past.filler.queue, past.sets)


def copy_past(owner_url: str, begin: int, wanted: int, on_progress: ProgressCallback) -> None:
    """Copy the events after `begin` until the log has at least `wanted` events, all within the last DAYS.

    The log must have no other events than those of jobs, recipe sets, recipes and systems after `begin`.
    Raises CannotCopy otherwise.
    """
    with psycopg.connect(owner_url, autocommit=True) as owner:
        rows = owner.execute(_PAST, (begin,)).fetchall()
        spans = _spans(rows)
        events = list(_events(rows, spans))
        end, length = events[-1].commit_end, spans[POSITION]
        copies = max(0, -(-(wanted - end) // length))
        (ended_at,) = owner.execute(_ENDED_AT).fetchone() or (None,)
        clock = _Clock(ended_at, end + copies * length)
        _spread(owner, clock)
        for number in range(1, copies + 1):
            on_progress("copied events", end + number * length, clock.last_position)
            with owner.transaction():
                _write(owner, events, number, length, clock)
        for kind, sequence in SEQUENCES.items():
            owner.execute(
                b"SELECT setval(%s, last_value + %s) FROM " + sequence.encode(),
                (sequence, copies * spans[kind]),
            )
        owner.execute(b"VACUUM ANALYZE")


class _Clock(NamedTuple):
    """Times that ascend evenly with the position, over DAYS until the end of the past."""

    ended_at: datetime
    last_position: int

    def at(self, position: int) -> datetime:
        return self.ended_at - timedelta(days=DAYS) * (1 - position / self.last_position)


def _spread(owner: Owner, clock: _Clock) -> None:
    """Give the original its times, and remove its old rows from the files."""
    with owner.transaction():
        spread_times(owner, clock.last_position, clock.ended_at)
    owner.execute(b"VACUUM FULL log.events, log.commits")


def _spans(rows: Sequence[tuple[Any, ...]]) -> dict[str, int]:
    """Return the number of positions, and of ids of each kind, that the events take."""
    numbers: dict[str, set[int]] = {kind: set() for kind in (POSITION, *SEQUENCES)}
    for subject, _, _, state, position, *_ in rows:
        kind, name = split_subject(subject)
        if kind in SEQUENCES:
            numbers[kind].add(int(name))
        elif kind != "system":
            raise CannotCopy(f"the past has an event of {subject} at position {position}")
        numbers[POSITION].add(position)
        numbers["task"].update(number for found, number in _found(state) if found == "task")
    return {kind: max(found) - min(found) + 1 for kind, found in numbers.items()}


def _found(state: bytes) -> Iterator[tuple[str, int]]:
    for match in _NUMBERS.finditer(state):
        for number in match[2].split(b","):
            yield _FIELDS[match[1]], int(number)


def _events(rows: Sequence[tuple[Any, ...]], spans: dict[str, int]) -> Iterator[PastEvent]:
    versions = Counter(row[0] for row in rows)
    for subject, version, topic, state, position, commit_end, partition in rows:
        kind, name = split_subject(subject)
        is_numbered = kind in SEQUENCES
        yield PastEvent(
            f"{kind}/%d" if is_numbered else subject.replace("%", "%%"),
            (version, 0 if is_numbered else versions[subject]),
            topic,
            _NUMBERS.sub(_with_places, bytes(state).replace(b"%", b"%%")),
            position,
            commit_end,
            partition,
            [(int(name), spans[kind])] if is_numbered else [],
            [(number, spans[found]) for found, number in _found(state)],
        )


def _with_places(match: re.Match[bytes]) -> bytes:
    return match[1] + re.sub(rb"[0-9]+", b"%d", match[2])


def _write(owner: Owner, events: Sequence[PastEvent], number: int, length: int, clock: _Clock) -> None:
    """Write a copy; a commit of the original is a commit of the copy."""
    shift, commit_end, commits, moment = number * length, 0, list[tuple[Any, ...]](), clock.ended_at
    with owner.cursor() as cursor, cursor.copy(_EVENTS) as copy:
        copy.set_types(("text", "int8", "text", "bytea", "int8", "int8", "timestamptz", "int4"))
        for event in events:
            if event.commit_end != commit_end:
                commit_end = event.commit_end
                moment = clock.at(commit_end + shift)
                first, last = event.position + shift, commit_end + shift
                commits.append((f"copy/{last}", first, last, moment))
            copy.write_row(
                (
                    event.subject % tuple(base + number * step for base, step in event.subject_numbers),
                    event.version[0] + number * event.version[1],
                    event.topic,
                    event.state % tuple(base + number * step for base, step in event.state_numbers),
                    event.position + shift,
                    commit_end + shift,
                    moment,
                    event.partition,
                )
            )
    with owner.cursor() as cursor, cursor.copy(_COMMITS) as copy:
        for commit in commits:
            copy.write_row(commit)


class CannotCopy(LabledgerError):
    """The past has events that cannot be repeated."""


_PAST: Final = (
    b"SELECT originator_id, originator_version, topic, state, notification_id, commit_end, partition"
    b" FROM log.events WHERE notification_id > %s ORDER BY notification_id"
)
_ENDED_AT: Final = b"SELECT recorded_at FROM log.events ORDER BY notification_id DESC LIMIT 1"
_EVENTS: Final = (
    b"COPY log.events (originator_id, originator_version, topic, state, notification_id, commit_end,"
    b" recorded_at, partition) FROM STDIN (FORMAT BINARY)"
)
_COMMITS: Final = b"COPY log.commits (command_id, first_position, last_position, recorded_at) FROM STDIN"
