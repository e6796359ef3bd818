"""Many threads append, one commits: whatever has queued up goes into the log in one statement."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass

from api.store.event_log import EventLog
from api.store.requests import Append, Committed, Outcome
from projections.database import DatabaseAway

MAX_EVENTS = 5_000


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
    request: Append
    future: Future[Outcome]
    give_up_at: float


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
        self._thread = threading.Thread(target=self._run, name="append", daemon=True)
        self._thread.start()

    def submit(self, request: Append) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        self._inbox.put(_Waiting(request, future, time.monotonic() + self._patience_seconds))
        return future

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
            group = self._take_group()
            if group:
                self._commit(group)

    def _collect(self, wait: bool) -> bool:
        """Move what is in the inbox to the backlog; False once `close` was called."""
        try:
            item = self._inbox.get(block=wait and not self._backlog)
            while item is not None:
                # From here on it cannot be cancelled; who gave up before gets nothing written.
                if item.future.set_running_or_notify_cancel():
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
            waiting.future.set_result(outcome)

    def _fail(self, group: list[_Waiting], error: Exception) -> None:
        if len(group) == 1 or isinstance(error, DatabaseAway):
            for waiting in group:
                waiting.future.set_exception(error)
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
