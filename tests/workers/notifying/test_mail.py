"""Notifications by mail, to a real mail server with STARTTLS and authentication."""

from __future__ import annotations

import smtplib
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event as Flag
from threading import Thread

import pytest

from domain.directory.events import LabControllerSilent, UserRegistered, UserRemoved
from domain.recipe.events import RecipeAborted, RecipeCompleted, TaskResult
from domain.system.events import SystemConditionChanged, SystemLoaned, SystemLoanExtended
from store.event_log import EventLog
from store.notifications import messages_of
from store.tailer import Tailer
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.workers.lab import add_lab
from tests.workers.notifying.receivers import Hook, Mailbox, certificate, hook_server, mail_server
from tests.workers.notifying.town import (
    LOOPBACK,
    add_user,
    append,
    choose,
    mail_options,
    messages,
    notifying,
    smtp_url,
    submit_job,
    wait_for,
)
from workers.notifying import mail
from workers.notifying.mail import TOO_SLOW, Mail, Mailer


@pytest.fixture(scope="session")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def cert(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a certificate that this process trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    return trusted


def finish(log: EventLog, recipe_id: int, result: str = "Pass") -> None:
    subject = f"recipe/{recipe_id}"
    append(log, subject, TaskResult(1, result, "", None, []))
    append(log, subject, RecipeCompleted())


def test_mail__all_kinds__reach_those_whom_they_concern(log: EventLog, cert: Path) -> None:
    mailbox = Mailbox(refuses={"gone@example.com"})
    add_user(log, "ann")
    add_user(log, "admin", "admin")
    _, earlier = submit_job(log, "ann", 2)
    finish(log, earlier[0])
    (fqdn,) = add_lab(log, "lab", 1)
    with mail_server(cert, mailbox) as port, notifying(log, mail_options(smtp_url(port))):
        job, (recipe, other) = submit_job(log, "ann", 2, notify=("cc@example.com", "gone@example.com"))
        finish(log, recipe)
        append(log, f"recipe/{other}", RecipeAborted("watchdog"))
        wait_for(log, ("ann", "mail", "sent"), ("ann", "mail", "sent"), ("ann", "mail", "given-up"))
        finish(log, earlier[1], "Fail")
        append(log, f"system/{fqdn}", SystemConditionChanged("Broken", "smoke\r\nand " + "fire " * 100))
        append(log, "lab-controller/lab", LabControllerSilent())
        until = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
        append(log, f"system/{fqdn}", SystemLoaned("ann", until))
        wait_until(lambda: len(mailbox.mails) == 6, "all mails")
    assert mailbox.recipients[:2] == ["ann@example.com", "cc@example.com"]
    subjects = sorted(str(mail["Subject"]) for mail in mailbox.mails[2:])
    assert subjects[0] == "Job 1 completed: Fail"
    assert subjects[1].startswith("Lab controller lab is silent")
    assert subjects[2].startswith(f"System {fqdn} is broken: smoke and fire fire") and subjects[2].endswith(
        "…"
    )
    assert subjects[3].startswith(f"Your loan of {fqdn} ends at ")
    first = mailbox.mails[0]
    assert first["Subject"] == f"Job {job} aborted: Warn"
    assert f"https://lab.example.com/ui/jobs/{job}" in first.get_content().split()
    assert len({mail["Message-ID"] for mail in mailbox.mails}) == 6


def test_mail__server_is_away__is_sent_when_it_is_back(log: EventLog, cert: Path) -> None:
    mailbox = Mailbox()
    add_user(log, "ann")
    with mail_server(cert, mailbox) as port:
        pass
    with notifying(log, mail_options(smtp_url(port))) as counters:
        _, (recipe,) = submit_job(log, "ann")
        finish(log, recipe)
        wait_until(lambda: counters.outcomes["mail", "failed"] > 0, "a failure")
        with mail_server(cert, mailbox, port):
            wait_for(log, ("ann", "mail", "sent"))
    assert mailbox.recipients == ["ann@example.com"]


def test_mail__one_recipient_hangs__delays_no_webhook_and_no_mail_longer_than_its_timeout(
    log: EventLog, cert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox, hook = Mailbox(hangs={"ann@example.com"}), Hook()
    monkeypatch.setattr(mail, "TIMEOUT_SECONDS", 300.0)
    for name in ("ann", "bob", "eve"):
        add_user(log, name)
    with mail_server(cert, mailbox) as port, hook_server(hook) as hook_port:
        choose(log, "eve", f"http://localhost:{hook_port}/", "job-ended")
        with notifying(log, mail_options(smtp_url(port), allowed=LOOPBACK)):
            finish_job(log, "ann")
            assert mailbox.hung.wait(60)
            finish_job(log, "eve")
            wait_until(lambda: ("eve", "webhook", "sent") in messages(log), "the webhook")
            assert ("ann", "mail", "waiting") in messages(log)
            monkeypatch.setattr(mail, "TIMEOUT_SECONDS", 1.0)
            mailbox.hangs.clear()
            wait_until(lambda: ("ann", "mail", "sent") in messages(log), "the mail")
            mailbox.hangs.add("ann@example.com")
            # Both in one batch, the one that hangs first; and again after each attempt.
            for _ in range(2):
                finish_job(log, "ann", "bob")
                wait_until(lambda: messages(log)[-1] == ("bob", "mail", "sent"), "the other mail")
    rows = log.rows(
        b"SELECT user_name, state, last_error, attempts FROM live.notifications ORDER BY number", ()
    )
    assert {tuple(row[:3]) for row in rows[2:] if row[0] == "ann"} == {("ann", "waiting", TOO_SLOW.error)}
    assert {row[3] for row in rows if row[0] == "bob"} == {1}


def finish_job(log: EventLog, *owners: str) -> None:
    for owner in owners:
        _, (recipe,) = submit_job(log, owner)
        finish(log, recipe)


@contextmanager
def trickling(answers: Sequence[bytes], piece: bytes) -> Iterator[int]:
    """Yield the port of a server that gives these answers, and then this piece again and again."""
    stop = Flag()

    def serve(listener: socket.socket) -> None:
        session, _ = listener.accept()
        with session, suppress(OSError):
            for number, answer in enumerate(answers):
                if number:
                    session.recv(1024)
                session.sendall(answer)
            while not stop.wait(0.05):
                session.sendall(piece)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=serve, args=(listener,))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stop.set()
            thread.join()


# The header of a long record, and then its bytes.
TLS_RECORD = b"\x16\x03\x03\x40\x00", b"\x00"


@pytest.mark.parametrize(
    ("scheme", "begin", "piece"), [("smtp-plain", b"", b"220-more\r\n"), ("smtps", *TLS_RECORD)]
)
def test_mail_server__trickles_its_greeting__is_left_after_the_timeout(
    monkeypatch: pytest.MonkeyPatch, scheme: str, begin: bytes, piece: bytes
) -> None:
    monkeypatch.setattr(mail, "TIMEOUT_SECONDS", 0.5)
    with trickling([begin], piece) as port:
        mailer = Mailer(f"{scheme}://127.0.0.1:{port}", "lab@example.com")
        (outcome,) = mailer.send([Mail("1", "ann@example.com", "a", "b", datetime.now(UTC))])
    assert outcome.is_server_failure and not outcome.is_final


def test_mail_server__trickles_its_answer_about_a_recipient__delays_this_mail_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mail, "TIMEOUT_SECONDS", 0.5)
    mails = [Mail(number, f"{number}@example.com", "a", "b", datetime.now(UTC)) for number in "12"]
    # The greeting, and the answers to EHLO and MAIL.
    with trickling([b"220 hi\r\n", b"250 hi\r\n", b"250 ok\r\n"], b"2") as port:
        outcomes = list(Mailer(f"smtp-plain://127.0.0.1:{port}", "lab@example.com").send(mails))
    assert outcomes == [TOO_SLOW]


