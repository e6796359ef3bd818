"""One database with its log, API processes and scheduler, emptied for each instance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta

from domain.events import Change, Decided, Recorded, Stamp
from domain.partition_numbers import partition_of
from domain.scheduling.decisions.draft import Decision
from domain.scheduling.decisions.timers import LoopInput, correct
from domain.scheduling.world.partition import Partition
from replay.audit import Audit, EventRecord, Violation, from_recorded
from replay.audit.world import FoldedWorld
from replay.verify.recorded_decisions import commits
from store.contacts import Contacts
from store.event_log import EventLog
from store.requests import AppendRequest, require_committed
from store.snapshots import Snapshots
from store.tailer import Tailer
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session
from tests.harness.waiting import wait_until
from tests.in_process.api_process import ApiProcess
from tests.in_process.interposed import InterposedLog
from tests.replay.audit.sound import fail_on
from workers.consistency import ConsistencyLoop
from workers.scheduler import Scheduler, lease_for

# Far more than any of these small labs needs; a scheduler that needs more is in an endless loop.
STEPS = 300


class LoopOnDemand(ConsistencyLoop):
    """A consistency loop that runs once after each demand, with trusted clocks and no silent lab."""

    def __init__(self, contacts: Contacts) -> None:
        super().__init__(contacts, every_seconds=0.0)
        self.is_demanded = False

    def start_if_due(self, partition: Partition, monotonic_seconds: float) -> bool:
        is_due, self.is_demanded = self.is_demanded, False
        return is_due

    def correct(self, partition: Partition, now: datetime, monotonic_seconds: float) -> list[Decision]:
        return correct(partition, LoopInput(now, {}), self.findings)


class SteppedScheduler:
    """A scheduler with a consistency loop on demand. Only the scheduler appends to the log object `log`."""

    def __init__(self, url: str, log: InterposedLog, clock: Callable[[], datetime]) -> None:
        self.log = log
        self.snapshots = Snapshots(log)
        self.loop = LoopOnDemand(Contacts(log))
        self._url = url
        self._clock = clock
        self._begun = 0

    def begin(self, partition: Partition | None = None) -> None:
        """Begin with the whole log, or with the partition of another scheduler."""
        begun = Partition() if partition is None else partition
        self._begun += 1
        self._lease = lease_for(self._url, f"test/{self._begun}")
        # The session of the previous scheduler ends only when the server notices.
        wait_until(lambda: self._lease.try_take() is not None)
        self._tailer = Tailer(self._url, after=begun.position)
        # Each step decides, whatever the time: the next actions depend on what it has decided.
        parts = self.log, self._tailer, self._lease, self._clock, begun, self.loop, self.snapshots
        self.scheduler = Scheduler(*parts, gather_seconds=0.0)
        self.step()

    @property
    def partition(self) -> Partition:
        return self.scheduler.partition

    @property
    def conflicts(self) -> int:
        return self.scheduler.counters.conflicts

    def step(self) -> None:
        """Read the log to its end, and decide once."""
        self.scheduler.step(timeout_seconds=0.0)

    def settle(self) -> None:
        """Run until there is nothing left to read or decide."""
        for _ in range(STEPS):
            end = self.log.end()
            self.step()
            if self.partition.position == end == self.log.end() and not self.partition.triggers.waiting():
                return
        raise AssertionError(f"after {STEPS} steps there is still something to decide")

    def die(self) -> None:
        """End without a snapshot; the partition is lost."""
        self._lease.release()
        self._tailer.close()

    def leave(self) -> None:
        """Shut down, which leaves a snapshot."""
        self.scheduler.run(stopping=lambda: True)


class Watched:
    """A log under audit; `look` reads new commits. `world` is the state that the audit has folded."""

    def __init__(self, log: EventLog) -> None:
        self.recorded: list[Recorded] = []
        self.violations: list[Violation] = []
        self._log = log
        self._audit = Audit()

    @property
    def world(self) -> FoldedWorld:
        return self._audit.world

    @property
    def records(self) -> list[EventRecord]:
        return list(from_recorded(self.recorded))

    @property
    def position(self) -> int:
        return self.recorded[-1].position if self.recorded else 0

    def look(self) -> FoldedWorld:
        """Check the new commits. Raises AssertionError for a violation."""
        for commit in commits(self._news()):
            self.violations += self._audit.take(commit)
        fail_on(self.violations)
        return self.world

    def _news(self) -> list[Recorded]:
        found: list[Recorded] = []
        after, end = self.position, self._log.end()
        while after < end:
            part, after = self._log.select(after, end, 1_000)
            found += part
        self.recorded += found
        return found

    def at_rest(self) -> None:
        """Check the state in which the scheduler has nothing left to decide."""
        self.look()
        fail_on(list(self._audit.at_rest()))

    def folded(self) -> Partition:
        """Return the partition of a scheduler that has just begun."""
        partition = Partition()
        for recorded in self.recorded:
            partition.apply(recorded, self._log.history)
        return partition


# Only the owner may empty the log, and only with the triggers disabled that refuse it.
EMPTIED = b"""
SET session_replication_role = replica;
DELETE FROM log.events; DELETE FROM log.commits; DELETE FROM log.leases; DELETE FROM log.reads;
DELETE FROM live.snapshots; DELETE FROM live.leases; DELETE FROM live.contacts; DELETE FROM secret.passwords;
DELETE FROM secret.power_settings;
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
        (outcome,) = self.log.append(
            [AppendRequest(f"put/{self.log.end()}", changes, expected, partition=partition_of(expected))]
        )
        require_committed(outcome)
        for process in self.apis:
            process.catch_up()
