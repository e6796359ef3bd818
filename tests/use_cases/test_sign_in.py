"""Sign-in of people whom the identity provider has authenticated: new, linked, removed and refused ones."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from api.oidc.errors import SignInFailed
from api.oidc.identity import Identity
from api.oidc.sign_in import MAX_REQUESTS, SignIn
from api.use_cases.log_in import TOKEN_LIFETIME, NewLogin
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.sign_in import sign_in
from api.use_cases.tokens import digest_of, make_first_token, revoke_token
from domain.directory.actors import SIGN_IN
from domain.directory.events import TokenCreated, UserChanged, UserPasswordSet, UserRegistered
from domain.errors import NotPermitted, Refused, TooOften
from tests.in_process.environment import BEGINNING, Environment
from tests.use_cases.town import Town, as_admin, by

# The use case does not ask the provider.
URL = "https://lab.example.com"
OPTIONS = SignIn(cast(Any, None), "Lab", URL, {"kernel": ["qa"], "staff": ["absent"]}, creates_users=True)


def signs_in(
    town: Town, user: str, *groups: str, role: str | None = None, options: SignIn = OPTIONS, process: int = 0
) -> NewLogin:
    identity = Identity(user, frozenset(groups))
    return town.scene.apis[process].ask(
        lambda services, _: sign_in(services, options, "test", identity, role)
    )


def test_sign_in__first_one__creates_a_submitter_with_groups_and_a_token_that_expires(town: Town) -> None:
    position = town.log.end()
    done = signs_in(town, "carol", "kernel", "unlisted")
    found, _ = town.log.select(position, town.log.end(), 10)
    assert [(each.subject, each.stamp.actor) for each in found] == [
        ("user/carol", SIGN_IN),
        ("group/qa", SIGN_IN),
        (f"token/{done.token_id}", "carol"),
    ]
    assert town.document_of("user", "carol")["roles"] == ["submitter"]
    directory = town.services().feed.directory
    assert directory.credentials.password_of("carol") is None
    last = done.expires_at - timedelta(seconds=1)
    assert directory.token(digest_of(done.token), last) is not None
    assert directory.token(digest_of(done.token), done.expires_at) is None
    assert done.expires_at - TOKEN_LIFETIME <= town.services().clock()
    town.ask(revoke_token, by("carol"), done.token_id)
    assert directory.token(digest_of(done.token), last) is None


def test_sign_in__again_without_the_group__leaves_it_and_creates_only_a_token(town: Town) -> None:
    signs_in(town, "carol", "kernel")
    position = town.log.end()
    done = signs_in(town, "carol", process=1)
    assert [subject for subject, _ in town.since(position)] == ["group/qa", f"token/{done.token_id}"]
    position = town.log.end()
    done = signs_in(town, "carol")
    assert [subject for subject, _ in town.since(position)] == [f"token/{done.token_id}"]


def test_sign_in__user_of_the_same_name__is_linked_and_keeps_password_and_roles(town: Town) -> None:
    town.happens("user/bob", UserPasswordSet("p-bob"))
    before = town.document_of("user", "bob")
    assert signs_in(town, "bob", "kernel").role == "submitter"
    assert town.document_of("user", "bob") == before
    assert town.services().feed.directory.credentials.password_of("bob") == "p-bob"


def test_sign_in__user_who_was_removed__is_refused_until_an_admin_adds_the_user(town: Town) -> None:
    signs_in(town, "carol", "kernel")
    town.ask(remove_document, as_admin(), "user", "carol")
    position = town.log.end()
    with pytest.raises(SignInFailed, match="user carol was removed"):
        signs_in(town, "carol", "kernel", process=1)
    assert town.log.end() == position
    town.ask(put_document, as_admin(), "user", "carol", {"email": None})
    assert signs_in(town, "carol").user == "carol"


def test_sign_in__admin_registers_the_user_meanwhile__keeps_what_the_admin_gave(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def put_late(*args: Any) -> Any:
        town.append("user/carol", UserRegistered(roles=["auditor"], email="carol@example.com"))
        return await put_document(*args)

    monkeypatch.setattr("api.use_cases.sign_in.put_document", put_late)
    assert signs_in(town, "carol").role == "auditor"
    assert town.document_of("user", "carol") == {"roles": ["auditor"], "email": "carol@example.com"}


def test_sign_in__admin_whom_no_sign_in_created__is_refused_unless_the_options_name_the_user(
    town: Town, environment: Environment
) -> None:
    refused = "is an admin whom no sign-in has created"
    end = town.services().clock() + timedelta(days=90)
    town.ask(put_document, as_admin(), "user", "dan", {"roles": ["admin"], "email": None})
    # One with a password, one without credentials, and one with a token that expires.
    for user in ("root", "dan", "dan"):
        with pytest.raises(SignInFailed, match=f"{user} {refused}"):
            signs_in(town, user)
        town.happens("token/dan", TokenCreated("dan", "admin", end.isoformat(), "d-dan"))
    assert signs_in(town, "dan", options=replace(OPTIONS, admins={"dan"})).role == "admin"
    with pytest.raises(SignInFailed):
        signs_in(town, "root", options=replace(OPTIONS, admins={"dan"}))
    # Created by a sign-in; a password and a token without an end change nothing.
    signs_in(town, "carol")
    town.ask(put_document, as_admin(), "user", "carol", {"roles": ["admin"], "email": None})
    town.happens("token/carol", TokenCreated("carol", "admin", None, "d-carol"))
    assert signs_in(town, "carol", role="admin").role == "admin"
    # Removed, and added by an admin: another person may be meant.
    town.ask(remove_document, as_admin(), "user", "carol")
    town.ask(put_document, as_admin(), "user", "carol", {"roles": ["admin"], "email": None})
    with pytest.raises(SignInFailed, match=f"carol {refused}"):
        signs_in(town, "carol")


def test_sign_in__admin_of_the_first_start__is_refused(environment: Environment) -> None:
    with environment.scene() as scene:
        assert make_first_token(scene.log, BEGINNING, lambda _: None)
        town = Town(scene)
        with pytest.raises(SignInFailed, match="admin is an admin whom no sign-in has created"):
            signs_in(town, "admin")
        assert signs_in(town, "carol").role == "submitter"


def test_sign_in__by_the_device_flow__has_no_role_admin_unless_the_options_admit_it(town: Town) -> None:
    def by_device(options: SignIn, role: str | None = None) -> str:
        asked = Identity("dan", frozenset())
        done = town.scene.apis[0].ask(
            lambda services, _: sign_in(services, options, "test", asked, role, by_device=True)
        )
        return done.role

    strict = replace(OPTIONS, admins={"dan"})
    open_ = replace(strict, admits_device_admins=True)
    # The roles of the user, the role without a wish, and with the option.
    for roles, given, given_if_open in (
        (["admin"], None, "admin"),
        (["lab-controller", "admin"], None, "admin"),
        (["admin", "auditor"], "auditor", "auditor"),
        (["admin", "auditor", "submitter"], "submitter", "submitter"),
    ):
        town.ask(put_document, as_admin(), "user", "dan", {"roles": roles, "email": None})
        if given is None:
            with pytest.raises(NotPermitted, match="no role admin"):
                by_device(strict)
        else:
            assert by_device(strict) == given
        assert by_device(open_) == given_if_open
        with pytest.raises(NotPermitted, match="no role admin"):
            by_device(strict, "admin")
        assert by_device(open_, "admin") == "admin"


def test_put__name_of_an_actor_of_the_service__is_refused(town: Town) -> None:
    with pytest.raises(Refused, match="no user can have this name"):
        town.ask(put_document, as_admin(), "user", SIGN_IN, {"email": None})


def test_sign_in__name_of_a_user_in_other_case__creates_no_second_user(town: Town) -> None:
    with pytest.raises(SignInFailed, match="Bob is no user here, but bob is"):
        signs_in(town, "Bob")
    assert town.document_of("user", "Bob") is None


def test_sign_in__user_without_roles__is_refused_and_joins_no_group(town: Town) -> None:
    town.happens("user/eve", UserChanged(roles=[]))
    position = town.log.end()
    with pytest.raises(SignInFailed, match="user eve has no role here"):
        signs_in(town, "eve", "kernel")
    assert town.log.end() == position


def test_sign_in__service_that_creates_no_users__refuses_new_ones(town: Town) -> None:
    options = replace(OPTIONS, creates_users=False)
    with pytest.raises(SignInFailed, match="there is no user carol here"):
        signs_in(town, "carol", options=options)
    assert town.document_of("user", "carol") is None
    assert signs_in(town, "bob", options=options).user == "bob"


def test_sign_in__group_of_the_table_missing__signs_in_and_logs(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        signs_in(town, "bob", "staff")
    assert "puts bob into groups that do not exist: absent" in caplog.text


def test_sign_in__role_that_the_user_does_not_have__is_refused(town: Town) -> None:
    for role in ("admin", "lab-controller"):
        with pytest.raises(NotPermitted):
            signs_in(town, "bob", role=role)


def test_device_login__user_whom_another_process_has_just_registered__is_a_submitter(town: Town) -> None:
    town.append("user/dora", UserRegistered(roles=["auditor", "submitter"]))
    asked = Identity("dora", frozenset())
    done = town.scene.apis[1].ask(
        lambda services, _: sign_in(services, OPTIONS, "test", asked, by_device=True)
    )
    assert done.role == "submitter"


def test_sign_in__too_many_requests_of_one_address__are_refused_there(town: Town) -> None:
    options = SignIn(cast(Any, None), "Lab", URL, {}, creates_users=True)
    for _ in range(MAX_REQUESTS):
        options.require_pace("192.0.2.1")
    with pytest.raises(TooOften):
        options.require_pace("192.0.2.1")
    options.require_pace("192.0.2.2")
