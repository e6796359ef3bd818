"""Group commit: a thread appends the queued requests of many callers with one statement."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.requests import AppendRequest, Committed, Conflict, Fenced, Outcome

# Other processes wait while a group is appended, so a flood must not fill it with thousands of events. A
# larger request is a group of its own.
MAX_EVENTS = 400
# After a group of several requests, its callers soon send as many again. Waiting for these halves the number
# of commits, and each commit wakes every process. The thread waits for this time, at most `MAX_CHECKS` times
# and only while requests arrive, and not after a group of one request.
GATHER_SECONDS = 0.003
MAX_CHECKS = 6


@dataclass
class CommitCounters:
    """Counts for the metrics."""

    commits: int = 0
    requests: int = 0
    events: int = 0
    conflicts: int = 0
    retries: int = 0


@dataclass
class _QueuedRequest:
    """A queued request with the future of its caller."""

    request: AppendRequest
    future: asyncio.Future[Outcome]
    give_up_at: float


class GroupCommit:
    """The queues of requests by caller, and the thread that appends them in groups.

    Callers take turns, one request each, so that a flood of one caller delays others by a commit at most.
    Callers that have none in a group are first in the next one.

    A request that changes a subject of another one, or has its command id, goes into a later group, to be
    checked against the outcome of the first. Requests that only expect the same version share a group.

    While the database is away, a request is retried until `timeout_seconds` after its submission, and then
    fails with DatabaseAway. It may be in the log nevertheless; repeat it with its command id to find out.
    """

    def __init__(self, log: EventLog, timeout_seconds: float = 5.0) -> None:
        self.counters = CommitCounters()
        self._log = log
        self._timeout_seconds = timeout_seconds
        self._inbox: queue.SimpleQueue[_QueuedRequest | None] = queue.SimpleQueue()
        # By caller, in the order of their turns.
        self._backlog: dict[str, deque[_QueuedRequest]] = {}
        # The number of requests that probably arrive soon, 0 if the thread need not wait for them.
        self._expected = 0
        # The number of queued requests for which the thread waits, and whether they are there.
        self._wanted = sys.maxsize
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run, name="append", daemon=True)
        self._thread.start()

    async def submit(self, request: AppendRequest) -> Outcome:
        """Append with a group and return the outcome. Raises DatabaseAway after the timeout."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._inbox.put(_QueuedRequest(request, future, time.monotonic() + self._timeout_seconds))
        if self._inbox.qsize() >= self._wanted:
            self._enough.set()
        return await future

    def is_full(self) -> bool:
        """Return whether the database's disk is full. Blocking. Raises DatabaseAway."""
        return self._log.is_full()

    def close(self) -> None:
        """Commit all queued requests, then stop."""
        self._inbox.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open or self._backlog:
            is_open = self._collect(is_open) and is_open
            if is_open and self._expected:
                is_open = self._gather()
            group = self._take_group()
            self._expected = 0
            if group:
                self._commit(group)

    def _gather(self) -> bool:
        """Wait for the expected requests; return False after `close` was called."""
        for _ in range(MAX_CHECKS):
            before = self._waiting
            if before >= self._expected:
                break
            self._wait_for(self._expected - before)
            if not self._collect(wait=False):
                return False
            if self._waiting == before:
                break
        return True

    def _wait_for(self, count: int) -> None:
        """Wait GATHER_SECONDS, or until there are `count` requests in the inbox."""
        self._enough.clear()
        self._wanted = count
        if self._inbox.qsize() < count:
            self._enough.wait(GATHER_SECONDS)
        self._wanted = sys.maxsize

    def _collect(self, wait: bool) -> bool:
        """Move requests from the inbox to the backlog; return False after `close` was called."""
        try:
            item = self._inbox.get(block=wait and not self._backlog)
            while item is not None:
                if not item.future.cancelled():
                    self._backlog.setdefault(item.request.caller, deque()).append(item)
                item = self._inbox.get_nowait()
        except queue.Empty:
            return True
        return False

    @property
    def _waiting(self) -> int:
        return sum(map(len, self._backlog.values()))

    def _take_group(self) -> list[_QueuedRequest]:
        group = _Group()
        left: dict[str, deque[_QueuedRequest]] = {caller: deque() for caller in self._backlog}
        for caller, queued in _in_turn(self._backlog):
            if not group.take(queued):
                left[caller].append(queued)
        served = {queued.request.caller for queued in group.members}
        # The sort is stable: it keeps the order of callers that are alike.
        turns = sorted(filter(left.get, left), key=served.__contains__)
        self._backlog = {caller: left[caller] for caller in turns}
        return group.members

    def _commit(self, group: list[_QueuedRequest]) -> None:
        try:
            outcomes = self._append_with_retries(group)
        except Exception as error:
            self._fail(group, error)
            return
        self.counters.commits += 1
        self.counters.requests += len(group)
        for queued, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, Committed):
                self.counters.events += len(queued.request.changes)
            else:
                self.counters.conflicts += 1
        if len(group) > 1:
            # Each caller of the group may send another request after its answer, and others have sent theirs.
            self._expected = len(group) + self._waiting + self._inbox.qsize()
        _send(group, outcomes)

    def _fail(self, group: list[_QueuedRequest], error: Exception) -> None:
        if len(group) == 1 or isinstance(error, DatabaseAway):
            _send(group, [error] * len(group))
            return
        # Some request cannot be stored. Commit each alone, so that only that one fails.
        for queued in group:
            self._commit([queued])

    def _append_with_retries(self, group: list[_QueuedRequest]) -> list[Outcome]:
        requests = [queued.request for queued in group]
        give_up_at = max(queued.give_up_at for queued in group)
        while True:
            try:
                # A request whose outcome was lost is found by its command id, and is not written twice.
                return self._log.append(requests)
            except DatabaseAway:
                if time.monotonic() >= give_up_at:
                    raise
                self.counters.retries += 1
                time.sleep(0.1)


