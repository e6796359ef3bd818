"""The log as the rest of the program sees it: append, load, read."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from postgres.errors import DatabaseFull, away
from store.datastore import Datastore
from store.mapper import EventMapper
from store.recorder import NewRow, Recorder, StoredAppend
from store.requests import AppendRequest, Committed, Outcome
from store.selection import EVERYTHING, Selection, subjects_of
from store.sql import BOUNDED, PAGE_BYTES, SQL, bounded_rows
from store.tailer import Tailer

logger = logging.getLogger(__name__)

FOLDED_TOPICS = frozenset(
    event.TOPIC for event in (*state.FOLDED_EVENTS, *visibility.FOLDED_EVENTS, *installable.FOLDED_EVENTS)
)
"""The topics of the events that a serving process folds."""


class EventLog(EventStore[str]):
    """Each call raises DatabaseAway while the database is."""

    mapper: EventMapper
    recorder: Recorder

    def __init__(self, url: str, pool_size: int = 2, datastore: Datastore | None = None) -> None:
        self.datastore = Datastore(url, pool_size) if datastore is None else datastore
        self._pool_size = pool_size
        self._was_full = False
        super().__init__(EventMapper(), Recorder(self.datastore))

    def append(self, requests: Sequence[AppendRequest]) -> list[Outcome]:
        """Append in one statement. Requests of one call must not share a subject or a command id."""
        stored = [self._stored(request) for request in requests]
        try:
            outcomes = self.recorder.insert(stored)
        except (OperationalError, InterfaceError) as error:
            if isinstance(error.__cause__, LockNotAvailable):
                self._end_hung_writers()
            told = away(error)
            self._was_full = self._was_full or isinstance(told, DatabaseFull)
            raise told from error
        self._was_full = False
        return outcomes

    def _end_hung_writers(self) -> None:
        ((ended,),) = self.rows(SQL["end_hung_writers"], ())
        if ended:
            logger.warning("log: sessions that held up appends were ended", extra={"sessions": ended})

    def is_full(self) -> bool:
        """Whether an append was refused for want of room, none was taken since, and there still is none."""
        return self._was_full and not self.rows(SQL["has_room"], ())[0][0]

    def _stored(self, request: AppendRequest) -> StoredAppend:
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
        )

    def load(self, after: Mapping[str, int]) -> dict[str, list[Recorded]]:
        """The events of each subject after the given version (0: all), in one query."""
        found: dict[str, list[Recorded]] = {subject: [] for subject in after}
        for recorded in self._recorded(SQL["load"], (list(after), list(after.values()))):
            found[recorded.subject].append(recorded)
        return found

    def at(self, positions: Sequence[int]) -> dict[int, Recorded]:
        """The events at these positions."""
        found = self._recorded(SQL["at_positions"], (list(positions),))
        return {recorded.position: recorded for recorded in found}

    def directory(self, upto: int) -> Iterable[Recorded]:
        """The events of the directory, and of who may have which system, up to a position."""
        return self._recorded(SQL["directory"], (sorted(FOLDED_TOPICS), upto))

    def select(
        self,
        after: int,
        upto: int,
        limit: int,
        selection: Selection = EVERYTHING,
        size_bytes: int = PAGE_BYTES,
    ) -> tuple[list[Recorded], int]:
        """A part of the log for showing, and the position up to which nothing is left out of it."""
        query = "all_between" if selection.is_everything else "selected"
        asked = {
            "after": after,
            "upto": upto,
            "limit": limit,
            "bytes": size_bytes,
            "topics": list(selection.anywhere),
            "subjects": list(selection.subjects),
            "of_subject": list(selection.topics) if selection.topics else None,
            "hidden": list(selection.hidden),
        }
        rows, available = bounded_rows(self.rows(BOUNDED[query], asked))
        found = [self.mapper.recorded(row) for row in rows]
        if selection.unseen:
            found = [recorded for recorded in found if selection.sees(subjects_of(recorded))]
        is_whole = len(rows) == available < limit
        return found, upto if is_whole else rows[-1].position

    def end(self) -> int:
        """The last position, 0 when the log is empty."""
        ((position,),) = self.rows(SQL["end"], ())
        return int(position)

    def commit_of(self, command_id: str) -> Committed | None:
        """The commit that was made for a command id, if there is one."""
        return self.commits_of([command_id]).get(command_id)

    def commits_of(self, command_ids: Sequence[str]) -> dict[str, Committed]:
        """Those of them that were made, by command id."""
        return {
            command_id: Committed(first, last, recorded_at, True, digest, answer)
            for command_id, first, last, recorded_at, digest, answer in self.rows(
                SQL["commits_of"], (list(command_ids),)
            )
        }

    def take_ids(self, jobs: Sequence[Counts]) -> list[Ids]:
        """Numbers for jobs, in one query; each kind ascends, and one that is not used leaves a gap."""
        wanted = [len(jobs), *map(sum, zip(*jobs, strict=True))]
        (found,) = self.rows(SQL["take_ids"], wanted)
        job_ids, *parts = map(iter, found)
        return [
            Ids(next(job_ids), *(tuple(islice(*part)) for part in zip(parts, job, strict=True)))
            for job in jobs
        ]

    def follow(self, after: int = 0, **options: Any) -> Tailer:
        """Return a tailer that begins after a position, with a connection of its own."""
        return Tailer(self.datastore.url, after, **options)

    def close(self) -> None:
        self.datastore.close()

    def _recorded(self, query: bytes, params: Any) -> Iterator[Recorded]:
        return map(self.mapper.recorded, self.rows(query, params))

    def rows(self, query: bytes, params: Any) -> list[tuple[Any, ...]]:
        """The rows of one statement, which may be made twice: it is asked again while the pool hands out
        sessions that died when the database was away.
        """
        for attempt in range(self._pool_size + 1):
            try:
                return self._ask(query, params)
            except (OperationalError, InterfaceError) as error:
                if attempt == self._pool_size or isinstance(error.__cause__, PoolTimeout):
                    raise away(error) from error
        raise AssertionError("the last attempt returns or raises")

    def _ask(self, query: bytes, params: Any) -> list[tuple[Any, ...]]:
        with self.datastore.get_connection() as connection:
            cursor = connection.cursor(row_factory=tuple_row, binary=True)
            return cursor.execute(query, params, prepare=True).fetchall()
