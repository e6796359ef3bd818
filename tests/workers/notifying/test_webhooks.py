"""Notifications to webhooks: signed, retried, given up, and never to addresses of this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_address
from threading import Event as Flag

import orjson
import pytest

from domain.recipe.events import RecipeCompleted
from store.event_log import EventLog
from tests.harness.waiting import wait_until
from tests.workers.notifying.receivers import Hook, hook_server
from tests.workers.notifying.town import (
    LOOPBACK,
    SECRET,
    STATES,
    add_user,
    append,
    choose,
    mail_options,
    messages,
    notifying,
    submit_job,
    wait_for,
)
from workers.notifying import webhook_addresses, webhooks
from workers.notifying.webhook_addresses import ForbiddenAddress, is_public, permitted_address
from workers.notifying.webhooks import Post, WebhookSender, signature


def end_job(log: EventLog, owner: str) -> int:
    job, (recipe,) = submit_job(log, owner)
    append(log, f"recipe/{recipe}", RecipeCompleted())
    return job


def test_webhook__job_ended__is_a_signed_cloud_event(log: EventLog) -> None:
    hook = Hook()
    with hook_server(hook) as port:
        add_user(log, "ann")
        choose(log, "ann", f"http://localhost:{port}/ann?x=1", "job-ended")
        with notifying(log, mail_options(None, allowed=LOOPBACK)):
            job = end_job(log, "ann")
            wait_for(log, ("ann", "webhook", "sent"))
    ((path, headers, body),) = hook.posts
    assert path == "/ann?x=1"
    assert headers["Content-Type"].startswith("application/cloudevents+json")
    assert headers["Labledger-Signature"] == signature(SECRET, body)
    event = orjson.loads(body)
    assert (event["specversion"], event["type"]) == ("1.0", "labledger.job-ended")
    assert (event["source"], event["subject"]) == ("https://lab.example.com", f"job/{job}")
    assert event["id"] == headers["Labledger-Message-Id"]
    assert (event["data"]["state"], event["data"]["owner"]) == ("completed", "ann")


def test_webhook__answers__decide_what_happens_next(log: EventLog) -> None:
    """One server fails once, another is gone, one redirects, one hangs: no one waits for another."""
    release, failed = Flag(), Flag()

    def answers(path: str) -> tuple[int, dict[str, str]]:
        if path == "/once" and not failed.is_set():
            failed.set()
            return 500, {}
        if path == "/hang":
            release.wait(60)
        return {"/gone": 410, "/move": 307}.get(path, 200), {"Location": "/moved"}

    hook = Hook(answers)
    names = ("hang", "move", "once", "gone", "good")
    with hook_server(hook) as port, hook_server(Hook(answers)) as other:
        for name in names:
            add_user(log, name)
            choose(log, name, f"http://localhost:{other if name == 'hang' else port}/{name}", "job-ended")
        with notifying(log, mail_options(None, allowed=LOOPBACK)):
            for name in names:
                end_job(log, name)
            ended = {("once", "sent"), ("good", "sent"), ("gone", "given-up")}
            wait_until(lambda: ended <= {(user, state) for user, _, state in messages(log)}, "the others")
            rows = {user: rest for user, *rest in log.rows(STATES, ())}
            assert rows["once"] == ["webhook", "sent", 2, None]
            assert rows["gone"][-1] == "410: refused"
            assert rows["move"][1] == "waiting"
            assert rows["move"][-1] == "307: a redirect, which is not followed"
            assert rows["hang"][1:] == ["waiting", 0, None]
            release.set()
            wait_until(lambda: ("hang", "sent") in {(user, state) for user, _, state in messages(log)})
    assert hook.to("/moved") == []


def test_webhook__address_of_this_machine__is_for_admins_alone(log: EventLog) -> None:
    hook = Hook()
    with hook_server(hook) as port:
        for name, role in (("ann", "submitter"), ("root", "admin")):
            add_user(log, name, role)
            choose(log, name, f"http://127.0.0.1:{port}/{name}", "job-ended")
        with notifying(log, mail_options(None)):
            end_job(log, "ann")
            end_job(log, "root")
            wait_until(lambda: ("root", "webhook", "sent") in messages(log), "the webhook of the admin")
            wait_until(lambda: any(row[3] for row in log.rows(STATES, ()) if row[0] == "ann"), "an attempt")
    (refused,) = [row for row in log.rows(STATES, ()) if row[0] == "ann"]
    assert refused[2] == "waiting" and "no address that" in refused[4]
    assert [path for path, *_ in hook.posts] == ["/root"]


@contextmanager
def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> Iterator[list[str]]:
    """Have names resolve to other addresses each time; yield the names that were resolved."""
    asked: list[str] = []
    left = list(answers)

    def getaddrinfo(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in left.pop(0)]

    monkeypatch.setattr(webhook_addresses.socket, "getaddrinfo", getaddrinfo)
    yield asked


def test_webhook__name_changes_its_address__is_resolved_once_for_each_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connected = []

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address)
        raise TimeoutError("no answer")

    monkeypatch.setattr(webhooks.socket, "create_connection", connect)
    post = Post("1", "http://hook.example.com/", SECRET, b"{}", is_admin=False)
    with resolving(monkeypatch, ["93.184.215.14"], ["127.0.0.1"]) as asked:
        (first,) = WebhookSender(()).send([post])
        (second,) = WebhookSender(()).send([post])
    assert connected == [("93.184.215.14", 80)], "exactly the checked address"
    assert asked == ["hook.example.com"] * 2
    assert first.error == "no answer" and "no address that" in (second.error or "")


def test_address__one_of_several_is_private__is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    both = ["93.184.215.14", "10.0.0.7"]
    with resolving(monkeypatch, both, both, both):
        with pytest.raises(ForbiddenAddress, match="h has no address that"):
            permitted_address("h", 80, (), is_admin=False)
        assert permitted_address("h", 80, (), is_admin=True) == both[0]
        assert permitted_address("h", 80, LOOPBACK[:0], is_admin=True) == both[0]


def test_webhook__private_or_unknown_name__is_the_same_error_but_for_admins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    sender = WebhookSender(())
    post = Post("1", "http://db.internal/", SECRET, b"{}", is_admin=False)
    with resolving(monkeypatch, ["10.0.0.7"]):
        (private,) = sender.send([post])
    monkeypatch.setattr(webhook_addresses.socket, "getaddrinfo", unknown)
    (missing,) = sender.send([post])
    with resolving(monkeypatch, ["10.0.0.7"]) as asked:
        assert list(sender.send([post, post])) == [private, private]
    assert asked == ["db.internal"], "once for all posts of people who are not admins"
    monkeypatch.setattr(webhook_addresses.socket, "getaddrinfo", unknown)
    assert private == missing and "10.0.0.7" not in (private.error or "")
    (of_admin,) = sender.send([replace(post, is_admin=True)])
    assert "not known" in (of_admin.error or "")


@pytest.mark.parametrize(
    "text",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1"),
        *("::", "::1", "fe80::1", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1"),
        # An IPv4 address within: mapped, NAT64, 6to4, Teredo.
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1"),
    ],
)
def test_address__not_of_the_internet__is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


def test_address__of_the_internet__is_public() -> None:
    assert is_public(ip_address("93.184.215.14")) and is_public(ip_address("2606:2800:21f:cb07::1"))