class _Group:
    """Requests that can be appended with one statement. Mutable."""

    def __init__(self) -> None:
        self.members: list[_QueuedRequest] = []
        self._events = 0
        self._used: set[str] = set()
        self._changed: set[str] = set()

    def take(self, queued: _QueuedRequest) -> bool:
        """Take a request unless it has to wait for another group; return whether it was taken."""
        request, command = queued.request, f"command:{queued.request.command_id}"
        is_free = self._used.isdisjoint((*request.changed, command)) and self._changed.isdisjoint(
            request.subjects
        )
        # Also for a request that waits, so that it stays before later requests of its subjects.
        self._used |= {*request.subjects, command}
        self._changed |= request.changed
        if not is_free or (self.members and not self._has_room(request)):
            return False
        self.members.append(queued)
        self._events += len(request.changes)
        return True

    def _has_room(self, request: AppendRequest) -> bool:
        is_full = self._events + len(request.changes) > MAX_EVENTS
        return not is_full and not _is_alone(request) and not _is_alone(self.members[0].request)


def _in_turn(backlog: Mapping[str, Iterable[_QueuedRequest]]) -> Iterator[tuple[str, _QueuedRequest]]:
    """Yield the requests of all callers, one of each caller in turn."""
    turns = deque((caller, iter(queued)) for caller, queued in backlog.items())
    while turns:
        caller, rest = turns.popleft()
        queued = next(rest, None)
        if queued is not None:
            yield caller, queued
            turns.append((caller, rest))


def _is_alone(request: AppendRequest) -> bool:
    """Return whether a request must be the only one of its group."""
    return request.joins_seen is not None


_Result = tuple[_QueuedRequest, "Outcome | Exception"]


def _send(group: Sequence[_QueuedRequest], outcomes: Sequence[Outcome | Exception]) -> None:
    """Send the outcomes to the callers. Wake each event loop only once, because wake-ups are expensive."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Result]] = defaultdict(list)
    for queued, outcome in zip(group, outcomes, strict=True):
        by_loop[queued.future.get_loop()].append((queued, outcome))
    for loop, results in by_loop.items():
        # A closed loop has no callers left.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_set_results, results)


def _set_results(results: Sequence[_Result]) -> None:
    for queued, outcome in results:
        # The caller was cancelled meanwhile.
        if queued.future.done():
            continue
        # Conflict and Fenced are exceptions, but outcomes here.
        if isinstance(outcome, (Committed, Conflict, Fenced)):
            queued.future.set_result(outcome)
        else:
            queued.future.set_exception(outcome)
