"""The first admin token of a log: it is stored before it is valid, and there is only one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from api.use_cases.first_token import make_first_token
from api.use_cases.passwords import set_password
from api.use_cases.tokens import create_token, digest_of
from domain.directory.events import TokenRevoked, UserRegistered, UserRemoved
from domain.directory.state import Directory
from store.event_log import EventLog
from tests.in_process.environment import BEGINNING, Environment, Instance
from tests.use_cases.town import Town, as_admin


@pytest.fixture
def scene(environment: Environment) -> Iterator[Instance]:
    with environment.scene() as scene:
        yield scene


def directory_of(log: EventLog) -> Directory:
    directory = Directory()
    for recorded in log.directory(log.end()):
        directory.apply(recorded)
    return directory


def test_first_token__new_log__opens_as_admin_and_is_made_once(scene: Instance) -> None:
    kept: list[str] = []
    token = make_first_token(scene.log, BEGINNING, kept.append)
    assert token is not None and kept == [token]
    found = directory_of(scene.log).token(digest_of(token), BEGINNING)
    assert found is not None and (found[1]["user"], found[1]["role"]) == ("admin", "admin")
    assert make_first_token(scene.log, BEGINNING, kept.append) is None
    assert kept == [token]


def test_first_token__user_admin_exists__gets_the_role(scene: Instance) -> None:
    scene.put([("user/admin", UserRegistered(roles=["submitter"], email="a@example.com"))])
    token = make_first_token(scene.log, BEGINNING, lambda _: None)
    assert token is not None
    directory = directory_of(scene.log)
    assert directory.token(digest_of(token), BEGINNING) is not None
    assert directory.roles_of("admin") == ("submitter", "admin")


def test_first_token__no_admin_can_log_in__is_created_anew_and_valid(town: Town) -> None:
    now = town.services().clock()
    assert make_first_token(town.log, now, lambda _: None) is None
    # Older logs may have lost all admins: two could remove each other.
    town.happens("token/root", TokenRevoked())
    for _ in range(2):
        token = make_first_token(town.log, now, lambda _: None)
        assert token is not None
        assert make_first_token(town.log, now, lambda _: None) is None
        town.scene.api.catch_up()
        found = town.services().feed.directory.token(digest_of(token), now)
        assert found is not None and found[1]["role"] == "admin"
        town.happens(f"token/{found[0]}", TokenRevoked())
    assert found[0] == "admin-2"


def test_first_token__admin_has_a_password_or_an_expiring_token__none_until_it_expires(town: Town) -> None:
    now = town.services().clock()
    town.ask(create_token, as_admin(), "ada", "admin", None, now + timedelta(hours=1))
    town.happens("token/root", TokenRevoked())
    assert make_first_token(town.log, now, lambda _: None) is None
    town.ask(set_password, as_admin(), "ada", "correct horse")
    assert make_first_token(town.log, now + timedelta(hours=2), lambda _: None) is None
    town.happens("user/ada", UserRemoved())
    assert make_first_token(town.log, now + timedelta(hours=2), lambda _: None) is not None
