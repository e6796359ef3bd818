"""Validity, creation and revocation of tokens, and the rule that an admin remains."""

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
from tests.domain.directory.documents import NOW, apply, directory_with, put_document

SOON = NOW + timedelta(hours=1)
OLD_USER = from_data("user.registered", 1, {})


def token(
    directory: Directory, token_id: str, user: str, role: str, expires_at: str | None = None
) -> directory_events.TokenCreated:
    made = directory_events.TokenCreated(user, role, None, f"digest-{token_id}", expires_at)
    apply(directory, f"token/{token_id}", made)
    return made


@pytest.fixture
def directory() -> Directory:
    """Ada is an admin; bob is submitter and auditor, and has a token of each role."""
    made = directory_with(
        ("user/ada", {"roles": ["admin"]}),
        ("user/bob", {"roles": ["submitter", "auditor"]}),
        ("lab-controller/lab-1", {"enabled": True}),
    )
    token(made, "a1", "ada", "admin")
    token(made, "b1", "bob", "submitter")
    token(made, "b2", "bob", "auditor")
    return made


# Validity


def test_token__expires__valid_before_that_moment_only(directory: Directory) -> None:
    token(directory, "b3", "bob", "submitter", "2024-01-01T01:00:00Z")
    assert directory.token("digest-b3", SOON - timedelta(microseconds=1)) is not None
    assert directory.token("digest-b3", SOON) is None


def test_token__role_of_user_removed_and_returned__invalid_meanwhile(directory: Directory) -> None:
    put_document(directory, "user/bob", {"roles": ["submitter"]})
    assert directory.token("digest-b2", NOW) is None
    assert directory.token("digest-b1", NOW) is not None
    put_document(directory, "user/bob", {"roles": ["auditor"]})
    assert directory.token("digest-b2", NOW) is not None


def test_token__user_removed_and_name_reused__invalid(directory: Directory) -> None:
    apply(directory, "token/b1", directory_events.TokenRevoked(), 2)
    apply(directory, "user/bob", directory_events.UserRemoved(), 2)
    assert directory.token("digest-b2", NOW) is None
    apply(directory, "user/bob", directory_events.UserRegistered(), 3)
    assert directory.token("digest-b1", NOW) is None


def test_token__created_concurrently_with_removal_of_user__invalid_for_good(directory: Directory) -> None:
    # No event revokes the token: the removal was decided before the token existed.
    token(directory, "b3", "bob", "submitter")
    apply(directory, "user/bob", directory_events.UserRemoved(), 2)
    apply(directory, "user/bob", directory_events.UserRegistered(), 3)
    assert directory.token("digest-b3", NOW) is None
    assert not directory.is_valid_token("b3", NOW)
    assert list(directory.tokens_of("bob")) == []
    token(directory, "b5", "bob", "submitter")
    assert directory.token("digest-b5", NOW) is not None
    assert directory.token("digest-a1", NOW) is not None


def test_token__lab_controller_removed__invalid_for_good(directory: Directory) -> None:
    def made(token_id: str) -> None:
        event = directory_events.TokenCreated("ada", "lab-controller", "lab-1", f"digest-{token_id}")
        apply(directory, f"token/{token_id}", event)

    put_document(directory, "user/ada", {"roles": ["admin", "lab-controller"]})
    made("l1")
    assert directory.token("digest-l1", NOW) is not None
    # No event revokes the token: it was created concurrently with the removal of its lab controller.
    apply(directory, "lab-controller/lab-1", directory_events.LabControllerRemoved(), 2)
    assert directory.token("digest-l1", NOW) is None
    apply(directory, "lab-controller/lab-1", directory_events.LabControllerRegistered(True), 3)
    assert directory.token("digest-l1", NOW) is None
    assert not directory.is_valid_token("l1", NOW)
    made("l2")
    assert directory.token("digest-l2", NOW) is not None
    assert directory.token("digest-a1", NOW) is not None


