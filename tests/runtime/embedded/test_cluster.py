"""The life cycle of an embedded cluster, on real servers."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import psycopg
import pytest

from runtime.embedded import account
from runtime.embedded.account import EmbeddedPostgresError
from runtime.embedded.cluster import Cluster, sync_method
from tests.runtime.embedded.asking import ask


def test_start__new_folder__is_as_labledger_needs_it(cluster: Cluster) -> None:
    url = cluster.start().owner_url
    assert str(ask(url, "SHOW server_version")).startswith("18.")
    settings = ("server_encoding", "data_checksums", "jit", "listen_addresses", "unix_socket_directories")
    own = f'"{cluster.folder / "cluster"}"'
    assert [ask(url, f"SHOW {name}") for name in settings] == ["UTF8", "on", "off", "", own]
    assert ask(url, "SELECT datlocale FROM pg_database WHERE datname = current_database()") == "C.UTF-8"
    assert ask(url, "SELECT current_database() || ' ' || current_user") == "labledger labledger_owner"


def test_start__no_settings_given__is_durable(open_folder: Path) -> None:
    cluster = Cluster(open_folder / "postgresql")
    try:
        url = cluster.start().owner_url
        assert [ask(url, f"SHOW {name}") for name in ("fsync", "synchronous_commit")] == ["on", "on"]
    finally:
        cluster.remove()


def test_start__wrong_password__is_refused(cluster: Cluster) -> None:
    server = cluster.start()
    with pytest.raises(psycopg.OperationalError, match="authentication failed"):
        ask(server.url("labledger_owner", "guessed"), "SELECT 1")


def test_start__stopped_before__keeps_data_and_place(cluster: Cluster) -> None:
    server = cluster.start()
    with psycopg.connect(server.owner_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    cluster.stop()
    assert not cluster.is_running()
    assert cluster.start() == server
    assert ask(server.owner_url, "SELECT answer FROM kept") == 42


def test_start__already_running__adopts_the_server(cluster: Cluster) -> None:
    server = cluster.start()
    pid = cluster.pid
    again = Cluster(cluster.folder)
    assert again.start() == server
    assert again.pid == pid


def test_start__postmaster_killed__recovers_all_commits(cluster: Cluster) -> None:
    server = cluster.start()
    with psycopg.connect(server.owner_url) as connection:
        connection.execute("CREATE TABLE killed AS SELECT 42 AS answer")
    assert cluster.pid is not None
    os.kill(cluster.pid, signal.SIGKILL)
    assert cluster.start() == server
    assert ask(server.owner_url, "SELECT answer FROM killed") == 42


def test_start__pid_file_names_another_process__is_not_fooled(cluster: Cluster) -> None:
    """Write the pid of this process to the pid file: after a restart of a container, pids are soon reused."""
    cluster.start()
    pid_file = next(cluster.folder.rglob("postmaster.pid"), None)
    assert pid_file is not None
    lines = pid_file.read_text().splitlines()
    cluster.stop()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    assert not cluster.is_running()
    cluster.start()
    assert cluster.pid != os.getpid()


def test_start__invalid_setting__reports_the_message_of_postgresql(open_folder: Path) -> None:
    cluster = Cluster(open_folder / "postgresql", settings={"fsync": "off", "shared_buffers": "nonsense"})
    try:
        with pytest.raises(EmbeddedPostgresError, match="shared_buffers"):
            cluster.start()
    finally:
        cluster.remove()


def test_start__initdb_interrupted_before__begins_anew(new_cluster: Cluster) -> None:
    new_cluster.start()
    new_cluster.remove()
    unfinished = new_cluster.folder / "cluster" / "data.unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    owner = account.postgres_account()
    os.chown(unfinished.parent, owner.uid, owner.gid)
    assert ask(new_cluster.start().owner_url, "SELECT 1") == 1
    assert not unfinished.exists()


def test_start__callers_libpq_variables__do_not_reach_the_server(
    new_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGDATA": "/nowhere", "PGPORT": "1", "PGOPTIONS": "-c jit=on"}.items():
        monkeypatch.setenv(name, value)
    server = new_cluster.start()
    monkeypatch.undo()
    assert ask(server.owner_url, "SHOW jit") == "off"


def test_folder__after_start__keeps_secrets_from_others(cluster: Cluster) -> None:
    cluster.start()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in cluster.folder.iterdir()}
    assert modes["owner.password"] == 0o600
    assert modes["cluster"] == 0o700


def test_stop__sessions_open__ends_them(cluster: Cluster) -> None:
    server = cluster.start()
    with psycopg.connect(server.owner_url) as connection:
        cluster.stop()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert not list(server.sockets.glob(".s.PGSQL.*"))


def test_stop__not_started__does_nothing(new_cluster: Cluster) -> None:
    new_cluster.stop()
    assert not new_cluster.is_running()
    assert not new_cluster.folder.exists()


@pytest.mark.parametrize(
    ("platform", "kernel", "expected"),
    [
        ("linux", "6.1.0-18-amd64", "syncfs"),
        ("linux", "5.8", "syncfs"),
        # `syncfs` of this kernel does not report write errors.
        ("linux", "5.4.0", "fsync"),
        ("linux", "unknown", "fsync"),
        # This platform has no `syncfs`.
        ("darwin", "23.1.0", "fsync"),
    ],
)
def test_sync_method__of_a_kernel__only_methods_that_report_errors(
    platform: str, kernel: str, expected: str
) -> None:
    assert sync_method(platform, kernel) == expected