def test_outbox__old_messages__are_given_up_after_a_day_and_deleted_after_30(
    log: EventLog, owner: Owner
) -> None:
    add_user(log, "ann")
    owner.execute("SET session_replication_role = replica")
    owner.execute("UPDATE log.events SET recorded_at = recorded_at - interval '40 days'")
    address = "smtp-plain://localhost:9"
    with notifying(log, mail_options(address)):
        for _ in range(4):
            finish_job(log, "ann")
        wait_until(lambda: len(messages(log)) == 4, "the messages")
    hour = timedelta(hours=1)
    for number, age in enumerate((23 * hour, 25 * hour), 1):
        owner.execute(
            "UPDATE live.notifications SET created_at = now() - %s WHERE number = %s", (age, number)
        )
    for number, age in ((3, 29.9 * 24 * hour), (4, 30.1 * 24 * hour)):
        sent = "UPDATE live.notifications SET state = 'sent', finished_at = now() - %s WHERE number = %s"
        owner.execute(sent, (age, number))
    with notifying(log, mail_options(address)) as counters:
        wait_until(lambda: counters.outcomes["mail", "given-up"] > 0, "a message to be given up")
        wait_until(lambda: len(messages(log)) == 3, "a message to be deleted")
    shown = messages_of(log, "ann", None, 99, 99)
    assert [(each.number, each.state) for each in shown] == [(3, "sent"), (2, "given-up"), (1, "waiting")]
    (failed,) = messages_of(log, "ann", "given-up", 99, 99)
    assert failed.last_error and failed.finished_at


