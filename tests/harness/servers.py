"""The PostgreSQL servers of a test run: the embedded one, and a second one of another build."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from runtime.embedded.account import postgres_account
from runtime.embedded.binaries import Binaries
from runtime.embedded.cluster import Cluster
from tests.harness.folders import public_folder

GIVEN_SERVER = "LABLEDGER_TEST_DATABASE_URL"
OLDEST_MAJOR_VERSION = 15

# A test run does not survive a power failure, which alone tears pages. All other guarantees hold: tests kill
# servers, and committed data must survive that.
FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    # The data may be in memory.
    "max_wal_size": "256MB",
}


@contextmanager
def cluster(settings: Mapping[str, str] = FAST, binaries: Binaries | None = None) -> Iterator[Cluster]:
    """Yield a new, running server; remove it afterwards, however the tests end."""
    with public_folder() as folder:
        made = Cluster(folder / "postgresql", settings=settings, binaries=binaries)
        try:
            made.start()
            yield made
        finally:
            made.remove()


@contextmanager
def own_server(binaries: Binaries | None = None) -> Iterator[str]:
    """Yield the owner's URL of a new server."""
    with cluster(binaries=binaries) as made:
        yield made.start().owner_url


@contextmanager
def second_server() -> Iterator[str]:
    """Yield the URL of `LABLEDGER_TEST_DATABASE_URL`, or of a new server of the installed binaries."""
    given = os.environ.get(GIVEN_SERVER)
    if given:
        yield given
        return
    binaries = system_binaries()
    if binaries is None:
        raise NoSecondServer(
            f"no PostgreSQL >= {OLDEST_MAJOR_VERSION} is installed, and {GIVEN_SERVER} is not set"
        )
    with own_server(binaries) as url:
        yield url


def system_binaries() -> Binaries | None:
    """Return the newest installed binaries, if new enough and complete: a client package has no initdb."""
    account = postgres_account()
    found = {
        Binaries(folder).major_version(account): Binaries(folder)
        for folder in _system_folders()
        if (folder / "initdb").exists() and account.can_execute(folder / "postgres")
    }
    newest = max(found, default=0)
    return found[newest] if newest >= OLDEST_MAJOR_VERSION else None


def _system_folders() -> list[Path]:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if shutil.which("pg_config"):
        done = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=False)
        folders += [Path(done.stdout.strip())] if re.search(r"\S", done.stdout) else []
    return folders


class NoSecondServer(Exception):
    """This machine offers no second server."""
