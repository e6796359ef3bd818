"""The embedded PostgreSQL, started by root, who may not run it, and by an ordinary user."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path

import psycopg
import pytest

from runtime.embedded import binaries, home
from runtime.embedded.account import Account, postgres_account
from runtime.embedded.binaries import packaged_binaries
from runtime.embedded.cluster import Cluster
from tests.harness.servers import FAST
from tests.runtime.embedded.conftest import MakeCluster

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as several users")


@pytest.fixture
def nobody() -> Account:
    entry = pwd.getpwnam("nobody")
    return Account("nobody", entry.pw_uid, entry.pw_gid)


@as_root
def test_cluster__root__runs_as_an_unprivileged_user(make_cluster: MakeCluster, open_folder: Path) -> None:
    cluster = make_cluster(open_folder / "postgresql")
    cluster.start()
    assert Path(f"/proc/{cluster.pid}").stat().st_uid == postgres_account().uid != 0


@as_root
def test_cluster__folder_only_root_can_enter__keeps_its_data_elsewhere(
    make_cluster: MakeCluster, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "FALLBACK_HOMES", open_folder / "clusters")
    private = open_folder / "private"
    private.mkdir(mode=0o700)
    cluster = make_cluster(private / "postgresql")
    with psycopg.connect(cluster.start().owner_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    assert (private / "postgresql" / "cluster.path").read_text().startswith(str(open_folder / "clusters"))
    cluster.stop()
    private.chmod(0o755)  # the first choice stays, otherwise the data would seem lost
    with psycopg.connect(cluster.start().owner_url) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


@as_root
def test_cluster__folder_deleted_and_recreated__does_not_find_the_old_data(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "FALLBACK_HOMES", open_folder / "clusters")
    folder = open_folder / "private"
    folder.mkdir(mode=0o700)
    first = home.home_of(folder, postgres_account())
    shutil.rmtree(folder)
    folder.mkdir(mode=0o700)
    assert home.home_of(folder, postgres_account()) != first


@as_root
def test_binaries__venv_only_root_can_enter__are_copied_once(
    open_folder: Path, nobody: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = open_folder / "private" / "site"
    (site / binaries.PACKAGE).mkdir(parents=True)
    site.parent.chmod(0o700)
    for part in binaries._COPIED_FOLDERS:
        shutil.copytree(binaries._site_folder() / part, site / part)
    monkeypatch.setattr(binaries, "_site_folder", lambda: site)
    monkeypatch.setattr(binaries, "CACHE", open_folder / "cache")
    old_umask = os.umask(0o077)
    try:
        found = packaged_binaries(nobody)
    finally:
        os.umask(old_umask)
    assert found.folder.is_relative_to(open_folder / "cache")
    assert found.major_version(nobody) == 18
    made = found.folder.stat().st_ino
    assert packaged_binaries(nobody).folder.stat().st_ino == made
    assert [path.name for path in (open_folder / "cache").iterdir()] == [found.folder.parents[2].name]


def become(user: Account) -> None:
    os.setgroups([])
    os.setgid(user.gid)
    os.setuid(user.uid)
    os.environ.clear()


@as_root
def test_cluster__ordinary_user_without_home_or_path__works(open_folder: Path, nobody: Account) -> None:
    """Run it in a fork, since the Python executable may be executable by root only."""
    reachable = packaged_binaries(nobody)
    os.chown(open_folder, nobody.uid, nobody.gid)
    pid = os.fork()
    if pid == 0:
        answer = None
        try:
            become(nobody)
            cluster = Cluster(open_folder / "postgresql", settings=FAST, binaries=reachable)
            with psycopg.connect(cluster.start().owner_url) as connection:
                answer = connection.execute("SELECT 6 * 7").fetchone()
            cluster.remove()
        finally:
            os._exit(0 if answer == (42,) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_secret__asked_again__is_the_same_and_private(tmp_path: Path) -> None:
    first = home.secret(tmp_path / "password")
    assert home.secret(tmp_path / "password") == first
    assert (tmp_path / "password").stat().st_mode & 0o777 == 0o600
