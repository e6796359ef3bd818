"""Requests that are refused before their body is read: too large or unwanted bodies, malformed heads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness.raw_connections import RawConnections, raw_connections
from tests.harness.running import Running

MAX_BYTES = 1 << 20
UNREADABLE = [
    ("no request at all", b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
    ("another protocol", b"GET / SPDY/3\r\n\r\n", 400),
    ("two lengths", b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    ("a line without a name", b"GET / HTTP/1.1\r\nHost: x\r\nwhat is this\r\n\r\n", 400),
    ("a path without end", b"GET /" + b"x" * 10_000 + b" HTTP/1.1\r\n\r\n", 414),
    ("a field without end", b"GET / HTTP/1.1\r\nX: " + b"x" * 10_000 + b"\r\n\r\n", 431),
    ("many fields", b"GET / HTTP/1.1\r\n" + b"X: 1\r\n" * 200 + b"\r\n", 431),
    ("much in all its fields", b"GET / HTTP/1.1\r\n" + (b"X: " + b"x" * 4_000 + b"\r\n") * 20, 431),
    ("a transfer coding nobody knows", b"POST / HTTP/1.1\r\nTransfer-Encoding: zip\r\n\r\n", 501),
]


@pytest.fixture
def connections(service: Running) -> Iterator[RawConnections]:
    with raw_connections(service) as connections:
        yield connections


@pytest.mark.parametrize(("what", "head", "status"), UNREADABLE, ids=[row[0] for row in UNREADABLE])
def test_head__nobody_can_read_it__answered_with_a_problem(
    connections: RawConnections, what: str, head: bytes, status: int
) -> None:
    one = connections.open()
    one.send(head)
    answer = one.read_answer()
    assert answer.status == status and answer.problem()
    assert one.read_to_end() == b""


@pytest.mark.parametrize("more", [(), ("Expect: 100-continue",)], ids=["sent", "offered"])
def test_body__announced_larger_than_it_may_be__refused_before_its_first_byte(
    service: Running, connections: RawConnections, more: tuple[str, ...]
) -> None:
    one = connections.open()
    one.send_head("POST /jobs", *_submitting(service, MAX_BYTES + 1), *more)
    answer = one.read_answer()
    assert answer.status == 413 and str(MAX_BYTES) in answer.problem()["detail"]


def test_body__of_a_login__is_refused_where_it_is_larger_than_any(connections: RawConnections) -> None:
    one = connections.open()
    one.send_head("POST /login", "Content-Type: application/json", f"Content-Length: {MAX_BYTES // 2}")
    assert one.read_answer().status == 413


def test_body__too_large_and_sent_all_the_same__the_refusal_arrives(
    service: Running, connections: RawConnections
) -> None:
    one = connections.open()
    one.send_head("POST /jobs", *_submitting(service, 32 * MAX_BYTES))
    one.send(b"x" * 32 * MAX_BYTES)
    assert one.read_answer().status == 413


def test_body__expects_to_be_asked_for__is_asked_for_and_answered(
    service: Running, connections: RawConnections
) -> None:
    one = connections.open()
    one.send_head("POST /jobs", *_submitting(service, 6), "Expect: 100-continue")
    assert one.read_answer().status == 100
    one.send(b"<job/>")
    assert one.read_answer().status == 422


def test_body__of_somebody_without_a_token__is_not_asked_for(
    service: Running, connections: RawConnections
) -> None:
    one = connections.open()
    one.send_head("POST /jobs", "Content-Type: application/xml", "Content-Length: 6", "Expect: 100-continue")
    assert one.read_answer().status == 401


def _submitting(service: Running, length: int) -> tuple[str, ...]:
    return (
        f"Authorization: Bearer {service.token}",
        "Content-Type: application/xml",
        f"Content-Length: {length}",
    )
