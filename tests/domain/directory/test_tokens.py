"""Which tokens open something, who may make which, and that an admin is always left."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from domain.directory import events as directory_events
from domain.directory.admins import require_admin_left
from domain.directory.state import FOLDED_EVENTS, Directory
from domain.directory.tokens import TokenRequest, faults_of, revoke, role_given
from domain.errors import Refused
from domain.events import from_data, shown_of
from tests.domain.directory.documents import NOW, hear, tell, told

SOON = NOW + timedelta(hours=1)
OLD_USER = from_data("user.registered", 1, {})


def token(
    directory: Directory, token_id: str, user: str, role: str, expires_at: str | None = None
) -> directory_events.TokenCreated:
    made = directory_events.TokenCreated(user, role, None, f"digest-{token_id}", expires_at)
    hear(directory, f"token/{token_id}", made)
    return made


@pytest.fixture
def directory() -> Directory:
    """Ada is an admin; bob submits and audits, and has a token of each."""
    made = told(
        ("user/ada", {"roles": ["admin"]}),
        ("user/bob", {"roles": ["submitter", "auditor"]}),
        ("lab-controller/lab-1", {"enabled": True}),
    )
    token(made, "a1", "ada", "admin")
    token(made, "b1", "bob", "submitter")
    token(made, "b2", "bob", "auditor")
    return made


# Which count


def test_token__expires__counts_until_that_moment_and_not_at_it(directory: Directory) -> None:
    token(directory, "b3", "bob", "submitter", "2024-01-01T01:00:00Z")
    assert directory.token("digest-b3", SOON - timedelta(microseconds=1)) is not None
    assert directory.token("digest-b3", SOON) is None


def test_token__role_taken_away_and_given_back__follows(directory: Directory) -> None:
    tell(directory, "user/bob", {"roles": ["submitter"]})
    assert directory.token("digest-b2", NOW) is None
    assert directory.token("digest-b1", NOW) is not None
    tell(directory, "user/bob", {"roles": ["auditor"]})
    assert directory.token("digest-b2", NOW) is not None


def test_token__user_removed_and_another_has_the_name__counts_no_more(directory: Directory) -> None:
    hear(directory, "token/b1", directory_events.TokenRevoked(), 2)
    hear(directory, "user/bob", directory_events.UserRemoved(), 2)
    assert directory.token("digest-b2", NOW) is None
    hear(directory, "user/bob", directory_events.UserRegistered(), 3)
    assert directory.token("digest-b1", NOW) is None


def test_token__made_while_its_user_is_removed__never_counts_again(directory: Directory) -> None:
    # No event revokes it: the removal was decided before it was there.
    token(directory, "b3", "bob", "submitter")
    hear(directory, "user/bob", directory_events.UserRemoved(), 2)
    hear(directory, "user/bob", directory_events.UserRegistered(), 3)
    assert directory.token("digest-b3", NOW) is None
    assert not directory.counts("b3", NOW)
    assert list(directory.tokens_of("bob")) == []
    token(directory, "b5", "bob", "submitter")
    assert directory.token("digest-b5", NOW) is not None
    assert directory.token("digest-a1", NOW) is not None


def test_token__of_a_lab_controller_that_is_removed__never_counts_again(directory: Directory) -> None:
    def made(token_id: str) -> None:
        event = directory_events.TokenCreated("ada", "lab-controller", "lab-1", f"digest-{token_id}")
        hear(directory, f"token/{token_id}", event)

    tell(directory, "user/ada", {"roles": ["admin", "lab-controller"]})
    made("l1")
    assert directory.token("digest-l1", NOW) is not None
    # No event revokes it: it was made while its lab controller was being removed.
    hear(directory, "lab-controller/lab-1", directory_events.LabControllerRemoved(), 2)
    assert directory.token("digest-l1", NOW) is None
    hear(directory, "lab-controller/lab-1", directory_events.LabControllerRegistered(True), 3)
    assert directory.token("digest-l1", NOW) is None
    assert not directory.counts("l1", NOW)
    made("l2")
    assert directory.token("digest-l2", NOW) is not None
    assert directory.token("digest-a1", NOW) is not None


def test_tokens__one_login_after_the_other__those_that_are_over_are_forgotten(directory: Directory) -> None:
    at = NOW
    for number in range(100):
        at = NOW + timedelta(hours=number)
        end = (at + timedelta(hours=12)).isoformat()
        event = directory_events.TokenCreated("bob", "submitter", None, f"digest-n{number}", end)
        hear(directory, f"token/n{number}", event, at=at)
    kept = [token_id for token_id, _ in directory.items("token")]
    assert kept == ["a1", "b1", "b2", *(f"n{number}" for number in range(88, 100))]
    assert [token_id for token_id, _ in directory.tokens_of("bob")] == kept[1:]
    assert directory.token("digest-n88", at) is not None
    assert directory.token("digest-n87", at) is None
    assert len(directory.plain()["access"]["held"]) == len(kept)


def test_token__revoked_although_it_was_over__leaves_nothing(directory: Directory) -> None:
    token(directory, "b3", "bob", "submitter", "2024-01-01T01:00:00Z")
    later = directory_events.TokenCreated("bob", "submitter", None, "digest-b4", None)
    hear(directory, "token/b4", later, at=SOON)
    hear(directory, "token/b3", directory_events.TokenRevoked(), 2, at=SOON)
    assert directory.get("token", "b3") is None
    assert "b3" not in dict(directory.items("token"))


def test_token__document__is_without_its_digest(directory: Directory) -> None:
    found = directory.token("digest-b1", NOW)
    assert found is not None
    assert found[1] == {"user": "bob", "role": "submitter", "lab_controller": None, "expires_at": None}
    assert "digest" not in shown_of(directory_events.TokenCreated("bob", "submitter", None, "ab12"))


def test_directory__put_aside_and_restored__knows_the_same(directory: Directory) -> None:
    hear(directory, "user/bob", directory_events.UserPasswordSet("p1"), 2)
    hear(directory, "lab-controller/lab-1", directory_events.LabControllerRemoved(), 2)
    token(directory, "b3", "bob", "submitter", "2024-01-01T01:00:00Z")
    restored = Directory()
    restored.restore(directory.plain())
    assert restored.plain() == directory.plain()
    assert restored.token("digest-b1", NOW) == directory.token("digest-b1", NOW)
    assert restored.credentials.password_of("bob") == "p1"
    assert restored.get("lab-controller", "lab-1") is None
    assert restored.version("lab-controller/lab-1") == 2
    for one in (directory, restored):
        hear(one, "token/b4", directory_events.TokenCreated("bob", "submitter", None, "digest-b4"), at=SOON)
    assert restored.plain() == directory.plain()
    assert restored.get("token", "b3") is None


# Users from before users had roles


def test_roles_of__registered_before_there_were_roles__are_those_of_the_tokens() -> None:
    directory = Directory()
    hear(directory, "user/eve", OLD_USER)
    assert directory.roles_of("eve") == ("submitter",)
    old = from_data(
        "token.created", 1, {"user": "eve", "role": "admin", "lab_controller": None, "digest": "d"}
    )
    hear(directory, "token/e1", old)
    assert directory.roles_of("eve") == ("admin",)
    assert directory.token("d", NOW) is not None
    # Repeating the name takes nothing away; naming roles does.
    assert tell(directory, "user/eve", {}) is None
    tell(directory, "user/eve", {"roles": ["submitter"]})
    assert directory.token("d", NOW) is None


def test_role_given__to_who_has_roles_by_tokens__keeps_those(directory: Directory) -> None:
    hear(directory, "user/eve", OLD_USER)
    token(directory, "e1", "eve", "auditor")
    assert role_given(directory, TokenRequest("eve", "auditor")) == []
    ((subject, event),) = role_given(directory, TokenRequest("eve", "submitter"))
    assert (subject, event) == ("user/eve", directory_events.UserChanged(["auditor", "submitter"], None))


# Who may make which

FAULTS: list[tuple[Mapping[str, Any], bool, list[str]]] = [
    ({"user": "bob", "role": "submitter"}, False, []),
    ({"user": "bob", "role": "auditor", "expires_at": SOON}, False, []),
    # Not a role of bob's; ones that only admins give, even if he had them.
    ({"user": "bob", "role": "metrics"}, False, ["role"]),
    ({"user": "ada", "role": "admin"}, False, ["role"]),
    ({"user": "bob", "role": "lab-controller", "lab_controller": "lab-1"}, False, ["role"]),
    ({"user": "bob", "role": "admin"}, True, []),
    ({"user": "bob", "role": "lab-controller", "lab_controller": "lab-1"}, True, []),
    ({"user": "bob", "role": "lab-controller"}, True, ["lab_controller"]),
    ({"user": "bob", "role": "lab-controller", "lab_controller": "lab-2"}, True, ["lab_controller"]),
    ({"user": "bob", "role": "submitter", "lab_controller": "lab-1"}, True, ["lab_controller"]),
    # All of it at once.
    (
        {"user": "eve", "role": "king", "lab_controller": "lab-1", "expires_at": NOW},
        True,
        ["user", "role", "lab_controller", "expires_at"],
    ),
]


@pytest.mark.parametrize(("wanted", "is_admin", "places"), FAULTS)
def test_faults_of__what_is_asked_for__are_all_told(
    directory: Directory, wanted: Mapping[str, Any], is_admin: bool, places: list[str]
) -> None:
    faults = faults_of(directory, TokenRequest(**wanted), NOW, is_admin=is_admin)
    assert [fault.where for fault in faults] == places


ENDS: list[tuple[str, timedelta | None, list[str]]] = [
    ("b3", timedelta(hours=1), []),
    ("b3", timedelta(hours=1, seconds=1), ["expires_at"]),
    ("b3", None, ["expires_at"]),
    ("b3", timedelta(0), ["expires_at"]),
    ("b1", None, []),
    # Over, and gone, since it was let in.
    ("gone", timedelta(hours=1), ["expires_at"]),
]


@pytest.mark.parametrize(("asking", "lasting", "places"), ENDS)
def test_faults_of__token_that_expires_asks__none_lasts_longer_but_for_admins(
    directory: Directory, asking: str, lasting: timedelta | None, places: list[str]
) -> None:
    token(directory, "b3", "bob", "submitter", "2024-01-01T01:00:00Z")
    wanted = TokenRequest("bob", "submitter", expires_at=None if lasting is None else NOW + lasting)
    faults = faults_of(directory, wanted, NOW, is_admin=False, asking=asking)
    assert [fault.where for fault in faults] == places
    if lasting != timedelta(0):
        assert faults_of(directory, wanted, NOW, is_admin=True, asking=asking) == []


# Somebody is left


def test_revoke__once_and_again__second_changes_nothing(directory: Directory) -> None:
    ((subject, event),), rests_on = revoke(directory, "b1")
    assert rests_on == ()
    assert (subject, event) == ("token/b1", directory_events.TokenRevoked())
    hear(directory, subject, event, 2)
    assert revoke(directory, "b1") == ([], ())
    assert "b1" not in dict(directory.items("token"))


def test_revoke__last_token_of_the_last_admin__refused(directory: Directory) -> None:
    with pytest.raises(Refused):
        revoke(directory, "a1")
    # One that expires is nothing to rely on; one that lasts is, and so is a password.
    token(directory, "a2", "ada", "admin", "2030-01-01T00:00:00Z")
    with pytest.raises(Refused):
        revoke(directory, "a1")
    hear(directory, "user/ada", directory_events.UserPasswordSet("p1"), 2)
    assert revoke(directory, "a1") == ([("token/a1", directory_events.TokenRevoked())], ("user/ada",))


def test_require_admin_left__another_admin_without_a_token__refused(directory: Directory) -> None:
    tell(directory, "user/bob", {"roles": ["admin"]})
    with pytest.raises(Refused):
        require_admin_left(directory, without_user="ada")
    token(directory, "b3", "bob", "admin")
    assert require_admin_left(directory, without_user="ada") == ("user/bob", "token/b3")


def test_topics__of_users_and_tokens__move_the_directory() -> None:
    wanted = {"user.changed", "user.password-set", "user.removed", "token.revoked", "group.removed"}
    assert wanted <= {event.TOPIC for event in FOLDED_EVENTS}
