"""Tokens, and the first one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.passwords import set_password
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.tokens import create_token, digest_of, make_first_token, revoke_token
from domain.directory.events import TokenRevoked, UserRegistered, UserRemoved
from domain.directory.state import Directory
from domain.errors import FaultyInput, NotPermitted, Refused, Unknown
from store.event_log import EventLog
from tests.in_process.environment import BEGINNING, Environment, Instance
from tests.use_cases.town import LAB, OTHER_LAB, Town, as_admin, by


def opens(town: Town, token: str | None, now: datetime | None = None) -> bool:
    """Return whether the directory accepts the token."""
    assert token is not None
    services = town.services()
    return services.feed.directory.token(digest_of(token), now or services.clock()) is not None


def test_create__own_token__opens_until_it_expires(town: Town) -> None:
    end = town.services().clock() + timedelta(hours=1)
    token, token_id, position = town.ask(create_token, by("bob"), "bob", "submitter", None, end)
    assert opens(town, token)
    assert not opens(town, token, end)
    assert position == town.log.end()
    document = town.document_of("token", token_id)
    assert datetime.fromisoformat(document.pop("expires_at")) == end
    assert document == {"user": "bob", "role": "submitter", "lab_controller": None}


def test_create__for_another_user_or_of_a_missing_role__refused(town: Town) -> None:
    before = town.log.end()
    with pytest.raises(NotPermitted):
        town.ask(create_token, by("bob"), "eve", "submitter", None)
    for role, lab in (("auditor", None), ("admin", None), ("lab-controller", LAB)):
        with pytest.raises(FaultyInput) as refused:
            town.ask(create_token, by("bob"), "bob", role, lab)
        assert [fault.where for fault in refused.value.faults] == ["role"]
    assert town.log.end() == before


def test_create__by_an_admin_for_a_missing_role__adds_the_role(town: Town) -> None:
    before = town.log.end()
    token, token_id, _ = town.ask(create_token, as_admin(), "bob", "auditor", None)
    assert town.since(before) == [("user/bob", "user.changed"), (f"token/{token_id}", "token.created")]
    assert town.document_of("user", "bob")["roles"] == ["submitter", "auditor"]
    assert opens(town, token)


def test_create__same_key_again__same_id_and_no_token(town: Town) -> None:
    request = as_admin(command_id="key/1", digest=b"same")
    token, token_id, position = town.ask(create_token, request, "bob", "submitter", None)
    assert token is not None
    assert town.ask(create_token, request, "bob", "submitter", None, process=1) == (None, token_id, position)
    with pytest.raises(FaultyInput, match="another request"):
        town.ask(create_token, as_admin(command_id="key/1", digest=b"other"), "eve", "submitter", None)


def test_create__same_key_at_once__one_token(town: Town) -> None:
    request = as_admin(command_id="key/2", digest=b"same")
    made: list[tuple[str | None, str, int]] = []
    between = town.scene.apis[1].appended.preceded(
        lambda: made.append(town.ask(create_token, request, "bob", "submitter", None))
    )
    with between:
        second = town.ask(create_token, request, "bob", "submitter", None, process=1)
    ((first, token_id, position),) = made
    assert first is not None
    assert second == (None, token_id, position)


def test_create__user_removed_in_the_same_moment__refused(town: Town) -> None:
    def goes() -> None:
        town.ask(remove_document, as_admin(), "user", "eve")

    with town.scene.apis[1].appended.preceded(goes), pytest.raises(FaultyInput, match='no user "eve"'):
        town.ask(create_token, by("eve"), "eve", "submitter", None, process=1)


def test_revoke__own_token__opens_nothing_and_again_changes_nothing(town: Town) -> None:
    token, token_id, _ = town.ask(create_token, by("bob"), "bob", "submitter", None)
    assert town.ask(revoke_token, by("bob"), token_id) is not None
    assert not opens(town, token, datetime(2026, 1, 1, tzinfo=UTC))
    assert town.ask(revoke_token, by("bob"), token_id) is None
    # A user without permission gets the same answer for valid and revoked tokens.
    with pytest.raises(NotPermitted):
        town.ask(revoke_token, by("eve"), token_id)


def test_revoke__made_through_another_process_a_moment_ago__is_found(town: Town) -> None:
    _, token_id, _ = town.ask(create_token, by("bob"), "bob", "submitter", None)
    assert town.ask(revoke_token, by("bob"), token_id, process=1) is not None


def test_token__of_a_lab_controller_removed_in_the_same_moment__invalid_for_the_next_one(town: Town) -> None:
    for fqdn in ("a", "b"):
        there = NewSystemValues(lab_controller=OTHER_LAB)
        town.ask(change_system, as_admin(), fqdn, there, lambda _: None)
    made: list[str | None] = []

    def is_made() -> None:
        made.append(town.ask(create_token, as_admin(), "root", "lab-controller", LAB)[0])

    with town.scene.apis[1].appended.preceded(is_made):
        town.ask(remove_document, as_admin(), "lab-controller", LAB, process=1)
    assert town.ask(put_document, as_admin(), "lab-controller", LAB, {"enabled": True}) is not None
    assert not opens(town, made[0])


def test_revoke__anothers_token__is_for_admins(town: Town) -> None:
    _, token_id, _ = town.ask(create_token, by("bob"), "bob", "submitter", None)
    with pytest.raises(NotPermitted):
        town.ask(revoke_token, by("eve"), token_id)
    assert town.ask(revoke_token, as_admin(), token_id, process=1) is not None


def test_create__by_a_token_that_expires__lasts_no_longer(town: Town) -> None:
    now = town.services().clock()
    end = now + timedelta(hours=1)
    _, asking, _ = town.ask(create_token, by("bob"), "bob", "submitter", None, end)
    for wanted in (None, end + timedelta(seconds=1)):
        with pytest.raises(FaultyInput) as refused:
            town.ask(create_token, by("bob", token_id=asking), "bob", "submitter", None, wanted)
        assert [fault.where for fault in refused.value.faults] == ["expires_at"]
    assert town.ask(create_token, by("bob", token_id=asking), "bob", "submitter", None, end)


def test_revoke__token_given_by_an_admin__only_by_admins_and_by_itself(town: Town) -> None:
    for role, lab in (("admin", None), ("lab-controller", LAB)):
        _, token_id, _ = town.ask(create_token, as_admin(), "bob", role, lab)
        for lesser in (by("bob"), by("bob", token_id="another")):
            with pytest.raises(NotPermitted, match="only an admin, or the token itself"):
                town.ask(revoke_token, lesser, token_id)
        assert town.ask(revoke_token, by("bob", token_id=token_id), token_id) is not None


def test_revoke__unknown_or_the_last_admins__refused(town: Town) -> None:
    with pytest.raises(Unknown):
        town.ask(revoke_token, as_admin(), "nobody")
    with pytest.raises(Refused, match="no admin who can log in would be left"):
        town.ask(revoke_token, as_admin(), "root")


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
