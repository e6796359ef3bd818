"""Backups of a service at work, restored on another server by the commands of docs/backup.md."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import pytest

from api import database_setup
from runtime.embedded.account import postgres_account
from runtime.embedded.binaries import packaged_binaries
from runtime.embedded.cluster import OWNER, Cluster, Server
from runtime.embedded.home import home_of, make_folder, write_private
from tests.docs.operation_pages import server_settings, shell_blocks, sql_blocks
from tests.harness import servers
from tests.harness.databases import TestDatabase
from tests.harness.folders import public_folder
from tests.harness.running import SAMPLES, Running, free_port, running
from tests.harness.sessions import owner_session
from tests.harness.waiting import wait_until

PASSWORD: Final = "only-for-tests"
SERVICES: Final = ("serve", "scheduler", "projector")
BACKUPS: Final = "/var/backups/labledger"
SMOKE: Final = SAMPLES / "kernel-smoke.xml"

LOG = b"""
SELECT notification_id, originator_id, originator_version, topic, state, commit_end, recorded_at, partition
FROM log.events WHERE notification_id <= %s ORDER BY notification_id
"""
END = b"SELECT coalesce(max(notification_id), 0) FROM log.events"
LATER = b"SELECT count(*) FROM log.events WHERE recorded_at > %s::text::timestamptz"
POWER = b"SELECT type, address, port, user_name, secret FROM secret.power_settings"
BMC: Final = {
    "type": "ipmilan",
    "address": "bmc.example.com",
    "port": None,
    "user": "root",
    "secret": "calvin",
}
IN_RECOVERY = b"SELECT pg_is_in_recovery()"


@dataclass
class Work:
    """Jobs that a thread submits one after the other: the position of each answer. Mutable."""

    service: Running
    acknowledged: list[int]
    _stop: Event

    def wait_for_more(self) -> None:
        wanted = len(self.acknowledged) + 3
        wait_until(lambda: len(self.acknowledged) >= wanted, "further submissions")

    def submit_until_stopped(self) -> None:
        with self.service.client() as client:
            while not self._stop.wait(0.02):
                answer = client.post(
                    "/jobs", content=SMOKE.read_bytes(), headers={"Content-Type": "application/xml"}
                )
                assert answer.status_code == 201, answer.text
                self.acknowledged.append(int(answer.headers["Labledger-Position"]))


@contextmanager
def at_work(service: Running) -> Iterator[Work]:
    """Submit jobs to a service, whose simulated lab runs them, within the context."""
    service.do("lab", "load", str(SAMPLES / "lab.json"))
    service.start("lab", "simulate", "--speed", "2000", "--seed", "3", name="lab")
    work = Work(service, [], Event())
    thread = Thread(target=work.submit_until_stopped)
    thread.start()
    try:
        wait_until(lambda: "recipe.completed" in _topics(service), "the lab to run a recipe")
        yield work
    finally:
        work._stop.set()
        thread.join()


def _topics(service: Running) -> set[str]:
    with service.client() as client:
        return {event["topic"] for event in client.get("/events", params={"limit": 1000}).json()["events"]}


@contextmanager
def continued(database: TestDatabase, token: str) -> Iterator[Running]:
    """Start all services on a restored database, with a token of the service that was backed up."""
    settings = {"LABLEDGER_OWNER_DATABASE_URL": database.owner_url}
    with ExitStack() as stack:
        service = Running(database, f"http://127.0.0.1:{free_port()}", token, settings=settings)
        stack.callback(service.stop)
        for name in SERVICES:
            service.start(name)
        service.wait_ready()
        yield service


def assert_sound_and_goes_on(service: Running) -> None:
    for command in shell_blocks("Backup and restore")[2].splitlines():
        service.labledger(*command.split()[1:])
    service.start("lab", "simulate", "--speed", "2000", "--seed", "4", name="lab")
    service.labledger("submit", "--wait", str(SMOKE))
    service.labledger("replay", "verify")
    service.labledger("replay", "rebuild", "--check")


@contextmanager
def debian_server(**settings: str) -> Iterator[Server]:
    """Yield a server like that of the page: its superuser is `postgres`, and it has no database of ours."""
    with servers.cluster({**servers.FAST, **settings}) as made:
        server = made.start()
        with owner_session(server.url(OWNER, server.owner_password, "postgres")) as first:
            first.execute(f"CREATE ROLE postgres SUPERUSER LOGIN PASSWORD '{PASSWORD}'".encode())
        with owner_session(server.url("postgres", PASSWORD, "postgres")) as superuser:
            superuser.execute("DROP DATABASE labledger")
            superuser.execute(f"ALTER ROLE {OWNER} RENAME TO superuser_of_initdb".encode())
        yield server


def database_as_the_page_says(server: Server) -> TestDatabase:
    """Create the roles and the database by the statements of the page, and migrate it."""
    with owner_session(server.url("postgres", PASSWORD, "postgres")) as superuser:
        for statement in sql_blocks()[0].replace("…", PASSWORD).split(";"):
            if statement.strip():
                superuser.execute(statement.encode())
    database = database_of(server)
    database_setup.migrate(database.settings)
    return database


def database_of(server: Server) -> TestDatabase:
    return TestDatabase(server.url(OWNER, PASSWORD), server.url("labledger_api", PASSWORD))


def as_postgres(server: Server, script: str, folder: Path) -> None:
    """Run commands of the page in a folder, as the user of PostgreSQL, with the programs of the server."""
    account = postgres_account()
    variables = {
        "PATH": f"{packaged_binaries(account).folder}:{os.defpath}",
        "PGHOST": str(server.sockets),
        "PGPORT": str(server.port),
        "PGUSER": "postgres",
        "PGPASSWORD": PASSWORD,
    }
    exports = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
    script = f"cd {folder}\n{exports}{script}"
    done = account.run(["/bin/sh", "-e", "-c", script.replace(BACKUPS, str(folder))])
    assert done.returncode == 0, done.stderr


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a private folder of the user of PostgreSQL."""
    with public_folder() as public:
        postgres_account().make_private_folder(public / "backups")
        yield public / "backups"


