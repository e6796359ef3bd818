"""Group commit: a thread appends all queued requests with one statement."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.requests import AppendRequest, Committed, Conflict, Fenced, Outcome

MAX_EVENTS = 5_000
# After a group of several requests more are on their way. To wait for them halves the number of commits, and
# each commit wakes every process. The thread does not wait after a single request, and checks again only
# while requests arrive.
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
class _Waiting:
    """A queued request with the future of its caller."""

    request: AppendRequest
    future: asyncio.Future[Outcome]
    give_up_at: float


class GroupCommit:
    """A queue of requests, and the thread that appends them in groups.

    Requests with a common subject or command id go into successive groups, so that each is judged by the
    result of the one before.

    While the database is away, a request is retried until `patience_seconds` after its submission, and then
    fails with DatabaseAway. It may be in the log all the same: a repetition with the same command id tells.
    """

    def __init__(self, log: EventLog, patience_seconds: float = 5.0) -> None:
        self.counters = CommitCounters()
        self._log = log
        self._patience_seconds = patience_seconds
        self._inbox: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._backlog: deque[_Waiting] = deque()
        self._has_company = False
        self._thread = threading.Thread(target=self._run, name="append", daemon=True)
        self._thread.start()

    async def submit(self, request: AppendRequest) -> Outcome:
        """Append with the next group and return the outcome; raise DatabaseAway when the time is up."""
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._inbox.put(_Waiting(request, future, time.monotonic() + self._patience_seconds))
        return await future

    def is_full(self) -> bool:
        """Return whether the database's disk is full. Blocking. Raises DatabaseAway."""
        return self._log.is_full()

    def close(self) -> None:
        """Commit all queued requests, then stop."""
        self._inbox.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_ = True
        while open_ or self._backlog:
            open_ = self._collect(open_) and open_
            if open_ and self._has_company:
                open_ = self._gather()
            group = self._take_group()
            self._has_company = len(group) > 1
            if group:
                self._commit(group)

    def _gather(self) -> bool:
        """Wait for more requests; return False after `close` was called."""
        for _ in range(MAX_CHECKS):
            before = len(self._backlog)
            time.sleep(GATHER_SECONDS)
            if not self._collect(wait=False):
                return False
            if len(self._backlog) == before:
                break
        return True

    def _collect(self, wait: bool) -> bool:
        """Move requests from the inbox to the backlog; return False after `close` was called."""
        try:
            item = self._inbox.get(block=wait and not self._backlog)
            while item is not None:
                if not item.future.cancelled():
                    self._backlog.append(item)
                item = self._inbox.get_nowait()
        except queue.Empty:
            return True
        return False

    def _take_group(self) -> list[_Waiting]:
        group: list[_Waiting] = []
        touched: set[str] = set()
        later: deque[_Waiting] = deque()
        events = 0
        while self._backlog:
            waiting = self._backlog.popleft()
            request = waiting.request
            marks = request.subjects | {f"command:{request.command_id}"}
            full = group and events + len(request.changes) > MAX_EVENTS
            if full or not touched.isdisjoint(marks):
                later.append(waiting)
            else:
                group.append(waiting)
                events += len(request.changes)
            # A deferred request stays before later requests of its subjects.
            touched |= marks
        self._backlog = later
        return group

    def _commit(self, group: list[_Waiting]) -> None:
        try:
            outcomes = self._append_patiently(group)
        except Exception as error:
            self._fail(group, error)
            return
        self.counters.commits += 1
        self.counters.requests += len(group)
        for waiting, outcome in zip(group, outcomes, strict=True):
            if isinstance(outcome, Committed):
                self.counters.events += len(waiting.request.changes)
            else:
                self.counters.conflicts += 1
        _answer(group, outcomes)

    def _fail(self, group: list[_Waiting], error: Exception) -> None:
        if len(group) == 1 or isinstance(error, DatabaseAway):
            _answer(group, [error] * len(group))
            return
        # One request cannot be stored at all. Commit the others.
        for waiting in group:
            self._commit([waiting])

    def _append_patiently(self, group: list[_Waiting]) -> list[Outcome]:
        requests = [waiting.request for waiting in group]
        give_up_at = max(waiting.give_up_at for waiting in group)
        while True:
            try:
                # A request whose answer was lost is found by its command id, and is not written twice.
                return self._log.append(requests)
            except DatabaseAway:
                if time.monotonic() >= give_up_at:
                    raise
                self.counters.retries += 1
                time.sleep(0.1)


_Answered = tuple[_Waiting, "Outcome | Exception"]


def _answer(group: Sequence[_Waiting], answers: Sequence[Outcome | Exception]) -> None:
    """Set the answers. Each event loop is woken once, because a wake-up costs as much as an answer."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Answered]] = defaultdict(list)
    for waiting, answer in zip(group, answers, strict=True):
        by_loop[waiting.future.get_loop()].append((waiting, answer))
    for loop, some in by_loop.items():
        # A closed loop has no callers left.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, some)


def _settle(answers: Sequence[_Answered]) -> None:
    for waiting, answer in answers:
        # The caller gave up meanwhile.
        if waiting.future.done():
            continue
        # Conflict and Fenced are exceptions, too, but results here.
        if isinstance(answer, (Committed, Conflict, Fenced)):
            waiting.future.set_result(answer)
        else:
            waiting.future.set_exception(answer)