def test_tokens__many_logins__expired_tokens_are_dropped(directory: Directory) -> None:
    at = NOW
    for number in range(100):
        at = NOW + timedelta(hours=number)
        end = (at + timedelta(hours=12)).isoformat()
        event = directory_events.TokenCreated("bob", "submitter", None, f"digest-n{number}", end)
        apply(directory, f"token/n{number}", event, at=at)
    kept = [token_id for token_id, _ in directory.items("token")]
    assert kept == ["a1", "b1", "b2", *(f"n{number}" for number in range(88, 100))]
    assert [token_id for token_id, _ in directory.tokens_of("bob")] == kept[1:]
    assert directory.token("digest-n88", at) is not None
    assert directory.token("digest-n87", at) is None
    assert len(directory.plain()["access"]["held"]) == len(kept)


def test_token__revoked_after_expiry__leaves_nothing(directory: Directory) -> None:
    token(directory, "b3", "bob", "submitter", "2024-01-01T01:00:00Z")
    later = directory_events.TokenCreated("bob", "submitter", None, "digest-b4", None)
    apply(directory, "token/b4", later, at=SOON)
    apply(directory, "token/b3", directory_events.TokenRevoked(), 2, at=SOON)
    assert directory.get("token", "b3") is None
    assert "b3" not in dict(directory.items("token"))


def test_token__document__has_no_digest(directory: Directory) -> None:
    found = directory.token("digest-b1", NOW)
    assert found is not None
    assert found[1] == {"user": "bob", "role": "submitter", "lab_controller": None, "expires_at": None}
    assert "digest" not in shown_of(directory_events.TokenCreated("bob", "submitter", None, "ab12"))


def test_directory__restored_from_plain_values__is_equal(directory: Directory) -> None:
    apply(directory, "user/bob", directory_events.UserPasswordSet("p1"), 2)
    apply(directory, "lab-controller/lab-1", directory_events.LabControllerRemoved(), 2)
    token(directory, "b3", "bob", "submitter", "2024-01-01T01:00:00Z")
    restored = Directory()
    restored.restore(directory.plain())
    assert restored.plain() == directory.plain()
    assert restored.token("digest-b1", NOW) == directory.token("digest-b1", NOW)
    assert restored.credentials.password_of("bob") == "p1"
    assert restored.get("lab-controller", "lab-1") is None
    assert restored.version("lab-controller/lab-1") == 2
    for one in (directory, restored):
        apply(one, "token/b4", directory_events.TokenCreated("bob", "submitter", None, "digest-b4"), at=SOON)
    assert restored.plain() == directory.plain()
    assert restored.get("token", "b3") is None


# Users from before users had roles


def test_roles_of__registered_before_there_were_roles__are_those_of_the_tokens() -> None:
    directory = Directory()
    apply(directory, "user/eve", OLD_USER)
    assert directory.roles_of("eve") == ("submitter",)
    old = from_data(
        "token.created", 1, {"user": "eve", "role": "admin", "lab_controller": None, "digest": "d"}
    )
    apply(directory, "token/e1", old)
    assert directory.roles_of("eve") == ("admin",)
    assert directory.token("d", NOW) is not None
    # A PUT without roles keeps the roles; a PUT with roles replaces them.
    assert put_document(directory, "user/eve", {}) is None
    put_document(directory, "user/eve", {"roles": ["submitter"]})
    assert directory.token("d", NOW) is None


def test_role_given__user_with_roles_from_tokens__keeps_those(directory: Directory) -> None:
    apply(directory, "user/eve", OLD_USER)
    token(directory, "e1", "eve", "auditor")
    assert role_given(directory, TokenRequest("eve", "auditor")) == []
    ((subject, event),) = role_given(directory, TokenRequest("eve", "submitter"))
    assert (subject, event) == ("user/eve", directory_events.UserChanged(["auditor", "submitter"], None))


