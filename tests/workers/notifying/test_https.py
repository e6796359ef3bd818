"""Webhooks over HTTPS, to a real server with a certificate of a private authority."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from tests.workers.notifying.receivers import Authority, Hook, hook_server
from tests.workers.notifying.town import LOOPBACK, SECRET
from workers.notifying.delivery_outcome import DeliveryOutcome
from workers.notifying.webhooks import Post, WebhookSender

NAME = "hook.example.com"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def send(
    monkeypatch: pytest.MonkeyPatch, port: int, host: str = NAME, ca_file: Path | None = None
) -> DeliveryOutcome:
    """Send a post to a host; NAME resolves to loopback."""
    resolve = socket.getaddrinfo

    def resolve_name(host: str, *given: Any, **more: Any) -> Any:
        return resolve("127.0.0.1" if host == NAME else host, *given, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_name)
    post = Post("1", f"https://{host}:{port}/x", SECRET, b"{}", is_admin=False)
    (outcome,) = WebhookSender(LOOPBACK, ca_file).send([post])
    return outcome


def test_https__certificate_for_the_name__is_sent_to_the_checked_address(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook, context, names = Hook(), authority.server(NAME), []
    context.sni_callback = lambda _, name, __: names.append(name)
    with hook_server(hook, context) as port:
        outcome = send(monkeypatch, port, ca_file=authority.file)
    assert outcome.error is None
    ((path, headers, body),) = hook.posts
    assert (path, headers["Host"], body) == ("/x", f"{NAME}:{port}", b"{}")
    assert names == [NAME], "the server is told the name, although the address was connected to"


@pytest.mark.parametrize(
    ("of", "host", "is_trusted", "error"),
    [
        pytest.param(NAME, NAME, False, "unable to get local issuer", id="authority-not-trusted"),
        pytest.param("other.example.com", NAME, True, "not valid for 'hook.example.com'", id="other-name"),
        # The name that the address had when it was checked does not matter.
        pytest.param(NAME, "127.0.0.1", True, "IP address mismatch", id="address-instead-of-name"),
    ],
)
def test_https__wrong_certificate__is_refused_before_anything_is_sent(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, of: str, host: str, is_trusted: bool, error: str
) -> None:
    hook = Hook()
    with hook_server(hook, authority.server(of)) as port:
        outcome = send(monkeypatch, port, host, authority.file if is_trusted else None)
    assert error in (outcome.error or ""), outcome
    assert not outcome.is_final and hook.posts == []


def test_https__server_without_tls__is_refused(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = Hook()
    with hook_server(hook) as port:
        outcome = send(monkeypatch, port, ca_file=authority.file)
    assert outcome.error is not None and hook.posts == []


def test_https__old_protocol__is_refused(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    hook, context = Hook(), authority.server(NAME)
    with pytest.warns(DeprecationWarning):
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    with hook_server(hook, context) as port:
        outcome = send(monkeypatch, port, ca_file=authority.file)
    assert outcome.error is not None and hook.posts == []
