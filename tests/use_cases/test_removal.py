"""Removal of named objects: added again, and concurrent with requests that name them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.use_cases.change_partition import configure_partition
from api.use_cases.change_system import NewSystemValues, change_system, register_system
from api.use_cases.move_system import move_system
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.remove_lab import remove_lab
from api.use_cases.reserve_system import ReservationRequest, reserve_system
from api.use_cases.tokens import create_token
from domain.admission.configuration import stored_configuration
from domain.errors import FaultyInput, NotPermitted, Refused, Stale, Unknown
from tests.use_cases.town import LAB, OTHER_LAB, TREE, Town, as_admin, by

REMOVED = NewSystemValues(condition="Removed", reason="sold")


def anybody(_: object) -> None:
    """Permit the change: these tests are not about permissions."""


def test_user__removed__is_gone_from_groups_with_its_tokens_in_one_commit(town: Town) -> None:
    _, token_id, before = town.ask(create_token, by("bob"), "bob", "submitter", None)
    done = town.ask(remove_document, as_admin(), "user", "bob")
    assert done is not None
    assert town.since(before) == [
        ("group/qa", "group.changed"),
        (f"token/{token_id}", "token.revoked"),
        ("user/bob", "user.removed"),
    ]
    assert done.position == before + 3
    assert town.document_of("user", "bob") is None
    assert town.ask(remove_document, as_admin(), "user", "bob") is None
    assert town.ask(put_document, as_admin(), "user", "bob", {}) is not None
    assert town.document_of("user", "bob") == {"roles": ["submitter"]} | {"email": None}


def test_user__owns_a_system__refused_until_it_is_given_away(town: Town) -> None:
    gift = NewSystemValues(owner="eve")
    town.ask(change_system, as_admin(), "b", gift, anybody)
    with pytest.raises(Refused, match="user eve owns b;"):
        town.ask(remove_document, as_admin(), "user", "eve")
    town.ask(change_system, as_admin(), "b", NewSystemValues(owner="root"), anybody)
    assert town.ask(remove_document, as_admin(), "user", "eve") is not None


@pytest.mark.parametrize(("kind", "name"), [("group", "qa"), ("lab-controller", LAB), ("user", "root")])
def test_name__still_needed__refused_and_nothing_changes(town: Town, kind: str, name: str) -> None:
    before = town.log.end()
    with pytest.raises(Refused):
        town.ask(remove_document, as_admin(), kind, name)
    assert town.log.end() == before


def test_pool__removed__has_no_systems_and_other_pools_get_no_events(town: Town) -> None:
    before = town.log.end()
    town.ask(remove_document, as_admin(), "pool", "net")
    assert town.since(before) == [("pool/net", "pool.system-removed"), ("pool/net", "pool.removed")]
    with pytest.raises(Unknown):
        town.ask(move_system, as_admin(), "net", "a", member=True)
    with pytest.raises(FaultyInput, match='no pool "net"'):
        document = {"fqdn": "c", "lab_controller": LAB, "owner": "root", "condition": "Manual"}
        town.ask(register_system, as_admin(), {**document, "pools": ["net"]})
    assert town.ask(remove_document, as_admin(), "group", "qa") is not None


def test_lab_controller__removed_by_force__its_systems_are_removed_before(town: Town) -> None:
    _, token_id, before = town.ask(create_token, as_admin(), "root", "lab-controller", LAB)
    done = town.ask(remove_lab, as_admin(), LAB, force=True)
    assert done is not None and done.position == town.log.end()
    assert town.document_of("lab-controller", LAB) is None
    assert {town.state(f"system/{fqdn}").condition for fqdn in ("a", "b")} == {"Removed"}
    assert town.since(before)[-2:] == [
        (f"token/{token_id}", "token.revoked"),
        (f"lab-controller/{LAB}", "lab-controller.removed"),
    ]
    assert town.ask(remove_lab, as_admin(), LAB, force=True) is None


@pytest.mark.parametrize(
    ("request_of", "refusal"), [(as_admin(expected=frozenset({99})), Stale), (by("eve"), NotPermitted)]
)
def test_lab_controller__removal_by_force_is_refused__no_system_is_removed(
    town: Town, request_of: RequestContext, refusal: type[Exception]
) -> None:
    before = town.log.end()
    with pytest.raises(refusal):
        town.ask(remove_lab, request_of, LAB, force=True)
    assert town.log.end() == before


def test_lab_controller__named_by_a_configuration__is_not_removed_by_force(town: Town) -> None:
    wanted = stored_configuration({"lab_controllers": [LAB]})
    town.ask(configure_partition, as_admin(), "default", wanted)
    before = town.log.end()
    with pytest.raises(Refused, match="drop it there first"):
        town.ask(remove_lab, as_admin(), LAB, force=True)
    assert town.log.end() == before


def test_lab_controller__systems_removed__goes_and_they_cannot_come_back_to_it(town: Town) -> None:
    for fqdn in ("a", "b"):
        town.ask(change_system, as_admin(), fqdn, REMOVED, anybody)
    assert town.ask(remove_document, as_admin(), "lab-controller", LAB) is not None
    back = NewSystemValues(condition="Automated", reason="found")
    with pytest.raises(Refused, match="lab-1 was removed"):
        town.ask(change_system, as_admin(), "a", back, anybody)
    elsewhere = NewSystemValues(condition="Manual", reason="found", lab_controller=OTHER_LAB)
    assert town.ask(change_system, as_admin(), "a", elsewhere, anybody) is not None
    # A removed system may still change.
    assert town.ask(change_system, as_admin(), "b", NewSystemValues(owner="eve"), anybody) is not None


def test_distro_tree__removed_and_put_again__has_a_new_history(town: Town) -> None:
    assert town.ask(remove_document, as_admin(), "distro-tree", "1") is not None
    assert town.document_of("distro-tree", "1") is None
    assert town.ask(remove_document, as_admin(), "distro-tree", "1") is None
    before = town.log.end()
    assert town.ask(put_document, as_admin(expected=frozenset({0})), "distro-tree", "1", TREE) is not None
    assert town.since(before) == [("distro-tree/1", "distro-tree.registered")]
    assert town.document_of("distro-tree", "1") == TREE


def test_name__never_registered__unknown_and_only_admins_remove(town: Town) -> None:
    with pytest.raises(Unknown):
        town.ask(remove_document, as_admin(), "user", "mallory")
    with pytest.raises(NotPermitted):
        town.ask(remove_document, by("ada"), "group", "qa")


def test_name__stale_if_match__stays(town: Town) -> None:
    with pytest.raises(Stale):
        town.ask(remove_document, as_admin(expected=frozenset({2})), "user", "eve")
    assert town.ask(remove_document, as_admin(expected=frozenset({1})), "user", "eve") is not None


# Races: the other process has decided before the removal, and appends after it.

NAMING: list[tuple[str, str, Callable[[Town], object]]] = [
    (
        "distro-tree",
        "1",
        lambda town: town.ask(
            reserve_system, as_admin(), "a", ReservationRequest("root", None, 1), process=1
        ),
    ),
    (
        "user",
        "eve",
        lambda town: town.ask(
            put_document, as_admin(), "group", "ops", {"owners": ["eve"], "members": []}, process=1
        ),
    ),
    (
        "user",
        "eve",
        lambda town: town.ask(
            change_system, as_admin(), "a", NewSystemValues(owner="eve"), anybody, process=1
        ),
    ),
    (
        "group",
        "ops",
        lambda town: town.ask(put_document, as_admin(), "pool", "net", {"owner_group": "ops"}, process=1),
    ),
    ("pool", "net", lambda town: town.ask(move_system, as_admin(), "net", "b", member=True, process=1)),
    (
        "lab-controller",
        OTHER_LAB,
        lambda town: town.ask(
            change_system, as_admin(), "a", NewSystemValues(lab_controller=OTHER_LAB), anybody, process=1
        ),
    ),
    (
        "lab-controller",
        OTHER_LAB,
        lambda town: town.ask(
            register_system,
            as_admin(),
            {"fqdn": "c", "lab_controller": OTHER_LAB, "owner": "root", "condition": "Manual", "pools": []},
            process=1,
        ),
    ),
]


@pytest.mark.parametrize(("kind", "name", "names_it"), NAMING)
def test_name__removed_while_somebody_names_it__is_unknown_to_them(
    town: Town, kind: str, name: str, names_it: Callable[[Town], object]
) -> None:
    def goes() -> None:
        assert town.ask(remove_document, as_admin(), kind, name) is not None

    with town.scene.apis[1].appended.preceded(goes), pytest.raises((FaultyInput, Unknown)):
        names_it(town)


def test_lab_controller__system_comes_back_in_the_same_moment__one_of_both(town: Town) -> None:
    for fqdn in ("a", "b"):
        town.ask(change_system, as_admin(), fqdn, REMOVED, anybody)
    back = NewSystemValues(condition="Manual", reason="found")

    def comes_back() -> None:
        assert town.ask(change_system, as_admin(), "a", back, anybody) is not None

    town.scene.apis[1].catch_up()
    with town.scene.apis[1].appended.preceded(comes_back), pytest.raises(Refused, match="has a;"):
        town.ask(remove_document, as_admin(), "lab-controller", LAB, process=1)


def test_removal__while_a_scheduler_follows__its_directory_drops_them(town: Town) -> None:
    scheduler = town.scene.scheduler
    scheduler.begin()
    for fqdn in ("a", "b"):
        town.ask(
            change_system, as_admin(), fqdn, NewSystemValues(condition="Automated", reason="new"), anybody
        )
    scheduler.settle()
    town.ask(remove_document, as_admin(), "pool", "net")
    scheduler.settle()
    assert scheduler.partition.directory.pools_of("a") == ()
    for fqdn in ("a", "b"):
        town.ask(change_system, as_admin(), fqdn, REMOVED, anybody)
    town.ask(remove_document, as_admin(), "lab-controller", LAB)
    scheduler.settle()
    assert not scheduler.partition.directory.is_enabled(LAB)
    town.scene.watched.at_rest()
    # The next scheduler starts from the snapshot of this one, or reads the whole log.
    scheduler.leave()
    left = scheduler.snapshots.load()
    assert left.position == scheduler.partition.position
    assert left.directory.plain() == town.scene.watched.folded().directory.plain()


def test_name__removed_through_another_process_and_put_as_it_was__is_there_again(town: Town) -> None:
    """This process may not have the removal yet, and must not skip the change as without effect."""
    document = town.document_of("group", "ops")
    for _ in range(5):
        assert town.ask(remove_document, as_admin(), "group", "ops", process=1) is not None
        assert town.ask(put_document, as_admin(), "group", "ops", document) is not None
