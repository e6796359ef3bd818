"""A PostgreSQL cluster in a folder: created at the first start, adopted if its server is running.

The server listens on a Unix socket in a folder of mode 0700, and on no TCP port, so that other users of the
machine cannot connect.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from runtime.embedded.account import EmbeddedPostgresError, postgres_account
from runtime.embedded.binaries import Binaries, packaged_binaries
from runtime.embedded.home import home_of, make_folder, secret
from runtime.embedded.initialise import initialise
from runtime.embedded.locks import exclusive
from runtime.embedded.postmaster import Postmaster, running_postmaster
from runtime.embedded.server_log import ServerLog
from runtime.embedded.sockets import delete_short_folder, delete_sockets, setting_for, socket_folder
from runtime.locks import LockClass
from runtime.machine_memory import machine_memory

OWNER = "labledger_owner"
DATABASE = "labledger"

MAX_BUFFER_BYTES = 512 << 20

START_SECONDS = 60.0
STOP_SECONDS = 30.0


def sync_method(platform: str, kernel: str) -> str:
    """Return the `recovery_init_sync_method`: how a killed server syncs its files before recovery.

    Syncing file by file takes seconds, but kernels before 5.8 do not report errors of `syncfs`.
    """
    version = re.match(r"(\d+)\.(\d+)", kernel) if platform == "linux" else None
    return "syncfs" if version and tuple(map(int, version.groups())) >= (5, 8) else "fsync"


DEFAULTS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    # No TCP port: the number is part of the name of the socket.
    "port": "5432",
    "timezone": "UTC",
    # JIT compilation takes longer than the short queries.
    "jit": "off",
    # An eighth of the memory, because the indexes of a long log are many times the default of 128 MB.
    "shared_buffers": f"{min(machine_memory() // 8, MAX_BUFFER_BYTES) >> 20}MB",
    # Twice the default, so that checkpoints under load are half as frequent. Recovery may take longer.
    "max_wal_size": "2GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "recovery_init_sync_method": sync_method(sys.platform, os.uname().release),
}

# A start that fails with this message is retried: children of a killed server are still running.
_TRANSIENT_FAILURE = "pre-existing shared memory block"


@dataclass(frozen=True)
class Server:
    """A running cluster."""

    sockets: Path
    port: int
    owner_password: str

    @property
    def owner_url(self) -> str:
        return self.url(OWNER, self.owner_password)

    def url(self, role: str, password: str, database: str = DATABASE) -> str:
        """Return a URL that makes the client use SCRAM, which never sends the password to the server."""
        address = f"host={quote(str(self.sockets), safe='')}&port={self.port}"
        return f"postgresql://{role}:{password}@/{database}?{address}&require_auth=scram-sha-256"


class Cluster:
    """A cluster in `folder`; `settings` are server settings that override `DEFAULTS`."""

    def __init__(
        self, folder: Path, *, settings: Mapping[str, str] | None = None, binaries: Binaries | None = None
    ) -> None:
        self.folder = folder.absolute()
        self._settings = {**DEFAULTS, **(settings or {})}
        self._account = postgres_account()
        self._given_binaries = binaries

    def start(self) -> Server:
        """Start the server, or adopt the running one, and wait until it accepts connections."""
        make_folder(self.folder)
        with exclusive(LockClass.SERVER_FOLDER, self.folder / "lock"):
            self._initialise_once()
            sockets = socket_folder(self.folder, self._home, self._account)
            server = Server(sockets, self._running_port(sockets), self._owner_password())
            _create_database(server)
            return server

    def stop(self) -> None:
        """Stop the server and end all sessions; committed data is kept."""
        if not self.is_running():
            return
        for mode in ("fast", "immediate"):
            argv = ("stop", "-m", mode, "-t", f"{STOP_SECONDS:.0f}")
            if self._pg_ctl(*argv).returncode == 0 or not self.is_running():
                return
        raise EmbeddedPostgresError(f"the server on {self._data} does not stop")

    def stop_older(self) -> None:
        """Stop a server that an older version of Labledger started: it listens on a TCP port."""
        running = self._postmaster() if self.folder.is_dir() else None
        if running is not None and running.is_ready and not running.sockets:
            self.stop()

    def is_running(self) -> bool:
        return self.folder.is_dir() and self._postmaster() is not None

    def remove(self) -> None:
        if self.folder.is_dir():
            self.stop()
            delete_short_folder(self.folder)
            shutil.rmtree(self._home)
            shutil.rmtree(self.folder)

    def rotate_log(self) -> None:
        self._log.rotate()

    @property
    def pid(self) -> int | None:
        running = self._postmaster()
        return running.pid if running else None

    @property
    def _home(self) -> Path:
        return home_of(self.folder, self._account)

    @property
    def _data(self) -> Path:
        return self._home / "data"

    @property
    def _log(self) -> ServerLog:
        return ServerLog(self._home / "postgresql.log")

    @property
    def _binaries(self) -> Binaries:
        if self._given_binaries is None:
            self._given_binaries = packaged_binaries(self._account)
        return self._given_binaries

    def _owner_password(self) -> str:
        return secret(self.folder / "owner.password")

    def _postmaster(self) -> Postmaster | None:
        return running_postmaster(self._data)

    def _initialise_once(self) -> None:
        if not self._data.exists():
            durable = self._settings["fsync"] == "on"
            initialise(
                self._data, self._binaries, self._account, OWNER, self._owner_password(), durable=durable
            )

    def _running_port(self, sockets: Path) -> int:
        """Start the server if it is not running, and return its port once it accepts connections."""
        deadline = time.monotonic() + START_SECONDS
        failure = "the server does not accept connections"
        while time.monotonic() < deadline:
            running = self._postmaster()
            if running is None:
                failure = self._launch(sockets)
            elif running.is_ready:
                if running.sockets != str(sockets):
                    raise EmbeddedPostgresError(
                        "a server of an older version is running: stop its `up` first"
                    )
                return running.port
            time.sleep(0.05)
        raise EmbeddedPostgresError(f"PostgreSQL did not start within {START_SECONDS:.0f} s: {failure}")

    def _launch(self, sockets: Path) -> str:
        """Try to start the server. Return the message of a transient failure, and raise any other failure."""
        # No server is running, so these files name a dead process, or an unrelated one with the same pid.
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        delete_sockets(sockets)
        log = self._log
        log.rotate()
        log_size = log.size()
        settings = {**self._settings, "unix_socket_directories": setting_for(sockets)}
        options = shlex.join(f"--{name}={value}" for name, value in settings.items())
        result = self._pg_ctl("start", "-l", log.path, "-o", options, "-t", f"{START_SECONDS:.0f}")
        if result.returncode == 0:
            return ""
        message = log.since(log_size) or result.stderr.strip() or result.stdout.strip()
        if _TRANSIENT_FAILURE in message:
            return message
        raise EmbeddedPostgresError(f"PostgreSQL did not start: {message}")

    def _pg_ctl(self, action: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        argv = [self._binaries.program("pg_ctl"), action, "-D", self._data, "-w", *arguments]
        return self._account.run(argv, timeout_seconds=START_SECONDS + STOP_SECONDS)


def _create_database(server: Server) -> None:
    url = server.url(OWNER, server.owner_password, "postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        existing = connection.execute("SELECT FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone()
        if existing is None:
            connection.execute(f'CREATE DATABASE "{DATABASE}"')
