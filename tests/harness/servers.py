"""The PostgreSQL servers of a test run: the embedded one, and a second one of another make."""

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

# A test run that loses its power, which alone tears pages, is run again. Nothing else is given up: tests kill
# servers, and what was committed has to be there afterwards.
FAST = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    # It may lie in memory.
    "max_wal_size": "256MB",
}


@contextmanager
def cluster(settings: Mapping[str, str] = FAST, binaries: Binaries | None = None) -> Iterator[Cluster]:
    """A new server that runs; it is gone afterwards however the tests end."""
    with public_folder() as folder:
        made = Cluster(folder / "postgresql", settings=settings, binaries=binaries)
        try:
            made.start()
            yield made
        finally:
            made.remove()


@contextmanager
def own_server(binaries: Binaries | None = None) -> Iterator[str]:
    """The URL of its owner."""
    with cluster(binaries=binaries) as made:
        yield made.start().owner_url


@contextmanager
def second_server() -> Iterator[str]:
    """The server of `LABLEDGER_TEST_DATABASE_URL`, else one of the system's binaries; never a running one."""
    given = os.environ.get(GIVEN_SERVER)
    if given:
        yield given
        return
    binaries = system_binaries()
    if binaries is None:
        raise NoSecondServer(f"no PostgreSQL >= {OLDEST_MAJOR_VERSION} of the system, and no {GIVEN_SERVER}")
    with own_server(binaries) as url:
        yield url


def system_binaries() -> Binaries | None:
    """The newest installed ones that are new enough and complete: a client package has no initdb."""
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
        told = subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True, check=False)
        folders += [Path(told.stdout.strip())] if re.search(r"\S", told.stdout) else []
    return folders


class NoSecondServer(Exception):
    """This machine offers no second server."""
