"""The PostgreSQL servers of a test run: the embedded one, and a second one of another make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.embedded.account import postgres_account
from api.embedded.binaries import Binaries
from api.embedded.cluster import Cluster

GIVEN_SERVER = "LABLEDGER_TEST_DATABASE_URL"
OLDEST_MAJOR_VERSION = 15

# A test run that loses its power is run again. Nothing else is given up: tests kill servers, and what was
# committed has to be there afterwards.
FAST = {"fsync": "off", "max_connections": "200"}


@contextmanager
def cluster(binaries: Binaries | None = None) -> Iterator[str]:
    """The owner's URL of a new server, which is gone afterwards however the tests end."""
    with tempfile.TemporaryDirectory(prefix="labledger-tests-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL's user has to pass
        server = Cluster(folder / "postgresql", settings=FAST, binaries=binaries)
        try:
            yield server.start().owner_url
        finally:
            server.remove()


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
    with cluster(binaries) as url:
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
