"""Requests that are refused before their body has arrived: the answer says that the connection is closed."""

from __future__ import annotations

import socket

import pytest

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
