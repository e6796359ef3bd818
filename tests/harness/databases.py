"""Fresh databases: cheap copies of a template that is migrated once per server."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from api import database_setup
from runtime.embedded.database import create_login
from runtime.settings import Settings
from tests.harness.locks.installing import is_recording, recorder
from tests.harness.locks.observer import Observer

# Unlike any login of a real installation: a server given by URL may have one.
LOGIN = "labledger_test"
LOGIN_PASSWORD = "only-for-tests"
TOPICS_OF_TESTS = ("test.happened", "test.renamed")


@dataclass(frozen=True)
class TestDatabase:
    """A migrated, empty database. The services' login may only `SET ROLE labledger_service`."""

    __test__ = False

    owner_url: str
    service_url: str

    @property
    def name(self) -> str:
        return urlsplit(self.owner_url).path.lstrip("/")

    @property
    def settings(self) -> Settings:
        return Settings.read({}, database_url=self.service_url, owner_database_url=self.owner_url)


class Databases:
    """The databases of one server; their names contain the process ID, so that two test runs can share it."""

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self._session = psycopg.connect(server_url, autocommit=True)
        self._numbers = itertools.count(1)
        self._template = f"labledger_test_{os.getpid()}_template"
        self._execute("CREATE DATABASE {}", self._template)
        database_setup.migrate(Settings.read({}, database_url=_with_database(server_url, self._template)))
        register_topics_of_tests(_with_database(server_url, self._template))
        create_login(server_url, LOGIN, LOGIN_PASSWORD)
        template_url = _with_database(server_url, self._template)
        self._observer = Observer(server_url, template_url, recorder()) if is_recording() else None

    @contextmanager
    def fresh(self, like: TestDatabase | None = None) -> Iterator[TestDatabase]:
        """Yield an empty database, or a copy of another one that has no sessions."""
        name = f"labledger_test_{os.getpid()}_{next(self._numbers)}"
        template = self._template if like is None else like.name
        self._execute("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template)
        url = _with_database(self._server_url, name)
        try:
            yield TestDatabase(url, _with_login(url))
        finally:
            self._execute("DROP DATABASE {} WITH (FORCE)", name)

    def close(self) -> None:
        if self._observer is not None:
            self._observer.close()
        self._execute("DROP DATABASE {} WITH (FORCE)", self._template)
        self._session.close()

    def _execute(self, statement: str, *names: str) -> None:
        self._session.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))  # type: ignore[arg-type]


def register_topics_of_tests(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for topic in TOPICS_OF_TESTS:
            connection.execute("INSERT INTO log.topics VALUES (%s) ON CONFLICT DO NOTHING", (topic,))


def _with_database(url: str, name: str) -> str:
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def _with_login(url: str) -> str:
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{LOGIN}:{LOGIN_PASSWORD}@{place}").geturl()
