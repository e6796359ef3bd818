"""Timeouts of connections whose client is silent or slow."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator

import pytest

from tests.harness.pool import ServerPool
from tests.harness.raw_connections import Answer, RawConnection, RawConnections, raw_connections
from tests.harness.running import Running
from tests.harness.watching import serving

IMPATIENT = {"LABLEDGER_REQUEST_SECONDS": "2", "LABLEDGER_KEEPALIVE_SECONDS": "1"}
PAUSE_SECONDS = 0.5


@pytest.fixture(scope="module")
def served(servers: ServerPool) -> Iterator[Running]:
    with servers.databases("embedded").fresh() as database, serving(database, **IMPATIENT) as service:
        yield service


@pytest.fixture
def connections(served: Running) -> Iterator[RawConnections]:
    with raw_connections(served) as connections:
        yield connections


def test_head__comes_a_byte_at_a_time__is_cut_with_a_problem(connections: RawConnections) -> None:
    one = connections.open()
    one.send(b"GET /healthz HTTP/1.1\r\n")
    answer = _answer_while_saying(one, itertools.repeat(b"X-More: 1\r\n", 30))
    assert answer.status == 408 and "head" in answer.problem()["detail"]
    assert one.read_to_end() == b""


def test_head__of_a_second_request__is_cut_as_the_first_would_be(connections: RawConnections) -> None:
    one = connections.open()
    one.send_head("GET /healthz")
    assert one.read_answer().status == 200
    assert _answer_while_saying(one, itertools.repeat(b"G", 30)).status == 408


def test_head__never_begins__is_cut_without_a_word(connections: RawConnections) -> None:
    assert connections.open().read_to_end() == b""


def test_connection__idle_after_an_answer__is_ended(connections: RawConnections) -> None:
    one = connections.open()
    one.send_head("GET /healthz")
    assert one.read_answer().status == 200
    assert one.read_to_end() == b""


def test_body__stops__is_cut_with_a_problem(connections: RawConnections) -> None:
    one = connections.open()
    one.send_head("POST /login", "Content-Type: application/json", "Content-Length: 100")
    one.send(b'{"user": ')
    answer = one.read_answer()
    assert answer.status == 408 and "body" in answer.problem()["detail"]
    assert one.read_to_end() == b""


def test_body__comes_a_byte_at_a_time__is_cut_with_a_problem(connections: RawConnections) -> None:
    one = connections.open()
    one.send_head("POST /login", "Content-Type: application/json", "Content-Length: 40")
    assert _answer_while_saying(one, itertools.repeat(b" ", 30)).status == 408


def test_body__comes_slowly_but_comes_on__is_answered(served: Running, connections: RawConnections) -> None:
    one = connections.open()
    pieces = [b" " * (64 << 10)] * 8
    length = f"Content-Length: {sum(map(len, pieces))}"
    one.send_head(
        "POST /jobs", f"Authorization: Bearer {served.token}", "Content-Type: application/json", length
    )
    assert _answer_while_saying(one, pieces).status == 400


def test_answer__is_not_taken__connection_is_ended(connections: RawConnections) -> None:
    one = connections.open(receive_bytes=4096)
    for _ in range(200):
        one.send_head("GET /openapi.json")
    one.wait_closed()


def _answer_while_saying(one: RawConnection, pieces: Iterable[bytes]) -> Answer:
    """Send pieces until there is an answer, and return the answer."""
    for piece in pieces:
        time.sleep(PAUSE_SECONDS)
        if one.has_data():
            break
        one.send(piece)
    return one.read_answer()
