"""The event log: append, load, select and follow events."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from eventsourcing.persistence import EventStore, InterfaceError, OperationalError
from psycopg.errors import LockNotAvailable
from psycopg.rows import tuple_row
from psycopg_pool import PoolTimeout

from domain.directory import state, visibility
from domain.distro_choice import installable
from domain.events import Recorded
from domain.job.submission import Counts, Ids
from domain.partition_numbers import read_by
from postgres.errors import DatabaseFull, away
from store.datastore import Datastore, connect
from store.mapper import EventMapper, StoredRow
from store.recorder import NewRow, Recorder, StoredAppend
from store.requests import AppendRequest, Committed, Outcome
from store.selection import EVERYTHING, POOL_SYSTEM_TOPICS, Selection, subjects_of
from store.sql import BACKWARDS, BOUNDED, MAX_PAGE_BYTES, SQL, bounded_rows
from store.tailer import Tailer

logger = logging.getLogger(__name__)

FOLDED_TOPICS = frozenset(
    event.TOPIC for event in (*state.FOLDED_EVENTS, *visibility.FOLDED_EVENTS, *installable.FOLDED_EVENTS)
)
"""The topics of the events that an API process folds."""

# A page of the events of one actor covers at most this number of positions, because it may read all of them.
MAX_ACTOR_POSITIONS = 1 << 18


class EventLog(EventStore[str]):
    """The event log in PostgreSQL. Each method that queries it raises DatabaseAway, and blocks."""

    mapper: EventMapper
    recorder: Recorder

    def __init__(self, url: str, pool_size: int = 2, datastore: Datastore | None = None) -> None:
        self.datastore = Datastore(url, pool_size) if datastore is None else datastore
        self._pool_size = pool_size
        self._was_full = False
        super().__init__(EventMapper(), Recorder(self.datastore))

    def append(self, requests: Sequence[AppendRequest]) -> list[Outcome]:
        """Append all requests in one statement. None changes a subject of another; ids differ."""
        stored = [self._with_rows(request) for request in requests]
        try:
            outcomes = self.recorder.insert(stored)
        except (OperationalError, InterfaceError) as error:
            if isinstance(error.__cause__, LockNotAvailable):
                self._end_hung_writers()
            failure = away(error)
            self._was_full = self._was_full or isinstance(failure, DatabaseFull)
            raise failure from error
        self._was_full = False
        return outcomes

    def _end_hung_writers(self) -> None:
        ((ended,),) = self.rows(SQL["end_hung_writers"], ())
        if ended:
            logger.warning("log: ended sessions that blocked appends", extra={"sessions": ended})

    def is_full(self) -> bool:
        """Return whether an append failed on a full disk, none succeeded since, and the disk is full."""
        if not self._was_full:
            return False
        ((has_room,),) = self.rows(SQL["has_room"], ())
        return not has_room

    def _with_rows(self, request: AppendRequest) -> StoredAppend:
        versions = dict(request.expected)
        rows: list[NewRow] = []
        for change in request.changes:
            subject = change.subject
            version = versions[subject] = versions[subject] + 1
            rows.append((subject, version, change.event.TOPIC, self.mapper.state(change)))
        return StoredAppend(
            request.command_id,
            rows,
            request.expected,
            request.fence,
            request.digest,
            request.answer,
            request.actor,
            request.new_recipes,
            request.original,
            request.partition,
            request.joins_seen,
            request.power,
            request.address,
        )

    def load(self, after: Mapping[str, int]) -> dict[str, list[Recorded]]:
        """Return subject -> its events after the given version (0: all). One query."""
        events: dict[str, list[Recorded]] = {subject: [] for subject in after}
        for recorded in self._recorded(SQL["load"], (list(after), list(after.values()))):
            events[recorded.subject].append(recorded)
        return events

    def history(self, subjects: Sequence[str], before: int | None = None) -> list[Recorded]:
        """Return the events of some subjects in log order, all or those before a position. One query."""
        loaded = self.load(dict.fromkeys(subjects, 0)).values()
        found = [
            recorded
            for events in loaded
            for recorded in events
            if before is None or recorded.position < before
        ]
        return sorted(found, key=lambda recorded: recorded.position)

    def existing(self, subjects: Iterable[str]) -> frozenset[str]:
        """Return those of the subjects that have events. One query."""
        return frozenset(subject for (subject,) in self.rows(SQL["existing"], (list(subjects),)))

    def first_partitions(self, subjects: Sequence[str]) -> dict[str, int]:
        """Return subject -> the partition of its first event, without subjects that have none. One query.

        A command has the partition of the event that caused it, whose position is its number.
        """
        return dict(self.rows(SQL["first_partitions"], (list(subjects),)))

    def at(self, positions: Sequence[int]) -> dict[int, Recorded]:
        events = self._recorded(SQL["at_positions"], (list(positions),))
        return {recorded.position: recorded for recorded in events}

    def directory(self, upto: int) -> Iterable[Recorded]:
        return self._recorded(SQL["directory"], (sorted(FOLDED_TOPICS), upto))

    def select(
        self,
        after: int,
        upto: int,
        limit: int,
        selection: Selection = EVERYTHING,
        size_bytes: int = MAX_PAGE_BYTES,
    ) -> tuple[list[Recorded], int]:
        """Return the next selected events, and the position up to which they are complete."""
        query = BOUNDED[_query_of(selection)]
        if selection.actor is not None:
            upto = min(upto, after + MAX_ACTOR_POSITIONS)
        events, last = self._bounded(query, after, upto, limit, selection, size_bytes)
        return events, upto if last is None else last

    def select_backwards(
        self, after: int, upto: int, limit: int, selection: Selection = EVERYTHING
    ) -> tuple[list[Recorded], int]:
        """Return the last selected events, newest first, and the position after which they are complete."""
        query = BACKWARDS[_query_of(selection)]
        if selection.actor is not None:
            after = max(after, upto - MAX_ACTOR_POSITIONS)
        events, last = self._bounded(query, after, upto, limit, selection, MAX_PAGE_BYTES)
        return events, after if last is None else last - 1

    def _bounded(
        self, query: bytes, after: int, upto: int, limit: int, selection: Selection, size_bytes: int
    ) -> tuple[list[Recorded], int | None]:
        """Return the visible events of a bounded query, and its last position; None if they are complete."""
        params = {
            "after": after,
            "upto": upto,
            "limit": limit,
            "bytes": size_bytes,
            "topics": list(selection.anywhere),
            "subjects": list(selection.subjects),
            "of_subject": list(selection.topics) if selection.topics else None,
            "hidden": list(selection.hidden),
            "partition": selection.partition,
            "everything": selection.is_everything,
            "actor": selection.actor,
            "unseen": list(selection.unseen),
            "pool_system_topics": sorted(POOL_SYSTEM_TOPICS),
        }
        rows, may_have_more = bounded_rows(self.rows(query, params), limit, size_bytes)
        events = [self.mapper.recorded(row) for row in rows]
        if selection.unseen:
            events = [recorded for recorded in events if selection.sees(subjects_of(recorded))]
        return events, rows[-1].position if may_have_more else None

    def span(self, since: datetime | None, until: datetime | None) -> tuple[int, int | None]:
        """Return the last position before each of two moments; 0 and None without them."""
        ((first, last),) = self.rows(SQL["span"], {"since": since, "until": until})
        return first or 0, None if until is None else last or 0

    def caused_by(self, position: int, after: int, upto: int, limit: int) -> tuple[list[Recorded], int]:
        """Return events between two positions that an event caused, and up to where they are complete.

        The span must be short, because no index finds events by their cause.
        """
        cause = f"event/{position}"
        params = {"after": after, "upto": upto, "text": f'"{cause}"'.encode(), "limit": limit}
        found = list(self._recorded(SQL["naming"], params))
        through = found[-1].position if len(found) == limit else upto
        return [recorded for recorded in found if recorded.stamp.cause == cause], through

    def end(self) -> int:
        """Return the last position; 0 for an empty log."""
        ((position,),) = self.rows(SQL["end"], ())
        return int(position)

    def end_of(self, partition: int) -> int:
        """Return the last position that a partition reads; 0 without any."""
        ((position,),) = self.rows(SQL["end_of"], (read_by(partition),))
        return int(position)

    def rows_between(self, after: int, before: int, partition: int) -> list[StoredRow]:
        """Return the rows between two positions that a partition reads. One query."""
        params = {"after": after, "upto": before - 1, "partitions": read_by(partition), "excluded_topics": []}
        return [StoredRow._make(row) for row in self.rows(SQL["all_but"], params)]

    def commit_of(self, command_id: str) -> Committed | None:
        return self.commits_of([command_id]).get(command_id)

    def commits_of(self, command_ids: Sequence[str]) -> dict[str, Committed]:
        """Return command id -> commit, without ids that have none."""
        return {
            command_id: Committed(first, last, recorded_at, True, digest, answer)
            for command_id, first, last, recorded_at, digest, answer in self.rows(
                SQL["commits_of"], (list(command_ids),)
            )
        }

    def take_ids(self, jobs: Sequence[Counts]) -> list[Ids]:
        """Return ids for jobs. One query. Ids of each kind ascend; unused ones leave gaps."""
        wanted = [len(jobs), *map(sum, zip(*jobs, strict=True))]
        (taken,) = self.rows(SQL["take_ids"], wanted)
        job_ids, *parts = map(iter, taken)
        return [
            Ids(next(job_ids), *(tuple(islice(*part)) for part in zip(parts, job, strict=True)))
            for job in jobs
        ]

    def take_partition_number(self) -> int:
        """Return a number that no partition has had."""
        ((number,),) = self.rows(SQL["take_partition_number"], ())
        return int(number)

    def last_job_id(self) -> int:
        """Return the last job id that `take_ids` has returned to any process; 0 before the first."""
        ((job_id,),) = self.rows(SQL["last_job_id"], ())
        return 0 if job_id is None else int(job_id)

    def follow(self, after: int = 0, **options: Any) -> Tailer:
        """Return a tailer that begins after a position, with a connection of its own."""
        return Tailer(self.datastore.url, after, **options)

    def close(self) -> None:
        self.datastore.close()

    def _recorded(self, query: bytes, params: Any) -> Iterator[Recorded]:
        return map(self.mapper.recorded, self.rows(query, params))

    def rows(self, query: bytes, params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a repeatable statement, repeated while the pool returns dead sessions."""
        for attempt in range(self._pool_size + 1):
            try:
                return self._execute(query, params)
            except (OperationalError, InterfaceError) as error:
                if attempt == self._pool_size or isinstance(error.__cause__, PoolTimeout):
                    raise away(error) from error
        raise AssertionError("the last attempt returns or raises")

    def _execute(self, query: bytes, params: Any) -> list[tuple[Any, ...]]:
        with self.datastore.get_connection() as connection:
            cursor = connection.cursor(row_factory=tuple_row, binary=True)
            return cursor.execute(query, params, prepare=True).fetchall()


