"""Leases, and their renewal by heartbeats."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager

import psycopg
import pytest

from store.datastore import connect
from store.event_log import EventLog
from store.lease import Lease
from store.requests import Fence
from tests.harness.appends import append_to
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.workers.logins import other_login
from workers import heartbeat
from workers.heartbeat import Heartbeat, Progress

NAME = "scheduler/test"
# The lease was not renewed for its whole length, and a little longer.
AGE = b"UPDATE live.leases SET renewed_at = renewed_at - make_interval(secs => lease_seconds + 1)"
RENEWED_AT = b"SELECT renewed_at FROM live.leases"
LOCK = b"SELECT pg_try_advisory_lock(19533, log.lease_number(%s))"


@pytest.fixture
def database(store_database: TestDatabase) -> TestDatabase:
    return store_database


@pytest.fixture
def leases(database: TestDatabase) -> Iterator[list[Lease]]:
    """Return the leases of three schedulers."""
    with ExitStack() as stack:
        made = [Lease(database.service_url, NAME, f"host/{number}") for number in range(3)]
        for lease in made:
            stack.callback(lease.release)
        yield made


def test_lease__holder_has_not_renewed_it__next_one_gets_it_and_holder_is_fenced(
    database: TestDatabase, leases: list[Lease], owner: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    hung, following, _ = leases
    old = hung.try_take()
    assert following.try_take() is None
    owner.execute(AGE)

    with caplog.at_level(logging.WARNING):
        assert following.try_take() == Fence(NAME, 2)
    assert [vars(record)["holder"] for record in caplog.records] == ["host/0"]
    assert not hung.is_held()
    assert hung.try_take() is None, "it waits, like any other"
    with closing(EventLog(database.service_url)) as log:
        (outcome,) = log.append([append_to("a", fence=old)])
    assert "later epoch" in str(outcome)


def test_lease__renewed__stays(leases: list[Lease], owner: Owner) -> None:
    holder, other, _ = leases
    holder.try_take()
    owner.execute(AGE)
    holder.renew()

    assert other.try_take() is None
    assert holder.is_held()


def test_lease__just_taken_from_one_that_was_not_renewed__is_not_taken_again(
    leases: list[Lease], owner: Owner
) -> None:
    first, second, third = leases
    first.try_take()
    owner.execute(AGE)
    second.try_take()

    assert third.try_take() is None
    assert second.is_held()


def test_lease__given_back_long_ago__nobody_is_ended_for_it(leases: list[Lease], owner: Owner) -> None:
    first, second, third = leases
    first.try_take()
    first.release()
    owner.execute(AGE)

    wait_until(second.try_take)
    assert third.try_take() is None
    assert second.is_held()


def test_lease__locked_by_process_that_has_not_renewed_it__is_not_taken(
    database: TestDatabase, leases: list[Lease], owner: Owner
) -> None:
    """Lock the lease while the last renewal in it is that of the previous holder."""
    first, other, _ = leases
    first.try_take()
    first.release()
    owner.execute(AGE)
    with connect(database.service_url) as session:
        wait_until(lambda: session.execute(LOCK, (NAME,)).fetchone() == (True,))

        assert other.try_take() is None
        assert session.execute("SELECT 1").fetchone() == (1,)


def test_renew__lease_has_another_holder__does_nothing(
    database: TestDatabase, leases: list[Lease], owner: Owner
) -> None:
    zombie = leases[0]
    zombie.try_take()
    with connect(database.service_url) as session:
        session.execute("SELECT log.take_lease(%s, 'in between')", (NAME,))
        session.execute("UPDATE live.leases SET epoch = 2")
    before = owner.execute(RENEWED_AT).fetchone()

    zombie.renew()
    assert owner.execute(RENEWED_AT).fetchone() == before


# The errors of a session that another thread closed while it was used, found by trying.
@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("connection socket closed"),
        psycopg.InternalError("got no result from the query"),
        psycopg.DatabaseError("out of memory"),
    ],
)
def test_renew__session_closed_by_another_thread_meanwhile__is_not_renewed_and_that_is_all(
    leases: list[Lease], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def closed_meanwhile(*_: object) -> None:
        raise error

    leases[0].try_take()
    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Connection, "execute", closed_meanwhile)
        leases[0].renew()
    assert f"not renewed: {error}" in caplog.text


def test_lease__expired_and_held_by_another_login__advises_once(
    database: TestDatabase, leases: list[Lease], owner: Owner, caplog: pytest.LogCaptureFixture
) -> None:
    with other_login(database.owner_url) as url:
        stranger = Lease(url, NAME, "host/other")
        leases[0].try_take()
        owner.execute(AGE)
        with caplog.at_level(logging.ERROR):
            assert [stranger.try_take(), stranger.try_take()] == [None, None]
        stranger.release()
    assert len(caplog.records) == 1
    assert leases[0].is_held()


class Loop:
    """A thread that repeats one action, and its progress."""

    def __init__(self, does: Callable[[Progress], None]) -> None:
        self._does = does
        self._made = threading.Event()
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        self._made.wait()

    def _run(self) -> None:
        self.progress = Progress()
        self._made.set()
        while not self.stop.is_set():
            self._does(self.progress)


@contextmanager
def loop(does: Callable[[Progress], None]) -> Iterator[Loop]:
    running = Loop(does)
    try:
        yield running
    finally:
        running.stop.set()
        running.thread.join()


def compute(_: Progress) -> None:
    sum(range(1_000))


def wait(_: Progress) -> None:
    # Rarely enough that waking up does not count as computing on a busy machine.
    time.sleep(0.1)


def come_round(progress: Progress) -> None:
    progress.complete_round()
    time.sleep(0.01)


@pytest.mark.parametrize("does", [compute, come_round])
def test_heartbeat__loop_gets_on__lease_renewed_again_and_again(does: Callable[[Progress], None]) -> None:
    renewed: list[None] = []
    with loop(does) as running, Heartbeat(running.progress, lambda: renewed.append(None), seconds=0.2):
        wait_until(lambda: len(renewed) > 3)


def test_heartbeat__loop_waits_for_something__lease_not_renewed() -> None:
    renewed: list[None] = []
    looked = threading.Event()

    class Looked(Progress):
        looks = 0

        def is_made(self) -> bool:
            self.looks += 1
            if self.looks > 5:
                looked.set()
            return super().is_made()

    with loop(wait) as running:
        # Made in the thread that it watches, as a scheduler does; here it is watched by another class.
        running.progress.__class__ = Looked
        with Heartbeat(running.progress, lambda: renewed.append(None), seconds=1.0):
            assert looked.wait(60)
    assert renewed == []


def test_heartbeat__renewing_goes_wrong_once__goes_on(caplog: pytest.LogCaptureFixture) -> None:
    renewed: list[None] = []
    wrong = iter([True])

    def renew() -> None:
        if next(wrong, False):
            raise ValueError("a fault")
        renewed.append(None)

    with loop(come_round) as running, Heartbeat(running.progress, renew, seconds=0.2):
        wait_until(lambda: renewed)
    assert "heartbeat: a check failed" in caplog.text


def test_progress__computes_for_longer_than_any_step__is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    cpu = [0.0]
    monkeypatch.setattr(heartbeat, "_cpu_clock", lambda: lambda: cpu[0])
    progress = Progress(clock=lambda: now[0])

    def later(seconds: float) -> bool:
        now[0] += seconds
        cpu[0] += seconds
        return progress.is_made()

    assert later(heartbeat.MAX_COMPUTING_SECONDS - 1)
    assert not later(2)
    progress.complete_round()
    assert later(2)
    assert later(2)
