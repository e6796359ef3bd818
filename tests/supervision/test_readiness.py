"""/readyz: the checks of the service, with names and figures; /healthz: the liveness of the process."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.rest.resources.readiness import CHECKS
from domain.directory.events import PartitionCreated
from domain.partition_numbers import EVERYBODY
from store.event_log import EventLog
from store.lease import LEASE_SECONDS
from tests.harness.databases import TestDatabase
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.outage import unavailable
from tests.harness.pool import ServerPool
from tests.harness.processes import children
from tests.harness.running import Running, running
from tests.harness.sessions import Owner, end_sessions, owner_session
from tests.harness.waiting import wait_until
from tests.workers.lab import put


@pytest.fixture(scope="module")
def started(servers: ServerPool) -> Iterator[Running]:
    with servers.databases("embedded").fresh() as database, running(database) as started:
        yield started


@pytest.fixture
def service(started: Running) -> Running:
    """Return the service of all tests here, with all processes and ready."""
    for name in ("scheduler", "projector"):
        if name not in started.processes:
            started.start(name)
    started.wait_ready()
    return started


@pytest.fixture
def owner(service: Running) -> Iterator[Owner]:
    with owner_session(service.database.owner_url) as session:
        yield session


@pytest.fixture
def impatient(database: TestDatabase) -> Iterator[Running]:
    """Shorten the time after which a scheduler is taken to hang."""
    with running(database, LABLEDGER_LEASE_SECONDS="3") as started:
        yield started


def asked(service: Running) -> tuple[int, dict[str, Any]]:
    with service.client() as client:
        answer = client.get("/readyz")
    return answer.status_code, answer.json()["checks"]


def failed(service: Running) -> dict[str, str]:
    """Return the messages of the failed checks, by check."""
    status, checks = asked(service)
    found = {name: check["detail"] for name, check in checks.items() if not check["ok"]}
    assert (status == 503) == bool(found)
    return found


def test_ready__all_is_well__every_check_is_there_with_its_figures(service: Running) -> None:

    def is_read() -> bool:
        checks = asked(service)[1]
        return all(checks[name].get("lag_events") == 0 for name in ("read_models", "directory"))

    wait_until(is_read, "everybody to have read the log")
    status, checks = asked(service)
    assert status == 200
    assert list(checks) == list(CHECKS)
    assert all(check.pop("ok") for check in checks.values())
    scheduler = checks.pop("scheduler")
    assert set(checks.pop("notifier")) >= {"active", "lag_events", "backlog_seconds", "given_up_count"}
    assert checks["read_models"].pop("position") == service.end()
    assert checks == {
        "database": {"writable": True},
        "read_models": {"lag_events": 0, "lag_seconds": 0.0},
        "directory": {"lag_events": 0},
    }
    (default,) = scheduler.pop("partitions").values()
    assert scheduler == {}
    assert default["ok"] and default["holder"].endswith(f"/{scheduler_process(service)}")
    assert 0 <= default["renewed_seconds_ago"] <= default["lease_seconds"] == LEASE_SECONDS


def test_ready__no_scheduler__says_so(service: Running) -> None:
    service.kill("scheduler")
    said = {"scheduler": "default: no scheduler holds the lease: does one run?"}
    wait_until(lambda: failed(service) == said, "it to be noticed")


def test_ready__scheduler_hangs__says_so_until_it_goes_on(impatient: Running) -> None:
    hung = scheduler_process(impatient)
    os.kill(hung, signal.SIGSTOP)
    try:
        said = wait_until(lambda: failed(impatient).get("scheduler"), "it to be noticed")
        assert "hangs: it has not renewed its lease for" in said
        with impatient.client() as client:
            assert '\nlabledger_scheduler_active{partition="default"} 0.0\n' in client.get("/metrics").text
    finally:
        os.kill(hung, signal.SIGCONT)
    impatient.wait_ready()


def test_ready__scheduler_of_one_partition_is_gone__names_it_and_stays_ready(
    database: TestDatabase, log: EventLog
) -> None:
    put(log, [("partition/west", PartitionCreated(2))], partition=EVERYBODY)
    with running(database) as service:
        wait_until(lambda: not _failing_partitions(service), "both schedulers")
        service.kill("scheduler")
        wait_until(lambda: failed(service), "it to be noticed")
        gone = "no scheduler holds the lease: does one run?"
        assert failed(service) == {"scheduler": f"default: {gone}; west: {gone}"}

        service.start("scheduler", "--partition", "default")
        service.wait_ready()
        assert _failing_partitions(service) == {"west": gone}
        with service.client() as client:
            metrics = client.get("/metrics").text
        assert '\nlabledger_scheduler_active{partition="default"} 1.0\n' in metrics
        assert '\nlabledger_scheduler_active{partition="west"} 0.0\n' in metrics


def _failing_partitions(service: Running) -> dict[str, str]:
    checks = asked(service)[1]["scheduler"]["partitions"]
    return {name: check["detail"] for name, check in checks.items() if not check["ok"]}


def scheduler_process(service: Running) -> int:
    """Return the only process of `labledger scheduler` beside its parent."""
    (pid,) = children(service.processes["scheduler"].pid)
    return pid


def test_notifier__none_or_behind_or_without_mail__is_warned_of_but_the_service_is_ready(
    service: Running, owner: Owner
) -> None:
    def warning() -> str | None:
        status, checks = asked(service)
        assert status == 200 and checks["notifier"]["ok"]
        found: str | None = checks["notifier"].get("warning")
        return found

    assert warning() == "no notifier has run yet: `labledger notifier` sends notifications"
    service.start("notifier")
    wait_until(lambda: warning() is None, "the notifier to be active")
    with service.client() as client:
        client.put("/users/ann", json={"email": "ann@example.com"}).raise_for_status()
        client.put("/users/ann/notifications", json={"mail": ["job-ended"]}).raise_for_status()
        wait_until(lambda: warning() == "the notifier has no LABLEDGER_SMTP_URL, and 1 user chose mail")
        client.put("/users/ann/notifications", json={"mail": []}).raise_for_status()
        wait_until(lambda: warning() is None, "nobody to want mail")
        owner.execute(
            "INSERT INTO live.notifications (id, user_name, channel, lane, kind, title, event, state, "
            "created_at, next_attempt_at, finished_at) "
            "SELECT 'r-' || n, 'ann', 'mail', 'none', 'job-ended', '', '', s, now() - interval '20 min', "
            "now() + interval '1 h', f FROM (VALUES (1, 'waiting', NULL), "
            "(2, 'given-up', now()), (3, 'given-up', now() - interval '2 days')) AS v (n, s, f)"
        )
        found = warning() or ""
        late, given_up = found.split("; ")
        assert re.fullmatch(r"a mail has been waiting for 1\d\d\d s: does the mail server answer\?", late)
        assert given_up == "1 notification given up within a day"
        text = client.get("/metrics").text
        assert re.search(r'\nlabledger_notification_backlog_seconds{channel="mail"} 1[12]\d\d\.', text)
        assert '\nlabledger_notification_backlog_seconds{channel="webhook"} 0.0\n' in text
        owner.execute("DELETE FROM live.notifications")
        service.kill("notifier")
        owner.execute("UPDATE live.notifier SET held_until = now(), timers_until = now() - interval '5 min'")
        assert re.fullmatch(r"no notifier has run for 3\d\d s", warning() or "")
        assert re.search(r"\nlabledger_notifier_lag_seconds 3\d\d\.", client.get("/metrics").text)


def test_ready__projector_is_far_behind__says_by_how_much(service: Running, owner: Owner) -> None:
    service.kill("projector")
    service.labledger("token", "create", "admin", "--role", "admin")
    assert failed(service) == {}, "behind, but not for long"
    # Only the log is sixty seconds older.
    owner.execute("SET session_replication_role = replica")
    owner.execute("UPDATE log.events SET recorded_at = recorded_at - interval '61 s'")
    said = re.search(r"(\d+) s behind: does a projector run\?", failed(service)["read_models"])
    # The time of the test is added.
    assert said and int(said[1]) >= 61


def test_ready__database_away__says_so_and_the_process_lives(service: Running) -> None:
    with unavailable(service.database):
        said = {"database": "the database cannot be reached"}
        wait_until(lambda: failed(service) == said, "it to be noticed")
        assert httpx.get(f"{service.url}/healthz", **LOCAL_HTTP).json() == {"alive": True}
    service.wait_ready()


def test_ready__database_takes_nothing_in__says_so(service: Running, owner: Owner) -> None:
    """Make the database read-only for good: this is the last test of the service."""
    database = owner.info.dbname
    owner.execute(f'ALTER DATABASE "{database}" SET default_transaction_read_only = on'.encode())
    end_sessions(owner)
    said = "the database is read-only; it may be a standby"
    wait_until(lambda: failed(service).get("database") == said, "the sessions to be new")