def _query_of(selection: Selection) -> str:
    """Return the name of the fastest query."""
    if selection.is_by_partition:
        name = "of_partition"
    else:
        name = "all_between" if selection.is_everything and selection.partition is None else "selected"
    return name if selection.actor is None else f"{name}_of_actor"


# Maximum number of rows in memory; a row may contain a whole job.
MAX_ROWS = 500


class LogReader:
    """A reader of the log after a position, without the excluded topics. Raises the errors of psycopg.

    It yields what a partition reads, and everything if none is given.
    """

    def __init__(
        self, url: str, excluded_topics: Sequence[str], partition: int | None = None, after: int = 0
    ) -> None:
        self.position = after
        partitions = None if partition is None else read_by(partition)
        self._params = {"excluded_topics": excluded_topics, "partitions": partitions}
        self._mapper = EventMapper()
        self._connection = connect(url)

    def upto(self, position: int) -> Iterator[Recorded]:
        """Yield the next events up to an existing position. Exhaust the iterator before the next call."""
        params = {"after": self.position, "upto": position, **self._params}
        cursor = self._connection.cursor(row_factory=tuple_row)
        rows = cursor.stream(SQL["all_but"], params, binary=True, size=MAX_ROWS)
        yield from map(self._mapper.recorded, rows)
        self.position = position

    def close(self) -> None:
        self._connection.close()
