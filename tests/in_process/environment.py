"""One database with its log, API processes and scheduler, emptied for each instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta

from domain.events import Change, Decided, Stamp
from store.event_log import EventLog
from store.requests import AppendRequest, require_committed
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session
from tests.in_process.api_process import ApiProcess
from tests.in_process.audited_log import Watched
from tests.in_process.interposed import InterposedLog
from tests.in_process.scheduler_process import SteppedScheduler

# Only the owner may empty the log, and only with the triggers disabled that refuse it.
EMPTIED = b"""
SET session_replication_role = replica;
DELETE FROM log.events; DELETE FROM log.commits; DELETE FROM log.leases; DELETE FROM log.reads;
DELETE FROM live.snapshots; DELETE FROM live.leases; DELETE FROM live.contacts; DELETE FROM secret.passwords;
DELETE FROM live.written; DELETE FROM live.unfinished;
ALTER SEQUENCE log.job_ids RESTART; ALTER SEQUENCE log.recipe_set_ids RESTART;
ALTER SEQUENCE log.recipe_ids RESTART; ALTER SEQUENCE log.task_ids RESTART;
RESET session_replication_role
"""
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class TickingClock:
    """A clock that advances by a second at each call."""

    def __init__(self) -> None:
        self.now = BEGINNING

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


class Environment:
    """A database for instances of Labledger, one after another."""

    def __init__(self, database: TestDatabase, apis: int = 1) -> None:
        self._stack = ExitStack()
        self._url = database.service_url
        self._owner: Owner = self._stack.enter_context(owner_session(database.owner_url))
        self.log = self._log(EventLog)
        self._appended = [self._log(InterposedLog) for _ in range(apis)]
        self._decided = self._log(InterposedLog)

    def _log(self, kind: Callable[[str], EventLog]):  # type: ignore[no-untyped-def]
        return self._stack.enter_context(closing(kind(self._url)))

    @contextmanager
    def scene(self) -> Iterator[Instance]:
        """Yield an instance with an empty log and a scheduler that has not begun; close it at the end."""
        self._owner.execute(EMPTIED)
        with ExitStack() as stack:
            clock = TickingClock()
            made = (ApiProcess(self._url, self.log, appended, clock) for appended in self._appended)
            apis = [stack.enter_context(closing(process)) for process in made]
            yield Instance(self.log, apis, SteppedScheduler(self._url, self._decided, clock))

    def close(self) -> None:
        self._stack.close()


class Instance:
    def __init__(self, log: EventLog, apis: list[ApiProcess], scheduler: SteppedScheduler) -> None:
        self.log, self.apis, self.scheduler = log, apis, scheduler
        self.watched = Watched(log)

    @property
    def api(self) -> ApiProcess:
        return self.apis[0]

    def put(self, decided: Iterable[tuple[str, object]]) -> None:
        """Append events of new subjects as one commit."""
        events: Decided = list(decided)  # type: ignore[arg-type]
        stamp = Stamp(BEGINNING, "admin", "request/beginning")
        changes = tuple(Change(subject, event, stamp) for subject, event in events)
        expected = dict.fromkeys((subject for subject, _ in events), 0)
        (outcome,) = self.log.append([AppendRequest(f"put/{self.log.end()}", changes, expected)])
        require_committed(outcome)
        for process in self.apis:
            process.catch_up()
