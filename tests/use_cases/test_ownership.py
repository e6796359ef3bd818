"""Permissions of owners: of groups, of pools by their group, of systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from api.use_cases.change_policy import change_pool_policy, change_system_policy
from api.use_cases.change_system import NewSystemValues
from api.use_cases.import_systems import ImportItem, InputLocation, import_systems
from api.use_cases.lab_updates import add_or_change_system, change_own_system
from api.use_cases.move_system import move_system
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import put_document
from api.use_cases.reserve_system import return_system
from domain.errors import NotPermitted, Refused, Unknown
from domain.system.events import SystemReservationBegun, SystemRunning
from tests.use_cases.town import LAB, Town, as_admin, by

QA = {"owners": ["ada"], "members": ["bob"]}

# user, kind, name, document, whether permitted
PUTS: list[tuple[str, str, str, dict[str, Any], bool]] = [
    ("ada", "group", "qa", {**QA, "members": ["bob", "eve"]}, True),
    ("ada", "group", "qa", {"owners": ["bob"], "members": []}, True),
    ("bob", "group", "qa", {**QA, "members": []}, False),
    ("eve", "group", "qa", {**QA, "members": ["eve"]}, False),
    # A document without changes does not change the owner.
    ("eve", "group", "qa", QA, False),
    ("ada", "group", "ops", {"owners": ["ada"], "members": []}, False),
    ("ada", "group", "new", QA, False),
    # Only owners of the group may give the pool to another group.
    ("bob", "pool", "net", {"owner_group": "qa", "description": "NICs"}, True),
    ("bob", "pool", "net", {"owner_group": "ops"}, False),
    ("bob", "pool", "net", {"owner_group": None}, False),
    ("ada", "pool", "net", {"owner_group": "ops", "description": ""}, True),
    ("eve", "pool", "net", {"owner_group": "qa"}, False),
    ("ada", "pool", "new", {"owner_group": "qa"}, False),
    ("ada", "user", "ada", {"roles": ["admin"]}, False),
    ("ada", "lab-controller", "lab-1", {"enabled": False}, False),
]


@pytest.mark.parametrize(("who", "kind", "name", "document", "allowed"), PUTS)
def test_put__by_owners_and_others__done_or_not_permitted(
    town: Town, who: str, kind: str, name: str, document: dict[str, Any], allowed: bool
) -> None:
    before = town.document_of(kind, name)
    if allowed:
        town.ask(put_document, by(who), kind, name, document)
        assert town.document_of(kind, name) == document
    else:
        with pytest.raises(NotPermitted):
            town.ask(put_document, by(who), kind, name, document)
        assert town.document_of(kind, name) == before


# A user with edit_policy for system b of root may add it to a pool of their own.
EDITS = {"permission": "edit_policy", "user": "bob"}, {"permission": "edit_policy", "user": "eve"}

# user, whether they may add a system to the pool, remove it
MOVES = [
    ("ada", False, True),
    ("bob", True, True),
    # Users who do not own the pool.
    ("eve", False, True),
    ("zoe", False, False),
    ("root", True, True),
]


@pytest.mark.parametrize(("who", "in_", "out"), MOVES)
def test_pool__systems_moved__in_needs_both_permissions_out_either(
    town: Town, who: str, in_: bool, out: bool
) -> None:
    town.ask(put_document, as_admin(), "user", "zoe", {})
    entries = [*EDITS, {"permission": "view", "everybody": True}]
    for fqdn in ("a", "b"):
        town.ask(change_system_policy, as_admin(), fqdn, entries, None)
    request = as_admin() if who == "root" else by(who)
    for fqdn, member, allowed in (("b", True, in_), ("a", False, out)):
        if allowed:
            assert town.ask(move_system, request, "net", fqdn, member=member) is not None
        else:
            with pytest.raises(NotPermitted):
                town.ask(move_system, request, "net", fqdn, member=member)


def test_pool__given_away_in_the_same_moment__is_not_theirs_any_more(town: Town) -> None:
    def given() -> None:
        assert town.ask(put_document, as_admin(), "pool", "net", {"owner_group": "ops"}) is not None

    with town.scene.apis[1].appended.preceded(given), pytest.raises(NotPermitted):
        town.ask(move_system, by("bob"), "net", "a", member=False, process=1)


def _moves_out(town: Town) -> object:
    return town.ask(move_system, by("bob"), "net", "a", member=False, process=1)


def _opens(town: Town) -> object:
    entries = [{"permission": "submit", "everybody": True}]
    return town.ask(change_pool_policy, by("bob"), "net", entries, process=1)


def _imports(town: Town) -> object:
    item = ImportItem(InputLocation("systems[0]"), "a", {"fqdn": "a"}, NewSystemValues(pools=[]))
    return town.ask(import_systems, by("bob"), [item], [], process=1)


@pytest.mark.parametrize("act", [_moves_out, _opens, _imports])
def test_pool__member_leaves_its_group_in_the_same_moment__changes_it_no_more(
    town: Town, act: Callable[[Town], object]
) -> None:
    def leaves() -> None:
        assert town.ask(put_document, as_admin(), "group", "qa", {**QA, "members": []}) is not None

    with town.scene.apis[1].appended.preceded(leaves), pytest.raises(NotPermitted):
        act(town)


def test_pool__owner_leaves_its_group_in_the_same_moment__gives_it_to_no_other(town: Town) -> None:
    def leaves() -> None:
        document = {"owners": ["root"], "members": []}
        assert town.ask(put_document, as_admin(), "group", "qa", document) is not None

    with town.scene.apis[1].appended.preceded(leaves), pytest.raises(NotPermitted):
        town.ask(put_document, by("ada"), "pool", "net", {"owner_group": "ops"}, process=1)


def test_system__controller_leaves_the_group_in_the_same_moment__cannot_return_it(town: Town) -> None:
    entries = [{"permission": "control_system", "group": "qa"}]
    town.ask(change_system_policy, as_admin(), "a", entries, None)
    town.happens("system/a", SystemReservationBegun(user="eve", until=None, distro_tree_id=None))
    town.happens("system/a", SystemRunning(recipe_id=None))

    def leaves() -> None:
        assert town.ask(put_document, as_admin(), "group", "qa", {**QA, "members": []}) is not None

    with town.scene.apis[1].appended.preceded(leaves), pytest.raises(Unknown):
        town.ask(return_system, by("bob"), "a", process=1)


def test_user__last_admin_loses_the_role__refused(town: Town) -> None:
    with pytest.raises(Refused, match="no admin who can log in would be left"):
        town.ask(put_document, as_admin(), "user", "root", {"roles": ["submitter"]})
    # A PUT without roles keeps them.
    assert town.ask(put_document, as_admin(), "user", "root", {"email": "root@example.com"}) is not None
    assert town.document_of("user", "root") == {"roles": ["admin"], "email": "root@example.com"}


@pytest.mark.parametrize(
    ("who", "owner", "allowed"), [("bob", "root", True), ("bob", "bob", False), ("root", "bob", True)]
)
def test_system__given_away_by_a_lab_controller__only_by_its_owner(
    town: Town, who: str, owner: str, allowed: bool
) -> None:
    """A lab controller may name the present owner, or, if its user is the owner, another one."""
    request = RequestContext(who, "test", role="lab-controller")
    change = NewSystemValues(owner=owner, condition="Broken", reason="told")
    if not allowed:
        with pytest.raises(NotPermitted, match="only its owner root may give"):
            town.ask(change_own_system, request, LAB, "b", change)
    else:
        assert town.ask(change_own_system, request, LAB, "b", change)
    assert town.state("system/b").owner == (owner if allowed else "root")


@pytest.mark.parametrize(
    ("owner", "is_admin", "allowed"), [("bob", False, True), ("root", False, False), ("root", True, True)]
)
def test_system__registered_by_a_lab_controller__belongs_to_its_user(
    town: Town, owner: str, is_admin: bool, allowed: bool
) -> None:
    request = RequestContext("bob", "test", role="lab-controller", is_admin=is_admin)
    document = {"fqdn": "new", "lab_controller": LAB, "owner": owner, "condition": "Manual", "pools": []}
    asked = (add_or_change_system, request, LAB, NewSystemValues(owner=owner), document)
    if allowed:
        assert town.ask(*asked)
        assert town.state("system/new").owner == owner
    else:
        with pytest.raises(NotPermitted, match="may register only systems that"):
            town.ask(*asked)
        assert town.document_of("system", "new") is None
