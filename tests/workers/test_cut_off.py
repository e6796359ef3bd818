"""Schedulers and feeds that are cut off from the database."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import httpx
import pytest

from api import database_setup
from api.application import Lifespan, application
from api.feed import Feed
from api.rest.middleware import gate
from api.rest.resources import readiness
from domain.partition_numbers import DEFAULT_PARTITION
from store.event_log import EventLog
from store.lease import SCHEDULER, Lease
from store.readiness import database_state
from store.tailer import Tailer
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.in_process.api_process import ApiProcess
from tests.in_process.interposed import InterposedLog
from tests.workers.logins import cut_off, let_in, other_login
from workers import heartbeat
from workers.heartbeat import Progress
from workers.scheduler import Scheduler

LEASE_SECONDS = 2.0


def is_live(log: EventLog) -> bool:
    holder = database_state(log, 0).schedulers[DEFAULT_PARTITION.name]
    return holder is not None and holder.is_live


@contextmanager
def scheduling(log: EventLog, database: TestDatabase) -> Iterator[None]:
    """Run a scheduler in a thread; it reads by another login, and holds the lease at first."""
    stop = threading.Event()

    def run(tailer: Tailer) -> None:
        lease = Lease(database.service_url, SCHEDULER, "cut off", LEASE_SECONDS)
        Scheduler(log, tailer, lease, lambda: datetime.now(UTC)).run(stop.is_set)

    with other_login(database.owner_url) as url, closing(Tailer(url)) as tailer:
        thread = threading.Thread(target=run, args=(tailer,))
        thread.start()
        try:
            wait_until(lambda: is_live(log))
            yield
        finally:
            stop.set()
            thread.join()


def test_scheduler__cannot_read_the_log__is_said_to_hang_and_replaced(
    database: TestDatabase, log: EventLog, owner: Owner
) -> None:
    with scheduling(log, database):
        cut_off(owner)
        wait_until(lambda: not is_live(log))
        with closing_lease(database) as standby:
            wait_until(standby.try_take)
            assert standby.is_held()


def test_scheduler__cannot_read_for_a_while_and_nobody_replaced_it__goes_on(
    database: TestDatabase, log: EventLog, owner: Owner
) -> None:
    with scheduling(log, database):
        cut_off(owner)
        wait_until(lambda: not is_live(log))
        let_in(owner)
        wait_until(lambda: is_live(log))


def test_progress__work_fails__is_none_until_a_round_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connecting again and again takes CPU time, too."""
    now = [0.0]
    monkeypatch.setattr(heartbeat, "_cpu_clock", lambda: lambda: now[0])
    progress = Progress(clock=lambda: now[0])

    def later() -> bool:
        now[0] += 1
        return progress.is_made()

    assert later()
    progress.fail()
    assert not later()
    progress.complete_round()
    assert later()
    assert later()


@contextmanager
def closing_lease(database: TestDatabase) -> Iterator[Lease]:
    lease = Lease(database.service_url, SCHEDULER, "standby")
    try:
        yield lease
    finally:
        lease.release()


class Api:
    """One API process, whose feed has another login."""

    def __init__(self, process: ApiProcess, token: str) -> None:
        self._api_process = process
        self._token = token

        async def nothing() -> None:
            """Take a process that has been opened."""

        self._app = application(process.services, Lifespan(nothing, nothing))

    @property
    def feed(self) -> Feed:
        return self._api_process.services.feed

    def get(self, path: str) -> httpx.Response:
        async def asked() -> httpx.Response:
            headers = {"Authorization": f"Bearer {self._token}"}
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://test", headers=headers
            ) as client:
                return await client.get(path)

        return self._api_process.ask(lambda *_: asked())

    def directory(self) -> dict[str, object]:
        found: dict[str, object] = self.get("/readyz").json()["checks"]["directory"]
        return found

    def age(self, seconds: float) -> None:
        """Make the last read older by this time."""
        assert self.feed.tailer is not None
        self.feed.tailer.read_at -= seconds

    def wait_cut_off(self) -> None:
        tailer = self.feed.tailer
        assert tailer is not None
        wait_until(lambda: tailer.counters.reconnects > 0)


@pytest.fixture
def api(database: TestDatabase, log: EventLog) -> Iterator[Api]:
    token = database_setup.first_admin_token(database.settings)
    assert token is not None
    with (
        other_login(database.owner_url) as url,
        closing(InterposedLog(database.service_url)) as appended,
        closing(ApiProcess(url, log, appended, lambda: datetime.now(UTC))) as process,
    ):
        yield Api(process, token)


def test_token__feed_is_cut_off_for_long__refused_until_it_reads_again(api: Api, owner: Owner) -> None:
    assert api.get("/whoami").status_code == 200
    cut_off(owner)
    api.wait_cut_off()
    assert api.get("/whoami").status_code == 200, "a moment without the log is nothing"

    api.age(gate.MAX_UNREAD_SECONDS)
    answer = api.get("/whoami")
    assert answer.status_code == 503
    assert "cannot read the log to check whether the token was revoked" in answer.json()["detail"]
    let_in(owner)
    wait_until(lambda: api.get("/whoami").status_code == 200)


def test_ready__feed_is_cut_off_and_not_behind__says_so_until_it_reads_again(api: Api, owner: Owner) -> None:
    assert api.directory() == {"ok": True, "lag_events": 0}
    cut_off(owner)
    api.wait_cut_off()
    api.age(readiness.MAX_UNREAD_SECONDS)
    found = api.directory()
    assert (found["ok"], found["lag_events"]) == (False, 0)
    assert "the log could not be read for" in str(found["detail"])
    let_in(owner)
    wait_until(lambda: api.directory()["ok"])


def test_feed__not_open_yet__is_not_current(database: TestDatabase, log: EventLog) -> None:
    async def made() -> Feed:
        return Feed(log, database.service_url)

    assert not asyncio.run(made()).is_current(3600.0)
