"""Many threads append, one commits: whatever has queued up goes into the log in one statement."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass

from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.requests import AppendRequest, Committed, Conflict, Fenced, Outcome

MAX_EVENTS = 5_000
# Where several were committed together, the next are on their way: waited for, they make half as many
# commits, and each commit wakes every process. Who is alone does not wait. It is looked again as long as
# more have come since the last look.
GATHER_SECONDS = 0.003
MOST_LOOKS = 6


@dataclass
class CommitCounters:
    """For the metrics."""

    commits: int = 0
    requests: int = 0
    events: int = 0
    conflicts: int = 0
    retries: int = 0


@dataclass
class _Waiting:
    """`loop` is that of the one who waits, None for a thread."""

    request: AppendRequest
    future: Future[Outcome] | asyncio.Future[Outcome]
    give_up_at: float
    loop: asyncio.AbstractEventLoop | None = None

    def begin(self) -> bool:
        """From here on it cannot be cancelled; False: who gave up before gets nothing written."""
        if isinstance(self.future, Future):
            return self.future.set_running_or_notify_cancel()
        return not self.future.cancelled()


class GroupCommit:
    """One thread, one statement for all that waits. Requests that touch the same subject or carry the same
    command id go one group after the other, so that each is judged against what the one before has done.

    While the database is away a request is tried again until `patience_seconds` have passed since it was
    handed in, then fails with DatabaseAway: whether it is in the log is then unknown, and asking again with
    the same command id finds out.
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
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        self._inbox.put(_Waiting(request, future, self._give_up_at(), loop))
        return await future

    def enqueue(self, request: AppendRequest) -> Future[Outcome]:
        """Return a future of the same outcome, for callers without an event loop."""
        future: Future[Outcome] = Future()
        self._inbox.put(_Waiting(request, future, self._give_up_at()))
        return future

    def _give_up_at(self) -> float:
        return time.monotonic() + self._patience_seconds

    def is_full(self) -> bool:
        """Blocking; raises DatabaseAway."""
        return self._log.is_full()

    def close(self) -> None:
        """Commit what was handed in, then stop."""
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
        """False once `close` was called."""
        for _ in range(MOST_LOOKS):
            before = len(self._backlog)
            time.sleep(GATHER_SECONDS)
            if not self._collect(wait=False):
                return False
            if len(self._backlog) == before:
                break
        return True

    def _collect(self, wait: bool) -> bool:
        """Move what is in the inbox to the backlog; False once `close` was called."""
        try:
            item = self._inbox.get(block=wait and not self._backlog)
            while item is not None:
                if item.begin():
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
            # Also what is put off holds its place before later requests of the same subject.
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
        # One of them cannot be stored at all; that must not be the others' loss.
        for waiting in group:
            self._commit([waiting])

    def _append_patiently(self, group: list[_Waiting]) -> list[Outcome]:
        requests = [waiting.request for waiting in group]
        give_up_at = max(waiting.give_up_at for waiting in group)
        while True:
            try:
                # A request whose answer was lost is found by its command id, and not written again.
                return self._log.append(requests)
            except DatabaseAway:
                if time.monotonic() >= give_up_at:
                    raise
                self.counters.retries += 1
                time.sleep(0.1)


_Answered = tuple[_Waiting, "Outcome | Exception"]


def _answer(group: Sequence[_Waiting], answers: Sequence[Outcome | Exception]) -> None:
    """An event loop is woken once for all that wait in it: each time would cost as much as an answer."""
    of_loop: dict[asyncio.AbstractEventLoop | None, list[tuple[_Waiting, Outcome | Exception]]] = defaultdict(
        list
    )
    for waiting, answer in zip(group, answers, strict=True):
        of_loop[waiting.loop].append((waiting, answer))
    for loop, some in of_loop.items():
        if loop is None:
            _settle(some)
        else:
            # Of a loop that is closed nobody waits any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, some)


def _settle(some: Sequence[_Answered]) -> None:
    for waiting, answer in some:
        # Who gave up meanwhile wants to hear nothing.
        if waiting.future.done():
            continue
        # What became of a request is an error, too, but none that was raised.
        if isinstance(answer, (Committed, Conflict, Fenced)):
            waiting.future.set_result(answer)
        else:
            waiting.future.set_exception(answer)