@pytest.mark.parametrize(("password", "shown"), [("wrong", "535"), ("pässword", "'ascii' codec")])
def test_mail__password_is_refused__is_tried_again_and_shows_why(
    log: EventLog, cert: Path, password: str, shown: str
) -> None:
    add_user(log, "ann")
    with mail_server(cert, Mailbox()) as port, notifying(log, mail_options(smtp_url(port, password))):
        _, (recipe,) = submit_job(log, "ann")
        finish(log, recipe)
        wait_until(lambda: log.rows(b"SELECT FROM live.notifications WHERE attempts > 0", ()))
    ((error,),) = log.rows(b"SELECT last_error FROM live.notifications", ())
    assert error.startswith(f"mail server: {shown}"), error


def test_mail__user_of_the_job_was_replaced__goes_to_nobody(log: EventLog, cert: Path) -> None:
    mailbox = Mailbox()
    add_user(log, "ann")
    with mail_server(cert, mailbox) as port, notifying(log, mail_options(smtp_url(port))):
        _, (recipe,) = submit_job(log, "ann")
        append(log, "user/ann", UserRemoved())
        add_again(log)
        finish(log, recipe)
        _, (recipe,) = submit_job(log, "ann")
        finish(log, recipe)
        wait_for(log, ("ann", "mail", "sent"))
    assert [str(mail["Subject"]) for mail in mailbox.mails] == ["Job 2 completed: Pass"]


def add_again(log: EventLog) -> None:
    append(log, "user/ann", UserRegistered(roles=["submitter"], email="another@example.com"))


def test_notifier__first_start_and_restore__begin_at_the_end_of_the_log(
    log: EventLog, owner: Owner, cert: Path
) -> None:
    mailbox = Mailbox()
    add_user(log, "ann")
    _, (recipe,) = submit_job(log, "ann")
    finish(log, recipe)
    with mail_server(cert, mailbox) as port:
        options = mail_options(smtp_url(port))
        with notifying(log, options):
            _, (recipe,) = submit_job(log, "ann")
            finish(log, recipe)
            wait_for(log, ("ann", "mail", "sent"))
        # What happens while no notifier runs is sent later, but not in a restored database.
        _, (recipe,) = submit_job(log, "ann")
        finish(log, recipe)
        with notifying(log, options):
            wait_for(log, *[("ann", "mail", "sent")] * 2)
        owner.execute("UPDATE live.notifications SET state = 'waiting' WHERE number = 1")
        owner.execute("UPDATE live.notifier SET database_id = 'another'")
        _, (recipe,) = submit_job(log, "ann")
        finish(log, recipe)
        with notifying(log, options):
            wait_for(log, ("ann", "mail", "given-up"), ("ann", "mail", "sent"))
    assert [str(mail["Subject"])[:5] for mail in mailbox.mails] == ["Job 2", "Job 3"]


def test_notifier__events_older_than_a_day__are_counted(log: EventLog, owner: Owner, cert: Path) -> None:
    add_user(log, "ann")
    with notifying(log, mail_options("smtp-plain://localhost:9")):
        pass
    _, (recipe,) = submit_job(log, "ann")
    finish(log, recipe)
    owner.execute("SET session_replication_role = replica")
    owner.execute("UPDATE log.events SET recorded_at = recorded_at - interval '25 h'")
    with notifying(log, mail_options("smtp-plain://localhost:9")) as counters:
        wait_until(lambda: counters.too_old == 1, "the message to be counted")
    assert messages(log) == []


def test_notifier__end_moved_while_it_was_away__is_not_announced(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pages of one commit: the loan has ended by the clock before its extension is read.
    monkeypatch.setattr("workers.notifying.notifier.Tailer", partial(Tailer, page_size=1))
    add_user(log, "ann")
    (fqdn,) = add_lab(log, "lab", 1)
    with notifying(log, mail_options("smtp-plain://localhost:9")):
        pass
    earlier, later = (datetime.now(UTC) + timedelta(hours=hours) for hours in (-1, 9))
    append(log, f"system/{fqdn}", SystemLoaned("ann", earlier.isoformat()))
    append(log, f"system/{fqdn}", SystemLoanExtended(later.isoformat(), None))
    _, (recipe,) = submit_job(log, "ann")
    finish(log, recipe)
    with notifying(log, mail_options("smtp-plain://localhost:9")):
        wait_until(lambda: bool(kinds(log)), "a message")
    assert kinds(log) == ["job-ended"]


def kinds(log: EventLog) -> list[str]:
    return [kind for (kind,) in log.rows(b"SELECT kind FROM live.notifications ORDER BY number", ())]


def test_mail_server__without_encryption__is_not_used(cert: Path) -> None:
    """The server of these tests refuses what comes without STARTTLS, so that the tests show its use."""
    with mail_server(cert, Mailbox()) as port, smtplib.SMTP("localhost", port) as session:
        assert session.mail("a@b.c")[0] == 530
