"""The end of `serve`: begun requests are answered, waiting ones end, acknowledged changes are not lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from api.headers import ACTS_AS
from tests.harness.databases import TestDatabase
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.harness.sessions import Owner, lock_waiters, owner_session
from tests.harness.waiting import wait_until

LAB = "lab.east.example.com"
HEARD = b"SELECT 1 FROM live.contacts WHERE lab_controller = %s"
XML = {"Content-Type": "application/xml"}


@pytest.fixture(scope="module")
def started(servers: ServerPool) -> Iterator[Running]:
    with servers.databases("embedded").fresh() as database, running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        with started.client() as client:
            # The schema for the answers is read now; after the stop there is no server.
            client.get("/healthz")
        yield started


@pytest.fixture
def service(started: Running) -> Running:
    """Return the service of all tests here; the test before has stopped `serve`."""
    if "serve" not in started.processes:
        started.start("serve")
        started.wait_ready()
    return started


@pytest.fixture
def owner(service: Running) -> Iterator[Owner]:
    with owner_session(service.database.owner_url) as session:
        yield session


@contextmanager
def nobody_appends(database: TestDatabase) -> Iterator[None]:
    with owner_session(database.owner_url) as session, session.transaction():
        session.execute("LOCK TABLE log.writer IN EXCLUSIVE MODE")
        yield


def ask_to_stop(service: Running) -> None:
    service.processes["serve"].send_signal(signal.SIGTERM)


def assert_stopped(service: Running) -> None:
    assert service.processes.pop("serve").wait(60) == 0


def refuses_connections(service: Running) -> bool:
    try:
        httpx.get(f"{service.url}/healthz", timeout=5, **LOCAL_HTTP)
    except httpx.TransportError:
        return True
    return False


def test_serve__asked_to_stop_during_a_long_poll__answers_at_once_with_what_there_is(
    service: Running, owner: Owner
) -> None:
    with ThreadPoolExecutor(1) as pool, service.client() as client:
        # The client would time out before the long poll ends by itself.
        asking = {"params": {"wait_seconds": 60}, "headers": {ACTS_AS: LAB}}
        asked = pool.submit(client.get, f"/lab-controllers/{LAB}/commands", **asking)
        wait_until(lambda: owner.execute(HEARD, (LAB,)).fetchone())
        ask_to_stop(service)
        answer = asked.result()
    assert_stopped(service)
    assert (answer.status_code, answer.json()["commands"]) == (200, [])


def test_serve__asked_to_stop_while_a_job_is_appended__answers_and_the_job_is_there(
    service: Running, owner: Owner
) -> None:
    smoke = (SAMPLES / "kernel-smoke.xml").read_bytes()
    with ThreadPoolExecutor(1) as pool, service.client() as client:
        with nobody_appends(service.database):
            asked = pool.submit(client.post, "/jobs", content=smoke, headers=XML)
            wait_until(lambda: lock_waiters(owner) >= 1)
            ask_to_stop(service)
            wait_until(lambda: refuses_connections(service))
            assert not asked.done()
        answer = asked.result(60)
    assert_stopped(service)
    assert answer.status_code == 201

    service.start("serve")
    service.wait_ready()
    with service.client() as client:
        assert client.get(answer.headers["Location"]).status_code == 200


def test_serve__asked_to_stop_while_somebody_watches__the_stream_ends_after_whole_events(
    service: Running,
) -> None:
    received: list[str] = []
    with ThreadPoolExecutor(1) as pool, service.client() as client:

        def watch() -> None:
            with client.stream("GET", "/events", headers={"Accept": "text/event-stream"}) as stream:
                received.extend(stream.iter_text())

        watching = pool.submit(watch)
        service.do("submit", str(SAMPLES / "kernel-smoke.xml"))
        wait_until(lambda: "job.submitted" in "".join(received))
        ask_to_stop(service)
        watching.result(60)
    assert_stopped(service)
    assert "".join(received).endswith("\n\n")


def test_serve__asked_to_stop_with_an_idle_connection__does_not_wait_for_it(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop it with an idle connection, whose timeout is longer than that of the test."""
    service.kill("serve", signal.SIGTERM)
    monkeypatch.setattr(service, "settings", {"LABLEDGER_STOP_SECONDS": "3600"})
    service.start("serve")
    service.wait_ready()
    with service.client() as client:
        client.get("/healthz")
        ask_to_stop(service)
        assert_stopped(service)
