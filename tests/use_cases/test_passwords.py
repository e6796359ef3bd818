"""Passwords and logins: hashes are stored beside the log, only the last one of each user."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from argon2 import PasswordHasher

from api.parts import Parts
from api.password_attempts import MAX_FAILED_BY_USER
from api.passwords import Hashing
from api.use_cases.log_in import TOKEN_LIFETIME, NewLogin, log_in
from api.use_cases.passwords import set_password
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.tokens import create_token, digest_of
from domain.directory.events import TokenCreated
from domain.errors import FaultyInput, NotPermitted, NotRecognised, Refused, Stale, TooOften, Unknown
from tests.use_cases.town import Town, as_admin, by

BOB = by("bob", token_id="bob")
FIRST, SECOND = "correct horse", "battery staple"


@pytest.fixture
def cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the test 300 ms of a core for each hash; `tests/passwords` has the real parameters."""
    cheap = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr("api.passwords.PasswordHasher", cheap)


@pytest.fixture(autouse=True)
def bobs_token(cheap_hashes: None, town: Town) -> None:
    """Add a token of bob, with his widest role and without an end."""
    town.happens("token/bob", TokenCreated("bob", "submitter", None, "d-bob"))


def logs_in(town: Town, user: str, password: str, role: str | None = None, process: int = 0) -> NewLogin:
    return town.scene.apis[process].ask(lambda services, _: log_in(services, "test", user, password, role))


def hashes(town: Town, user: str) -> list[str]:
    rows = town.log.rows(b"SELECT hash FROM secret.passwords WHERE user_name = %s", (user,))
    return [row[0] for row in rows]


def test_password__first_set__lets_its_user_in_for_a_while(town: Town) -> None:
    town.ask(set_password, BOB, "bob", FIRST)
    found = logs_in(town, "bob", FIRST, process=1)
    services = town.services(1)
    assert found.role == "submitter"
    directory = services.feed.directory
    assert directory.token(digest_of(found.token), found.expires_at - timedelta(seconds=1)) is not None
    assert directory.token(digest_of(found.token), found.expires_at) is None
    assert found.expires_at - services.clock() <= TOKEN_LIFETIME
    (recorded,) = services.log.load({f"token/{found.token_id}": 0})[f"token/{found.token_id}"]
    assert (recorded.stamp.actor, recorded.position) == ("bob", found.position)


def test_password__hash__is_in_no_event(town: Town) -> None:
    before = town.log.end()
    town.ask(set_password, BOB, "bob", FIRST)
    assert town.since(before) == [("user/bob", "user.password-set")]
    (hashed,) = hashes(town, "bob")
    assert hashed.startswith("$argon2id$")
    states = town.log.rows(b"SELECT state FROM log.events", ())
    assert not any(hashed.encode() in bytes(state) for (state,) in states)


def test_password__set_again__needs_the_first_and_replaces_it(town: Town) -> None:
    town.ask(set_password, BOB, "bob", FIRST)
    with pytest.raises(FaultyInput) as refused:
        town.ask(set_password, BOB, "bob", "short")
    assert [fault.where for fault in refused.value.faults] == ["password", "current_password"]
    with pytest.raises(NotPermitted):
        town.ask(set_password, BOB, "bob", SECOND, SECOND)
    town.ask(set_password, BOB, "bob", SECOND, FIRST)
    assert len(hashes(town, "bob")) == 1
    with pytest.raises(NotRecognised):
        logs_in(town, "bob", FIRST)
    assert logs_in(town, "bob", SECOND)


def test_password__of_others__is_set_by_admins_without_knowing_it(town: Town) -> None:
    with pytest.raises(NotPermitted):
        town.ask(set_password, by("eve"), "bob", FIRST)
    with pytest.raises(Unknown):
        town.ask(set_password, as_admin(), "mallory", FIRST)
    town.ask(set_password, as_admin(), "bob", FIRST)
    town.ask(set_password, as_admin(), "bob", SECOND)
    assert logs_in(town, "bob", SECOND)


