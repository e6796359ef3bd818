"""Connections to PostgreSQL, and the setup of each session of the service."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from eventsourcing.persistence import InternalError, OperationalError
from eventsourcing.postgres import ConnectionPool, PostgresDatastore
from psycopg import Connection, Error, conninfo
from psycopg.rows import DictRow, dict_row

from postgres.errors import DATABASE_ERRORS, DatabaseAway

SERVICE_ROLE = "labledger_service"

# Notice a dead peer within seconds, because its lease and its locks outlive it.
KEEPALIVE = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


def connect(url: str, **options: Any) -> Connection[Any]:
    """Open a session in autocommit mode, under the service role."""
    connection = Connection.connect(with_keepalive(url), autocommit=True, **options)
    set_up(connection)
    return connection


def probe(url: str) -> None:
    """Raise DatabaseAway with the cause if no connection can be made. The errors of a pool omit the cause."""
    try:
        connect(url).close()
    except Error as error:
        raise DatabaseAway(str(error).strip()) from error


def with_keepalive(url: str) -> str:
    """Return the URL with the parameters of `KEEPALIVE` that it does not set itself."""
    given = conninfo.conninfo_to_dict(url)
    return conninfo.make_conninfo(url, **{key: value for key, value in KEEPALIVE.items() if key not in given})


def set_up(connection: Connection[Any]) -> None:
    connection.autocommit = True
    # The service role limits even the rights of an owner.
    connection.execute(f"SET ROLE {SERVICE_ROLE}".encode())
    # JIT compilation takes longer than the small queries.
    connection.execute(b"SET jit = off")
    connection.execute(b"SET timezone = 'UTC'")
    # A process that hangs within a transaction must not keep its locks.
    connection.execute(b"SET idle_in_transaction_session_timeout = '10s'")
    # An append must not wait for ever for a lock.
    connection.execute(b"SET lock_timeout = '10s'")


class Datastore(PostgresDatastore):
    """The datastore of the library, opened by URL instead of by single parameters."""

    def __init__(self, url: str, pool_size: int = 2) -> None:
        super().__init__(
            dbname="",
            host="",
            port="",
            user="",
            password="",
            schema="log",
            originator_id_type="text",
            pool_size=pool_size,
        )
        self.url = url
        self.pool = ConnectionPool(
            with_keepalive(url),
            kwargs={"row_factory": dict_row},
            min_size=1,
            max_size=pool_size,
            open=False,
            configure=self.after_connect_func(),
            timeout=2.0,
            # The pool would wait longer after each attempt, and its callers with it.
            reconnect_timeout=1.0,
        )

    def register_type_adapters(self) -> None:
        """Do nothing: the adapters are unused, and their registration would need the database at startup."""

    def after_connect_func(self) -> Callable[[Connection[Any]], None]:
        return set_up

    @contextmanager
    def get_connection(self) -> Iterator[Connection[DictRow]]:
        try:
            with super().get_connection() as connection:
                yield connection
        except InternalError as error:
            # Some of `DATABASE_ERRORS` are internal errors in psycopg, and so in the library.
            if not isinstance(error.__cause__, DATABASE_ERRORS):
                raise
            raise OperationalError(str(error)) from error.__cause__
