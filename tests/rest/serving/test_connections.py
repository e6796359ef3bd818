"""Bounded connections: idle ones are closed for new ones, and requests are answered."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator

import httpx
import pytest

from api.watching.capacity import RESERVED_FILES
from runtime.settings import Settings
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.pool import ServerPool
from tests.harness.raw_connections import RawConnections, raw_connections
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.harness.watching import Worker, serving, worker_of

PLACES = 150
# Descriptors of the worker itself, with a reserve.
FILES_AT_REST = 40
# No projector runs here, so this position is never reached.
NOT_YET = "GET /queue?min_position=1000000"
PATIENT = {"LABLEDGER_POSITION_WAIT_SECONDS": "600"}


@pytest.fixture(scope="module")
def served(servers: ServerPool) -> Iterator[Running]:
    with servers.databases("embedded").fresh() as database, serving(database, **PATIENT) as service:
        yield service


@pytest.fixture(scope="module")
def askers(served: Running) -> list[str]:
    """Return tokens of users who together may have more waiting reads than there are places."""
    tokens = []
    with served.client() as admin:
        for number in range(2 * PLACES // Settings().max_waiting_reads + 1):
            user = {"user": f"asker-{number}", "role": "auditor"}
            assert admin.put(f"/users/{user['user']}", json={}).is_success
            tokens.append(admin.post("/tokens", json=user).json()["token"])
    return tokens


@pytest.fixture
def worker(served: Running) -> Worker:
    """Return the worker, after the connections of the last test are closed."""
    worker = worker_of(served)
    worker.limit_files(RESERVED_FILES + PLACES)
    # An answered connection was accepted after all those of the last test.
    wait_until(lambda: _answered(served), "an answer")
    wait_until(lambda: worker.files() < FILES_AT_REST, "the connections of the last test to be closed")
    return worker


@pytest.fixture
def connections(served: Running) -> Iterator[RawConnections]:
    with raw_connections(served) as connections:
        yield connections


def test_connections__hundreds_are_idle__request_is_answered_and_the_eldest_are_gone(
    served: Running, worker: Worker, connections: RawConnections
) -> None:
    idle = [connections.open() for _ in range(4 * PLACES)]
    with served.client() as client:
        assert client.get("/tokens").status_code == 200
    wait_until(lambda: not idle[0].is_open(), "the eldest to be ended")
    assert idle[-1].is_open()
    assert sum(one.is_open() for one in idle) < PLACES
    wait_until(lambda: worker.files() <= RESERVED_FILES + PLACES, "the others to be closed")


def test_connections__heads_are_half_sent__request_is_answered(
    served: Running, worker: Worker, connections: RawConnections
) -> None:
    for _ in range(4 * PLACES):
        connections.open().send(b"GET /healthz HTTP/1.1\r\nX-")
    with served.client() as client:
        assert client.get("/healthz").status_code == 200


def test_connections__bodies_are_half_sent__request_is_answered(
    served: Running, worker: Worker, connections: RawConnections
) -> None:
    for _ in range(4 * PLACES):
        one = connections.open()
        one.send_head("POST /login", "Content-Type: application/json", "Content-Length: 100")
        one.send(b"{")
    with served.client() as client:
        assert client.get("/healthz").status_code == 200


def test_connections__some_are_being_answered__idle_ones_do_not_drive_them_out(
    served: Running, worker: Worker, connections: RawConnections, askers: list[str]
) -> None:
    asking = [connections.open() for _ in range(PLACES // 2)]
    for one, token in zip(asking, itertools.cycle(askers)):
        one.send_head(NOT_YET, f"Authorization: Bearer {token}")
    with served.client() as client:
        # Their requests were read before a later one is answered.
        assert client.get("/healthz").status_code == 200
    for _ in range(3 * PLACES):
        connections.open()
    # A new connection: the previous one is idle too, and may be closed during a request.
    with served.client() as client:
        assert client.get("/healthz").status_code == 200
    assert all(one.is_open() for one in asking)


def test_connections__all_are_being_answered__the_next_gets_503(
    served: Running, worker: Worker, connections: RawConnections, askers: list[str]
) -> None:
    by_turns = itertools.cycle(askers)

    def asked_once_more() -> httpx.Response | None:
        # A connection whose request was not read yet is closed for the next.
        connections.open().send_head(NOT_YET, f"Authorization: Bearer {next(by_turns)}")
        return _refused(served)

    for _ in range(PLACES - 1):
        connections.open().send_head(NOT_YET, f"Authorization: Bearer {next(by_turns)}")
    refused = wait_until(asked_once_more, "a connection to be refused")
    assert refused.headers["content-type"] == "application/problem+json"
    assert int(refused.headers["retry-after"]) > 0 and refused.json()["status"] == 503
    for one in connections.made:
        one.close()
    wait_until(lambda: _answered(served), "the places of those who have left")


def test_connections__no_file_is_left__logged_once_and_later_client_is_answered(
    servers: ServerPool, capfd: pytest.CaptureFixture[str]
) -> None:
    with (
        servers.databases("embedded").fresh() as database,
        serving(database) as service,
        raw_connections(service) as connections,
    ):
        worker = worker_of(service)
        worker.limit_files(worker.files() + 5)
        # They arrive together. After each failure asyncio waits a second, so 50 could take too long.
        os.kill(worker.pid, signal.SIGSTOP)
        for _ in range(20):
            connections.open()
        os.kill(worker.pid, signal.SIGCONT)
        with service.client() as client:
            assert client.get("/healthz").status_code == 200
        said = capfd.readouterr().err
    # Other parts of the process may lack files, too.
    (accepting,) = [line for line in said.splitlines() if "a connection could not be accepted" in line]
    assert "Too many open files" in accepting and "Traceback" not in accepting


def _answered(service: Running) -> bool:
    try:
        return httpx.get(f"{service.url}/healthz", timeout=20, **LOCAL_HTTP).status_code == 200
    except httpx.TransportError:
        return False


def _refused(service: Running) -> httpx.Response | None:
    answer = httpx.get(f"{service.url}/healthz", timeout=20, **LOCAL_HTTP)
    return answer if answer.status_code == 503 else None
