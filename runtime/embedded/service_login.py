"""The login of the services on the embedded server. Its only right is to become `labledger_service`."""

from __future__ import annotations

from pathlib import Path

import psycopg
from psycopg import sql

from runtime.embedded.cluster import Server
from runtime.embedded.home import secret

LOGIN = "labledger_api"
SERVICE_ROLE = "labledger_service"


def service_url(server: Server, folder: Path) -> str:
    """Return the database URL of the services. Call `migrate` first: it creates their role.

    The password is in a file of the cluster's folder. Each call sets it on the server, so that both agree.
    """
    password = secret(folder / "service.password")
    create_login(server.owner_url, LOGIN, password)
    return server.url(LOGIN, password)


def create_login(owner_url: str, login: str, password: str) -> None:
    """Create a login with the password, or set its password.

    With NOINHERIT, a session has no rights without `SET ROLE labledger_service`.
    """
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
