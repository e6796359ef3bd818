"""Early answers, addresses of clients behind proxies, and refused connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from falcon import testing
from falcon.asgi import Request

from api.rest.middleware.address import address_of
from tests.harness.raw_connections import RawConnections, raw_connections
from tests.harness.running import Running

BODY = b'{"name": "RHEL-0", "family": "RHEL", "arch": "x86_64"}'


def head(path: str, token: str) -> bytes:
    fields = [f"PUT {path} HTTP/1.1", "Host: here", f"Authorization: Bearer {token}"]
    fields += ["Content-Type: application/json", f"Content-Length: {len(BODY)}"]
    return "\r\n".join([*fields, "", ""]).encode()


def answer_to(service: Running, request: bytes) -> tuple[str, dict[str, str]]:
    """Return the status line and the headers of the answer."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(request)
        answer = connection.makefile("rb")
        state = answer.readline().decode().split()[1]
        fields: dict[str, str] = {}
        while field := answer.readline().decode().strip():
            name, _, value = field.partition(": ")
            fields[name.lower()] = value
        return state, fields


@pytest.mark.parametrize(
    ("path", "token", "state"),
    [
        # Refused by the gate: no token, no such path.
        ("/distro-trees/1", "ll_nobody", "401"),
        ("/distro-trees/1?colour=red", "", "422"),
        # Refused by the resource: not a number.
        ("/distro-trees/zero", "", "422"),
    ],
)
def test_refusal__body_still_to_come__says_that_it_closes(
    service: Running, path: str, token: str, state: str
) -> None:
    asked = head(path, token or service.token)
    found, fields = answer_to(service, asked)
    assert (found, fields.get("connection")) == (state, "close")


def test_refusal__body_there__goes_on(service: Running) -> None:
    found, fields = answer_to(service, head("/distro-trees/zero", service.token) + BODY)
    assert (found, fields.get("connection")) == ("422", None)


PROXIES = (ip_network("10.0.0.0/24"), ip_network("::1"))

# peer, X-Forwarded-For, address
REQUESTS = [
    ("192.0.2.1", None, "192.0.2.1"),
    # Only a trusted proxy may name the address of a client.
    ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
    ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
    # The client itself wrote the first address.
    ("10.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7"),
    ("10.0.0.1", "203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
    # A client without an address.
    ("10.0.0.1", "10.0.0.2", "10.0.0.2"),
    ("10.0.0.1", None, "10.0.0.1"),
    ("10.0.0.1", "unknown", "10.0.0.1"),
    ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
    # An IPv6 address counts as its network.
    ("::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ("2001:db8:1:2::1", None, "2001:db8:1:2::/64"),
]


@pytest.mark.parametrize(("peer", "forwarded", "found"), REQUESTS)
def test_address__of_a_request__is_taken_from_trusted_proxies(
    peer: str, forwarded: str | None, found: str
) -> None:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    scope = testing.create_scope(remote_addr=peer, headers=headers)

    async def receive() -> dict[str, object]:
        return {"type": "http.disconnect"}

    assert address_of(Request(scope, receive), PROXIES) == found


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