# Creation

FAULTS: list[tuple[Mapping[str, Any], bool, list[str]]] = [
    ({"user": "bob", "role": "submitter"}, False, []),
    ({"user": "bob", "role": "auditor", "expires_at": SOON}, False, []),
    # A role that bob does not have, and roles that only admins give.
    ({"user": "bob", "role": "metrics"}, False, ["role"]),
    ({"user": "ada", "role": "admin"}, False, ["role"]),
    ({"user": "bob", "role": "lab-controller", "lab_controller": "lab-1"}, False, ["role"]),
    ({"user": "bob", "role": "admin"}, True, []),
    ({"user": "bob", "role": "lab-controller", "lab_controller": "lab-1"}, True, []),
    ({"user": "bob", "role": "lab-controller"}, True, ["lab_controller"]),
    ({"user": "bob", "role": "lab-controller", "lab_controller": "lab-2"}, True, ["lab_controller"]),
    ({"user": "bob", "role": "submitter", "lab_controller": "lab-1"}, True, ["lab_controller"]),
    # Several faults at once.
    (
        {"user": "eve", "role": "king", "lab_controller": "lab-1", "expires_at": NOW},
        True,
        ["user", "role", "lab_controller", "expires_at"],
    ),
]


@pytest.mark.parametrize(("wanted", "is_admin", "places"), FAULTS)
def test_faults_of__requested_token__all_faults(
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
    # The requesting token expired or was revoked after authentication.
    ("gone", timedelta(hours=1), ["expires_at"]),
]


@pytest.mark.parametrize(("asking", "lasting", "places"), ENDS)
def test_faults_of__requested_with_expiring_token__must_not_outlive_it_unless_admin(
    directory: Directory, asking: str, lasting: timedelta | None, places: list[str]
) -> None:
    token(directory, "b3", "bob", "submitter", "2024-01-01T01:00:00Z")
    wanted = TokenRequest("bob", "submitter", expires_at=None if lasting is None else NOW + lasting)
    faults = faults_of(directory, wanted, NOW, is_admin=False, asking=asking)
    assert [fault.where for fault in faults] == places
    if lasting != timedelta(0):
        assert faults_of(directory, wanted, NOW, is_admin=True, asking=asking) == []


# A remaining admin


def test_revoke__once_and_again__second_changes_nothing(directory: Directory) -> None:
    ((subject, event),), rests_on = revoke(directory, "b1")
    assert rests_on == ()
    assert (subject, event) == ("token/b1", directory_events.TokenRevoked())
    apply(directory, subject, event, 2)
    assert revoke(directory, "b1") == ([], ())
    assert "b1" not in dict(directory.items("token"))


def test_revoke__last_token_of_the_last_admin__refused(directory: Directory) -> None:
    with pytest.raises(Refused):
        revoke(directory, "a1")
    # A token that expires does not count; a token without an end does, and so does a password.
    token(directory, "a2", "ada", "admin", "2030-01-01T00:00:00Z")
    with pytest.raises(Refused):
        revoke(directory, "a1")
    apply(directory, "user/ada", directory_events.UserPasswordSet("p1"), 2)
    assert revoke(directory, "a1") == ([("token/a1", directory_events.TokenRevoked())], ("user/ada",))


def test_require_admin_left__another_admin_without_a_token__refused(directory: Directory) -> None:
    put_document(directory, "user/bob", {"roles": ["admin"]})
    with pytest.raises(Refused):
        require_admin_left(directory, without_users=("ada",))
    token(directory, "b3", "bob", "admin")
    assert require_admin_left(directory, without_users=("ada",)) == ("user/bob", "token/b3")


def test_topics__of_users_and_tokens__move_the_directory() -> None:
    wanted = {"user.changed", "user.password-set", "user.removed", "token.revoked", "group.removed"}
    assert wanted <= {event.TOPIC for event in FOLDED_EVENTS}