def test_password__first_of_an_admin__needs_a_token_with_that_role(town: Town) -> None:
    town.ask(put_document, as_admin(), "user", "bob", {"roles": ["submitter", "admin"]})
    before = town.log.end()
    with pytest.raises(NotPermitted, match="only an admin"):
        town.ask(set_password, BOB, "bob", FIRST)
    assert town.log.end() == before
    town.ask(set_password, as_admin(), "bob", FIRST)
    # The owner of the password has the roles anyway.
    town.ask(set_password, BOB, "bob", SECOND, FIRST)
    assert logs_in(town, "bob", SECOND, "admin")


def test_password__first_by_a_token_that_opens_less__is_refused(town: Town) -> None:
    """A password never expires and gives every role, so a short-lived token must not set the first one."""
    end = town.services().clock() + timedelta(seconds=600)
    _, short, _ = town.ask(create_token, BOB, "bob", "submitter", None, end)
    _, narrow, _ = town.ask(create_token, as_admin(), "bob", "auditor", None)
    before = town.log.end()
    for token_id in (short, narrow, "no-such-token", None):
        with pytest.raises(NotPermitted, match="a token that has no end and the widest role"):
            town.ask(set_password, by("bob", token_id=token_id), "bob", FIRST)
    assert (town.log.end(), hashes(town, "bob")) == (before, [])
    # A second password requires the first one, with any token.
    town.ask(set_password, BOB, "bob", FIRST)
    town.ask(set_password, by("bob", token_id=short), "bob", SECOND, FIRST)


def test_password__user_made_admin_in_the_same_moment__is_set_by_no_lesser_token(town: Town) -> None:
    def rises() -> None:
        town.ask(put_document, as_admin(), "user", "bob", {"roles": ["submitter", "admin"]})

    with town.scene.apis[1].appended.preceded(rises), pytest.raises(NotPermitted, match="only an admin"):
        town.ask(set_password, BOB, "bob", FIRST, process=1)


def test_password__stale_if_match__the_one_before_counts(town: Town) -> None:
    town.ask(set_password, as_admin(), "bob", FIRST)
    with pytest.raises(Stale):
        town.ask(set_password, as_admin(expected=frozenset({1})), "bob", SECOND)
    assert logs_in(town, "bob", FIRST)


def test_password__set_twice_at_the_same_time__later_request_is_refused(town: Town) -> None:
    town.ask(set_password, BOB, "bob", FIRST)

    def by_admin() -> None:
        town.ask(set_password, as_admin(), "bob", "from the admin")

    with town.scene.apis[1].appended.preceded(by_admin), pytest.raises(Refused, match="another request"):
        town.ask(set_password, BOB, "bob", SECOND, FIRST, process=1)
    assert logs_in(town, "bob", "from the admin")


def test_log_in__unknown_user_or_no_password_or_a_wrong_one__equal_answers(town: Town) -> None:
    town.ask(set_password, BOB, "bob", FIRST)
    said = set()
    for user, password in (("mallory", FIRST), ("eve", FIRST), ("bob", SECOND), ("bob", "")):
        with pytest.raises(NotRecognised) as refused:
            logs_in(town, user, password)
        said.add(str(refused.value))
    assert len(said) == 1


def test_log_in__wrong_too_often__even_the_right_one_waits(town: Town) -> None:
    town.ask(set_password, as_admin(), "bob", FIRST)
    for _ in range(MAX_FAILED_BY_USER):
        with pytest.raises(NotRecognised):
            logs_in(town, "bob", SECOND)
    with pytest.raises(TooOften):
        logs_in(town, "bob", FIRST)
    with pytest.raises(TooOften):
        town.ask(set_password, BOB, "bob", SECOND, FIRST)
    # Admins can still set a password.
    assert town.ask(set_password, as_admin(), "bob", SECOND)


