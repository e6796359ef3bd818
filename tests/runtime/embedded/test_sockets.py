"""Other users of the machine neither reach the embedded server nor replace it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import stat
import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from runtime.embedded import server_log, sockets
from runtime.embedded.account import EmbeddedPostgresError, postgres_account
from runtime.embedded.cluster import Cluster, Server
from runtime.embedded.database import EmbeddedDatabase, service_url
from runtime.settings import Settings
from tests.runtime.embedded.asking import ask
from tests.runtime.embedded.conftest import MakeCluster

# AuthenticationCleartextPassword, which an impostor would send.
GIVE_ME_YOUR_PASSWORD = b"R\x00\x00\x00\x08\x00\x00\x00\x03"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_server__started__is_reached_by_its_user_alone(cluster: Cluster) -> None:
    server = cluster.start()
    assert (ask(server.owner_url, "SHOW listen_addresses"), mode(server.sockets)) == ("", 0o700)
    assert server.sockets.stat().st_uid == postgres_account().uid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as several users")
def test_server__another_user_connects__is_refused_by_the_kernel(cluster: Cluster) -> None:
    server = cluster.start()
    # A user that is neither root nor the user of the server.
    stranger = next(
        entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid not in (0, postgres_account().uid)
    )
    if os.fork() == 0:
        try:
            os.setgroups([])
            os.setuid(stranger)
            socket.socket(socket.AF_UNIX).connect(str(server.sockets / ".s.PGSQL.5432"))
        except PermissionError:
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0


def test_url__impostor_in_the_place_of_the_server__is_not_sent_the_password(cluster: Cluster) -> None:
    server = cluster.start()
    cluster.stop()
    heard: list[bytes] = []
    with closing(socket.socket(socket.AF_UNIX)) as impostor:
        impostor.bind(str(server.sockets / ".s.PGSQL.5432"))
        impostor.listen()
        listening = threading.Thread(target=lambda: heard.append(asked_for_password(impostor)))
        listening.start()
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(server.owner_url, connect_timeout=30)
        listening.join(30)
    (server.sockets / ".s.PGSQL.5432").unlink()
    assert server.owner_password.encode() not in heard[0]


def asked_for_password(impostor: socket.socket) -> bytes:
    """Return all bytes of the client until it disconnects."""
    client, _ = impostor.accept()
    with client:
        heard = client.recv(4096)
        client.sendall(GIVE_ME_YOUR_PASSWORD)
        while more := client.recv(4096):
            heard += more
    return heard


@pytest.mark.parametrize("name", ["x" * 120, "a,b"])
def test_folder__path_no_client_can_connect_to__has_its_socket_in_a_short_one(
    make_cluster: MakeCluster, open_folder: Path, name: str
) -> None:
    cluster = make_cluster(open_folder / name / "postgresql")
    server = cluster.start()
    assert server.sockets.parent == sockets.SHORT and mode(server.sockets) == 0o700
    assert ask(server.owner_url, "SELECT 1") == 1

    # The services find it at the same path after a cleaner of /tmp deleted it.
    assert cluster.pid is not None
    os.kill(cluster.pid, signal.SIGKILL)
    shutil.rmtree(server.sockets)
    assert cluster.start() == server
    cluster.remove()
    assert not server.sockets.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as several users")
def test_short_folder__taken_by_another_user__is_not_used(
    make_cluster: MakeCluster, open_folder: Path
) -> None:
    cluster = make_cluster(open_folder / ("x" * 120) / "postgresql")
    server = cluster.start()
    cluster.stop()
    os.chown(server.sockets, 12345, 12345)
    try:
        assert cluster.start().sockets != server.sockets
    finally:
        server.sockets.rmdir()


def test_database__socket_folder_taken_while_its_server_was_dead__does_not_go_on(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.embedded.database.CHECK_SECONDS", 0)
    database = EmbeddedDatabase(open_folder)
    try:
        database.start(Settings.read({}, data=open_folder))
        database._cluster.stop()
        moved = Server(open_folder, 5432, "")
        monkeypatch.setattr(Cluster, "start", lambda self: moved)
        with pytest.raises(EmbeddedPostgresError, match="another user took the folder"):
            database.keep_running()
    finally:
        database.remove()


def test_service_url__of_an_embedded_server__never_gives_the_password_away(cluster: Cluster) -> None:
    server = cluster.start()
    with psycopg.connect(server.owner_url, autocommit=True) as owner:
        owner.execute("CREATE ROLE labledger_service NOLOGIN")
    assert "require_auth=scram-sha-256" in service_url(server, cluster.folder)


def test_keep_running__log_of_the_server_is_long__is_rotated_under_it(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.embedded.database.CHECK_SECONDS", 0)
    monkeypatch.setattr(server_log, "MAX_BYTES", 2000)
    database = EmbeddedDatabase(open_folder)
    try:
        settings = database.start(Settings.read({}, data=open_folder))
        log = open_folder / "postgresql" / "cluster" / "postgresql.log"
        complain(settings, times=30)
        database.keep_running()
        old = log.with_suffix(".log.1")
        assert (log.stat().st_size, old.stat().st_size, mode(old)) == (0, 2000, 0o600)
        complain(settings, times=1)
        assert log.read_bytes().startswith(b"2"), "the server goes on at the beginning"
    finally:
        database.remove()


def complain(settings: Settings, times: int) -> None:
    assert settings.database_url is not None
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        for _ in range(times):
            connection.execute("DO $$ BEGIN RAISE LOG 'a line of the log'; END $$")
