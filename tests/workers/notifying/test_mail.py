"""Notifications by mail, to a real mail server with STARTTLS and authentication."""

from __future__ import annotations

import smtplib
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from domain.directory.events import LabControllerSilent, UserRegistered, UserRemoved
from domain.recipe.events import RecipeAborted, RecipeCompleted, TaskResult
from domain.system.events import SystemConditionChanged, SystemLoaned, SystemLoanExtended
from store.event_log import EventLog
from store.tailer import Tailer
from tests.harness.sessions import Owner
from tests.harness.waiting import wait_until
from tests.workers.lab import add_lab
from tests.workers.notifying.receivers import Mailbox, certificate, mail_server
from tests.workers.notifying.town import (
    add_user,
    append,
    mail_options,
    messages,
    notifying,
    smtp_url,
    submit_job,
    wait_for,
)


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
