"""Two admins who remove each other concurrently: one of them stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.use_cases.change_system import NewSystemValues, change_system
from api.use_cases.passwords import set_password
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.tokens import create_token, revoke_token
from domain.errors import Refused
from tests.use_cases.town import Town, as_admin

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
