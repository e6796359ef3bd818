"""The first admin of a log: a token that is kept before it counts, and only one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.store.event_log import EventLog
from api.use_cases.first_token import make_first_token
from api.use_cases.tokens import digest_of
from domain.directory.events import UserRegistered
from domain.directory.state import Directory
from tests.inside.bench import BEGINNING, Bench, Scene


@pytest.fixture
def scene(bench: Bench) -> Iterator[Scene]:
    with bench.scene() as scene:
        yield scene


def directory_of(log: EventLog) -> Directory:
    directory = Directory()
    for recorded in log.directory(log.end()):
        directory.apply(recorded)
    return directory


def test_first_token__new_log__opens_as_admin_and_is_made_once(scene: Scene) -> None:
    kept: list[str] = []
    token = make_first_token(scene.log, BEGINNING, kept.append)
    assert token is not None and kept == [token]
    found = directory_of(scene.log).token(digest_of(token), BEGINNING)
    assert found is not None and (found[1]["user"], found[1]["role"]) == ("admin", "admin")
    assert make_first_token(scene.log, BEGINNING, kept.append) is None
    assert kept == [token]


def test_first_token__somebody_is_called_admin_already__gets_the_role_with_it(scene: Scene) -> None:
    scene.put([("user/admin", UserRegistered(roles=["submitter"], email="a@example.com"))])
    token = make_first_token(scene.log, BEGINNING, lambda _: None)
    assert token is not None
    directory = directory_of(scene.log)
    assert directory.token(digest_of(token), BEGINNING) is not None
    assert directory.roles_of("admin") == ("submitter", "admin")