def test_log_in__twelve_at_once_with_the_right_password__all_succeed_and_guesses_stay_bounded(
    town: Town,
) -> None:
    for user in ("ada", "bob"):
        town.ask(set_password, as_admin(), user, FIRST)

    def together(user: str, *passwords: str) -> Counter[str]:
        """Return the results of concurrent attempts from one address."""

        async def attempts(services: Parts, _: RequestContext) -> list[Any]:
            asked = (log_in(services, "test", user, one, address="10.0.0.7") for one in passwords)
            return await asyncio.gather(*asked, return_exceptions=True)

        return Counter(type(one).__name__ for one in town.scene.api.ask(attempts))

    wrong = tuple(f"guess {number}" for number in range(MAX_FAILED_BY_USER - 1))
    assert together("bob", *wrong) == {"NotRecognised": MAX_FAILED_BY_USER - 1}
    before = town.log.end()
    assert together("bob", *[FIRST] * 12) == {"NewLogin": 12}
    assert {topic for _, topic in town.since(before)} == {"token.created"}
    assert len(town.since(before)) == 12
    # One guess is left in this minute, as before.
    assert together("bob", *wrong) == {"NotRecognised": 1, "TooOften": MAX_FAILED_BY_USER - 2}
    assert together("bob", FIRST) == {"TooOften": 1}
    # Mixed with guesses: right passwords succeed while a place is left.
    assert together("ada", FIRST, SECOND, FIRST, SECOND, FIRST) == {"NewLogin": 3, "NotRecognised": 2}


def test_log_in__flood_of_guesses_from_many_addresses__leaves_a_place_for_names_without_failures(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify = PasswordHasher.verify

    def slowly(*arguments: Any) -> bool:
        time.sleep(0.1)
        return verify(*arguments)

    monkeypatch.setattr(PasswordHasher, "verify", slowly)
    town.ask(set_password, as_admin(), "bob", FIRST)

    async def flooded(services: Parts, _: RequestContext) -> list[Any]:
        guesses = [
            asyncio.ensure_future(log_in(services, "test", f"nobody-{n}", FIRST, address=f"10.0.{n}.1"))
            for n in range(60)
        ]
        await asyncio.sleep(0.05)
        right = [log_in(services, "test", "bob", FIRST, address="10.1.0.1") for _ in range(5)]
        answers = await asyncio.gather(*right, return_exceptions=True)
        for guess in guesses:
            guess.cancel()
        await asyncio.gather(*guesses, return_exceptions=True)
        return answers

    assert [type(answer) for answer in town.scene.api.ask(flooded)] == [NewLogin] * 5


def test_log_in__not_checked__does_not_count_as_an_attempt(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.ask(set_password, as_admin(), "bob", FIRST)

    async def busy(*_: object, **__: object) -> bool:
        raise TooOften("too many", 1)

    with monkeypatch.context() as patched:
        patched.setattr(Hashing, "is_right", busy)
        for _ in range(2 * MAX_FAILED_BY_USER):
            with pytest.raises(TooOften, match="too many"):
                logs_in(town, "bob", FIRST)
    assert logs_in(town, "bob", FIRST)


def test_log_in__role_asked_for__is_one_that_the_user_has(town: Town) -> None:
    town.ask(put_document, as_admin(), "user", "bob", {"roles": ["lab-controller", "auditor", "submitter"]})
    town.ask(set_password, as_admin(), "bob", FIRST)
    # A user cannot log in as a lab controller.
    assert logs_in(town, "bob", FIRST).role == "auditor"
    assert logs_in(town, "bob", FIRST, "submitter").role == "submitter"
    with pytest.raises(NotPermitted):
        logs_in(town, "bob", FIRST, "admin")
    for role in ("lab-controller", "king"):
        with pytest.raises(FaultyInput):
            logs_in(town, "bob", FIRST, role)


def test_log_in__password_set_in_the_same_moment__old_one_is_refused(town: Town) -> None:
    town.ask(set_password, as_admin(), "bob", FIRST)

    def changed() -> None:
        town.ask(set_password, as_admin(), "bob", SECOND)

    with town.scene.apis[1].appended.preceded(changed), pytest.raises(NotRecognised):
        logs_in(town, "bob", FIRST, process=1)


def test_user__removed_and_registered_again__has_no_password(town: Town) -> None:
    town.ask(set_password, as_admin(), "eve", FIRST)
    found = logs_in(town, "eve", FIRST)
    town.ask(remove_document, as_admin(), "user", "eve")
    assert hashes(town, "eve") == []
    directory = town.services().feed.directory
    assert directory.token(digest_of(found.token), found.expires_at - TOKEN_LIFETIME) is None
    town.ask(put_document, as_admin(), "user", "eve", {})
    with pytest.raises(NotRecognised):
        logs_in(town, "eve", FIRST)
