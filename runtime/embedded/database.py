"""The database of a data folder: its URLs, the login of the services, and the supervision of its server."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psycopg
from psycopg import sql

from domain.errors import LabledgerError
from runtime.embedded.account import EmbeddedPostgresError
from runtime.embedded.cluster import Cluster, Server
from runtime.embedded.home import secret
from runtime.settings import Settings, variable

log = logging.getLogger(__name__)

CHECK_SECONDS = 0.2
LOGIN = "labledger_api"
SERVICE_ROLE = "labledger_service"


class EmbeddedDatabase:
    def __init__(self, data: Path) -> None:
        self._cluster = Cluster(data / "postgresql")
        self._server: Server | None = None
        self._last_check = 0.0

    def start(self, settings: Settings) -> Settings:
        """Start the server; return the settings with the owner's URL, for `migrate` only."""
        self._cluster.stop_older()
        self._server = self._cluster.start()
        url = self._server.owner_url
        return replace(settings, database_url=url, owner_database_url=url)

    def for_services(self, settings: Settings) -> Settings:
        """Return the settings with the login of the services. Call `migrate` first: it creates their role."""
        return replace(settings, database_url=service_url(self._running, self._cluster.folder))

    def keep_running(self) -> None:
        """Restart the server if it died. A failed restart is logged and retried at the next check."""
        if time.monotonic() - self._last_check < CHECK_SECONDS:
            return
        if self._cluster.is_running():
            self._cluster.rotate_log()
        else:
            log.warning("PostgreSQL died; restarting it")
            self._restart()
        self._last_check = time.monotonic()

    def stop(self) -> None:
        self._cluster.stop()

    def remove(self) -> None:
        """Stop the server, and delete all its files, also those outside the data folder."""
        self._cluster.remove()

    def _restart(self) -> None:
        try:
            server = self._cluster.start()
        except (EmbeddedPostgresError, psycopg.OperationalError, OSError) as error:
            # OSError: on a full disk the small files beside the data cannot be written.
            log.error("PostgreSQL: %s", error)
            return
        if server != self._running:
            raise EmbeddedPostgresError(
                f"another user took the folder of the socket, {self._running.sockets}: restart `labledger up`"
            )

    @property
    def _running(self) -> Server:
        if self._server is None:
            raise EmbeddedPostgresError("the server was not started")
        return self._server


def database_url(settings: Settings) -> str:
    """Return the owner's URL, from the settings or else of a running `labledger up`. Raises NotRunning."""
    if settings.migration_url is not None:
        return settings.migration_url
    cluster = Cluster(settings.data / "postgresql")
    if not cluster.is_running():
        raise NotRunning(
            f"no `labledger up` runs on {settings.data}, and neither {variable('owner_database_url')} nor"
            f" {variable('database_url')} names another database"
        )
    return cluster.start().owner_url


def without_libpq(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without libpq's variables (`PG…`): a URL does not override all of them."""
    return {name: value for name, value in environ.items() if not _is_libpq(name)}


def remove_libpq_variables() -> None:
    """Remove libpq's variables from the environment of this process."""
    for name in [name for name in os.environ if _is_libpq(name)]:
        del os.environ[name]


def _is_libpq(name: str) -> bool:
    return name.startswith("PG") and name[2:].isalnum()


class NotRunning(LabledgerError):
    """No database found."""


def service_url(server: Server, folder: Path) -> str:
    """Return the database URL of the services. Call `migrate` first: it creates their role.

    The password is in a file of the cluster's folder. Each call sets it on the server, so that both agree.
    """
    password = secret(folder / "service.password")
    create_login(server.owner_url, LOGIN, password)
    return server.url(LOGIN, password)


def create_login(owner_url: str, login: str, password: str) -> None:
    """Create a login with the password, or set it. NOINHERIT: no rights without `SET ROLE`."""
    name, role = sql.Identifier(login), sql.Identifier(SERVICE_ROLE)
    with psycopg.connect(owner_url, autocommit=True) as connection:
        database = sql.Identifier(connection.info.dbname)
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", (login,)).fetchone() is None:
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN NOINHERIT").format(name))
        verifier = connection.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256")
        statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(name, sql.Literal(verifier.decode()))
        connection.execute(statement)
        connection.execute(sql.SQL("GRANT {} TO {}").format(role, name))
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, name))