@pytest.mark.soak
def test_backup__taken_at_work__restored_elsewhere_with_all_that_was_acknowledged_before(
    folder: Path,
) -> None:
    backup, restore, _ = shell_blocks("Backup and restore")
    with debian_server() as first, debian_server() as second:
        original, restored = database_as_the_page_says(first), database_of(second)
        with running(original, *SERVICES) as service, at_work(service) as work:
            put_power_settings(service)
            acknowledged = work.acknowledged[-1]
            as_postgres(first, backup, folder)
            work.wait_for_more()
            token = service.token
        assert (folder / "labledger.dump").stat().st_mode & 0o077 == 0

        as_postgres(second, restore, folder)
        assert not is_closed(restored)
        assert database_setup.migrate(restored.settings) == []
        assert is_closed(restored)
        assert acknowledged <= end_of_beginning(restored, original)
        assert row_of(restored, POWER) == row_of(original, POWER) == tuple(BMC.values())
        with continued(restored, token) as again:
            assert_sound_and_goes_on(again)


def put_power_settings(service: Running) -> None:
    with service.client() as client:
        answer = client.put("/systems/x86-05.east.example.com/power", json=BMC)
        assert answer.status_code == 200, answer.text


def is_closed(database: TestDatabase) -> bool:
    """Return whether only the logins of Labledger may connect."""
    row = row_of(database, b"SELECT has_database_privilege('public', current_database(), 'CONNECT')")
    return row == (False,)


@pytest.mark.soak
def test_archive__moment_between_two_jobs__recovered_with_the_first_and_without_the_second(
    folder: Path,
) -> None:
    make_folders, base_backup, announce = shell_blocks("Point-in-time recovery")
    with debian_server(**in_folder(server_settings("archive.conf"), folder)) as server, ExitStack() as stack:
        original = database_as_the_page_says(server)
        with running(original, *SERVICES) as service, at_work(service) as work:
            as_postgres(server, make_folders, folder)
            as_postgres(server, base_backup, folder)
            work.wait_for_more()
            acknowledged, moment = work.acknowledged[-1], row_of(original, b"SELECT now()::text")[0]
            work.wait_for_more()
            token = service.token
        archive_all(server)
        recovery = {**server_settings("recovery.conf"), "recovery_target_time": moment}
        recovered = Cluster(
            folder.parent / "recovered", settings={**servers.FAST, **in_folder(recovery, folder)}
        )
        stack.callback(recovered.remove)
        put_base_backup(folder, recovered)
        second = recovered.start()
        restored = database_of(second)
        wait_until(lambda: row_of(restored, IN_RECOVERY) == (False,), "the end of the recovery")
        assert acknowledged <= end_of_beginning(restored, original)
        assert row_of(restored, LATER, moment) == (0,) < row_of(original, LATER, moment)
        as_postgres(second, announce, folder)
        assert row_of(restored, b"SELECT database_id FROM live.notifier") == (None,)
        with continued(restored, token) as again:
            assert_sound_and_goes_on(again)


def in_folder(settings: Mapping[str, str], folder: Path) -> dict[str, str]:
    return {name: value.replace(BACKUPS, str(folder)) for name, value in settings.items()}


def archive_all(server: Server) -> None:
    """Archive the log up to now: the archive would get it after `archive_timeout`."""
    with owner_session(server.url("postgres", PASSWORD)) as superuser:
        (last,) = superuser.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone() or ("",)
        archived = "SELECT last_archived_wal >= %s FROM pg_stat_archiver"
        wait_until(
            lambda: superuser.execute(archived, (last,)).fetchone() == (True,), "the archive of the log"
        )


def put_base_backup(folder: Path, cluster: Cluster) -> None:
    """Copy the base backup to the data folder of a cluster that is not running, and ask for recovery."""
    account = postgres_account()
    make_folder(cluster.folder)
    write_private(cluster.folder / "owner.password", PASSWORD)
    data = home_of(cluster.folder, account) / "data"
    script = 'cp -a -- "$1" "$2" && touch -- "$2/recovery.signal"'
    done = account.run(["/bin/sh", "-c", script, "sh", folder / "base", data])
    assert done.returncode == 0, done.stderr


def row_of(database: TestDatabase, query: bytes, *parameters: object) -> tuple[Any, ...]:
    with owner_session(database.owner_url) as owner:
        return owner.execute(query, parameters).fetchone() or ()


def events_of(database: TestDatabase, end: int) -> list[tuple[Any, ...]]:
    with owner_session(database.owner_url) as owner:
        return owner.execute(LOG, (end,)).fetchall()


def end_of_beginning(restored: TestDatabase, original: TestDatabase) -> int:
    """Check that the restored log is the beginning of the original one, and return its end."""
    end = int(row_of(restored, END)[0])
    assert 0 < end < row_of(original, END)[0]
    assert events_of(restored, end) == events_of(original, end)
    return end
