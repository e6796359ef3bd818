"""Loans, and the last admin, who stays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from api.use_cases.change_policy import change_pool_policy, change_system_policy
from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.lend_system import end_loan, lend_system
from api.use_cases.move_system import move_system
from api.use_cases.passwords import set_password
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from api.use_cases.tokens import create_token, revoke_token
from domain.errors import FaultyInput, LabledgerError, NotPermitted, Refused, Unknown
from tests.in_process.environment import BEGINNING
from tests.use_cases.town import Town, as_admin, by

BOBS = ReservationRequest("bob", None, None)
BY_BOB = {"permission": "reserve", "user": "bob"}
VIEWED = {"permission": "view", "everybody": True}


def automated(town: Town, fqdn: str = "a") -> None:
    """Set a system to Automated, and let the scheduler make it idle."""
    town.scene.scheduler.begin()
    change = NewSystemValues(condition="Automated", reason="ready")
    town.ask(change_system, as_admin(), fqdn, change, lambda _: None)
    town.scene.scheduler.settle()
    town.scene.scheduler.leave()


def test_loan__of_an_automated_system__is_reserved_by_its_borrower_and_pending_when_returned(
    town: Town,
) -> None:
    automated(town)
    with pytest.raises(Refused, match="only a Manual system, or one on loan"):
        town.ask(reserve_system, by("bob"), "a", BOBS)
    town.ask(lend_system, as_admin(), "a", "bob", None)
    with pytest.raises(Refused, match="on loan to bob"):
        town.ask(reserve_system, by("ada"), "a", ReservationRequest("ada", None, None))
    before = town.log.end()
    assert town.ask(reserve_system, by("bob"), "a", BOBS) is not None
    assert town.ask(return_system, by("bob"), "a") is not None
    assert [topic for _, topic in town.since(before)] == [
        *("system.reservation-begun", "system.running"),
        *("system.reservation-ended", "system.pending"),
    ]


def test_loan__ends_while_its_borrower_has_a_reservation__reservation_that_needs_it_ends(town: Town) -> None:
    automated(town, "a")
    for fqdn in ("a", "b"):
        town.ask(lend_system, as_admin(), fqdn, "bob", None)
        town.ask(reserve_system, by("bob"), fqdn, BOBS)
    before = town.log.end()
    assert town.ask(end_loan, by("bob"), "a") is not None
    # A Manual system needs no loan.
    assert town.ask(end_loan, as_admin(), "b") is not None
    assert town.since(before) == [
        ("system/a", "system.loan-ended"),
        ("system/a", "system.reservation-ended"),
        ("system/a", "system.pending"),
        ("system/b", "system.loan-ended"),
    ]
    assert town.ask(end_loan, as_admin(), "b") is None


def test_loan__to_another_or_of_a_removed_system__refused_and_existing_users_only(town: Town) -> None:
    until = BEGINNING + timedelta(days=365_000)
    assert town.ask(lend_system, as_admin(), "a", "bob", None) is not None
    assert town.ask(lend_system, as_admin(), "a", "bob", None) is None
    assert town.ask(lend_system, as_admin(), "a", "bob", until) is not None
    with pytest.raises(Refused, match="on loan to bob"):
        town.ask(lend_system, as_admin(), "a", "eve", None)
    with pytest.raises(FaultyInput, match='user: there is no user "zoe"; until: is in the past'):
        town.ask(lend_system, as_admin(), "a", "zoe", BEGINNING - timedelta(days=365_000))
    removed = NewSystemValues(condition="Removed", reason="sold")
    town.ask(change_system, as_admin(), "a", removed, lambda _: None)
    assert town.state("system/a").loan is None
    with pytest.raises(Refused, match="is Removed"):
        town.ask(lend_system, as_admin(), "a", "eve", None)


def test_user__removed__loans_end_in_the_same_commit(town: Town) -> None:
    automated(town)
    town.ask(lend_system, as_admin(), "a", "eve", None)
    town.ask(reserve_system, by("eve"), "a", ReservationRequest("eve", None, None))
    before = town.log.end()
    done = town.ask(remove_document, as_admin(), "user", "eve")
    assert done is not None and done.position == town.log.end()
    assert town.since(before) == [
        ("system/a", "system.loan-ended"),
        ("system/a", "system.reservation-ended"),
        ("system/a", "system.pending"),
        ("user/eve", "user.removed"),
    ]


def test_pool__left_or_removed_while_its_policy_counts__own_policy_counts_again(town: Town) -> None:
    for leave in (
        lambda: town.ask(move_system, as_admin(), "net", "a", member=False),
        lambda: town.ask(remove_document, as_admin(), "pool", "net"),
    ):
        if "a" not in town.services().feed.directory.systems_of("net"):
            town.ask(move_system, as_admin(), "net", "a", member=True)
        town.ask(change_system_policy, as_admin(), "a", [BY_BOB], "net")
        with pytest.raises(Unknown):
            # The policy of the pool is empty.
            town.ask(reserve_system, by("bob"), "a", BOBS)
        assert leave() is not None
        assert town.state("system/a").active_pool is None
        assert town.ask(reserve_system, by("bob"), "a", BOBS) is not None
        town.ask(return_system, by("bob"), "a")


def test_policy__of_a_pool_it_is_not_in__refused(town: Town) -> None:
    with pytest.raises(Refused, match="b is not in pool net"):
        town.ask(change_system_policy, as_admin(), "b", [], "net")


# Changes in the other process that take bob's permission while he uses it.

TAKEN: list[tuple[str, Callable[[Town], object]]] = [
    ("own", lambda town: town.ask(change_system_policy, as_admin(), "a", [VIEWED], None)),
    ("pool", lambda town: town.ask(change_pool_policy, as_admin(), "net", [VIEWED])),
    (
        "group",
        lambda town: town.ask(put_document, as_admin(), "group", "qa", {"owners": ["ada"], "members": []}),
    ),
]


@pytest.mark.parametrize(("by_what", "taken"), TAKEN)
def test_permission__taken_in_the_moment_it_is_used__is_not_used(
    town: Town, by_what: str, taken: Callable[[Town], object]
) -> None:
    entries = [{"permission": "reserve", "group": "qa"} if by_what == "group" else BY_BOB, VIEWED]
    town.ask(change_pool_policy, as_admin(), "net", entries)
    town.ask(change_system_policy, as_admin(), "a", entries, "net" if by_what == "pool" else None)
    town.scene.apis[1].catch_up()
    with town.scene.apis[1].appended.preceded(lambda: taken(town)), pytest.raises(NotPermitted):
        town.ask(reserve_system, by("bob"), "a", BOBS, process=1)


def test_pool__left_in_the_moment_its_policy_is_chosen__does_not_count(town: Town) -> None:
    def leaves() -> None:
        town.ask(move_system, as_admin(), "net", "a", member=False)

    with town.scene.apis[1].appended.preceded(leaves), pytest.raises(LabledgerError, match="not in pool"):
        town.ask(change_system_policy, as_admin(), "a", [], "net", process=1)


def test_pool__policy_chosen_in_the_moment_it_is_left__own_policy_counts_again(town: Town) -> None:
    def chosen() -> None:
        town.ask(change_system_policy, as_admin(), "a", [], "net")

    with town.scene.apis[1].appended.preceded(chosen):
        town.ask(move_system, as_admin(), "net", "a", member=False, process=1)
    assert town.state("system/a").active_pool is None


# Each function takes the admin role from one of both, in process 0 or 1.
Puts = Callable[[Town, str, str, int], object]


def revokes(town: Town, user: str, token_id: str, process: int) -> object:
    return town.ask(revoke_token, as_admin(), token_id, process=process)


def removes(town: Town, user: str, token_id: str, process: int) -> object:
    return town.ask(remove_document, as_admin(), "user", user, process=process)


def demotes(town: Town, user: str, token_id: str, process: int) -> object:
    return town.ask(put_document, as_admin(), "user", user, {"roles": ["submitter"]}, process=process)


@pytest.fixture
def two(town: Town) -> Town:
    """Give root and ada a token each as admins; root owns nothing."""
    for fqdn in ("a", "b"):
        town.ask(change_system, as_admin(), fqdn, NewSystemValues(owner="eve"), lambda _: None)
    return town


@pytest.mark.parametrize("first", [revokes, removes, demotes])
@pytest.mark.parametrize("second", [revokes, removes, demotes])
def test_admins__remove_each_other_concurrently__one_is_left(two: Town, first: Puts, second: Puts) -> None:
    _, token_id, _ = two.ask(create_token, as_admin(), "ada", "admin", None)
    two.scene.apis[1].catch_up()

    def goes() -> None:
        assert first(two, "root", "root", 0) is not None

    with (
        two.scene.apis[1].appended.preceded(goes),
        pytest.raises(Refused, match="no admin who can log in would be left"),
    ):
        second(two, "ada", token_id, 1)


def test_admin__with_a_password_leaves_while_the_other_is_removed__one_is_left(two: Town) -> None:
    two.ask(put_document, as_admin(), "user", "ada", {"roles": ["admin"]})
    two.ask(set_password, as_admin(), "ada", "correct horse")
    two.scene.apis[1].catch_up()

    def goes() -> None:
        assert demotes(two, "ada", "", 0) is not None

    with (
        two.scene.apis[1].appended.preceded(goes),
        pytest.raises(Refused, match="no admin who can log in would be left"),
    ):
        revokes(two, "root", "root", 1)
