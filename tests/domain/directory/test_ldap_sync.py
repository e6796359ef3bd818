"""The plan of an LDAP sync, and its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from domain.admission.configuration import configuration_to_json, stored_configuration
from domain.directory import events as directory_events
from domain.directory import partition_queues
from domain.directory.ldap_people import LdapPeople
from domain.directory.ldap_sync_events import (
    LEFT_LDAP,
    MembershipChange,
    find_in_ldap,
    has_left,
    leave_ldap,
    register_people,
    set_members,
)
from domain.directory.ldap_sync_plan import SyncPlan, plan_sync, require_few
from domain.directory.state import Directory
from domain.errors import Refused
from domain.events import Decided
from tests.domain.directory.documents import NOW, apply, directory_with

TABLE = {"kernel": ["qa", "dev"], "tools": ["dev"]}


@pytest.fixture
def directory() -> Directory:
    """Ada is the admin, and not in LDAP; bob, cleo and dan are managed, eve is not yet."""
    made = directory_with(
        ("user/ada", {"roles": ["admin"]}),
        *((f"user/{name}", {}) for name in ("bob", "cleo", "dan", "eve")),
        ("group/qa", {"owners": ["bob"], "members": ["ada", "bob"]}),
        ("group/dev", {"owners": ["ada"], "members": ["bob", "cleo"]}),
        ("group/free", {"owners": [], "members": ["bob"]}),
    )
    for name in ("bob", "cleo", "dan"):
        apply(made, f"user/{name}", directory_events.UserFoundInLdap(), 2)
    apply(made, "token/a", directory_events.TokenCreated("ada", "admin", None, "a"))
    apply(made, "token/b", directory_events.TokenCreated("bob", "submitter", None, "b"))
    apply(made, "user/bob", directory_events.UserPasswordSet("p1"), 3)
    return made


def apply_decided(directory: Directory, decided: Decided) -> None:
    for subject, event in decided:
        apply(directory, subject, event, directory.version(subject) + 1)


def apply_plan(directory: Directory, plan: SyncPlan) -> None:
    apply_decided(directory, leave_ldap(directory, plan.left)[0])
    apply_decided(directory, find_in_ldap(directory, plan.found))
    apply_decided(directory, register_people(directory, plan.registered))
    apply_decided(directory, set_members(directory, plan.memberships))


def people(members: Mapping[str, str], users: str = "") -> LdapPeople:
    found = {group: frozenset(names.split()) for group, names in members.items()}
    return LdapPeople(frozenset(users.split()).union(*found.values()), found)


def test_plan__all_kinds_of_differences__after_them_nothing_is_left_to_do(directory: Directory) -> None:
    content = people({"kernel": "cleo zoe", "tools": "dan"}, "cleo dan eve yan")
    plan = plan_sync(directory, content, TABLE)
    assert (plan.registered, plan.found, plan.left) == (("zoe",), ("eve",), ("bob",))
    # bob leaves the groups with all other rights, ada was added by hand, and yan is in no group of the table.
    assert plan.memberships == (
        MembershipChange("dev", ("dan", "zoe"), ("bob",)),
        MembershipChange("qa", ("cleo", "zoe"), ("bob",)),
    )
    assert plan.losing == {"bob"} and plan.has_changes
    apply_plan(directory, plan)
    groups = {name: entry.document for name, entry in directory.items("group")}
    assert groups["qa"] == {"owners": [], "members": ["ada", "cleo", "zoe"]}
    assert groups["dev"] == {"owners": ["ada"], "members": ["cleo", "dan", "zoe"]}
    assert groups["free"] == {"owners": [], "members": []}
    assert directory.roles_of("zoe") == ("submitter",)
    again = plan_sync(directory, content, TABLE)
    assert not again.has_changes and not again.losing
    assert again.managed_count == 4


def test_leaver__events__end_roles_tokens_and_password_and_a_return_brings_none_back(
    directory: Directory,
) -> None:
    decided, admins = leave_ldap(directory, ["bob"])
    assert decided[-2:] == [
        ("token/b", directory_events.TokenRevoked(reason=LEFT_LDAP)),
        ("user/bob", directory_events.UserLeftLdap(reason=LEFT_LDAP)),
    ]
    assert admins == ()
    apply_decided(directory, decided)
    assert directory.roles_of("bob") == () and has_left(directory, "bob")
    assert directory.credentials.password_of("bob") is None and not list(directory.tokens_of("bob"))
    # A login that was decided on before, and appended after.
    apply(directory, "token/late", directory_events.TokenCreated("bob", "submitter", None, "late"))
    assert not directory.is_valid_token("late", NOW)
    apply_decided(directory, find_in_ldap(directory, ["bob"]))
    assert directory.roles_of("bob") == ("submitter",) and not has_left(directory, "bob")
    assert directory.credentials.password_of("bob") is None
    assert find_in_ldap(directory, ["bob"]) == []


def test_plan__user_comes_back_whom_a_queue_names__has_no_role_until_it_does_not(
    directory: Directory,
) -> None:
    content = people({"kernel": "bob cleo"}, "bob cleo dan")
    configure(directory, "bob", "eve")
    apply_decided(directory, leave_ldap(directory, ["bob"])[0])
    plan = plan_sync(directory, content, TABLE)
    # eve never left.
    assert (plan.found, plan.refused) == ((), ("bob",))
    assert not any("bob" in change.added for change in plan.memberships)
    assert find_in_ldap(directory, ["bob"]) == []
    assert plan_sync(directory, people({}, "bob cleo dan eve"), TABLE).found == ("eve",)
    configure(directory, "eve")
    plan = plan_sync(directory, content, TABLE)
    assert (plan.found, plan.refused) == (("bob",), ())
    apply_plan(directory, plan)
    assert directory.roles_of("bob") == ("submitter",)
    assert "bob" in directory.people_of("qa")


def test_find__user_whom_an_admin_has_blocked__keeps_no_roles(directory: Directory) -> None:
    apply(directory, "user/eve", directory_events.UserChanged(roles=[]), 2)
    apply_decided(directory, find_in_ldap(directory, ["eve"]))
    assert directory.roles_of("eve") == ()


def test_plan__groups_absent_here_or_in_ldap__leave_memberships_as_they_are(directory: Directory) -> None:
    plan = plan_sync(directory, people({"kernel": "bob"}, "bob cleo dan"), {**TABLE, "all": ["nothere"]})
    assert (plan.missing_groups, plan.absent_groups) == (("nothere",), ("all", "tools"))
    # `dev` has members from `tools`, too, which LDAP does not have now.
    assert plan.memberships == ()


def test_plan__group_without_members_in_ldap__is_emptied_by_force_only(directory: Directory) -> None:
    content = replace(people({"kernel": "", "tools": "cleo"}, "bob cleo dan"), hollow=frozenset({"kernel"}))
    plan = plan_sync(directory, content, TABLE)
    # `dev` has members by `tools`, too, so LDAP shows who they are.
    assert plan.absent_groups == ("kernel",)
    assert [(change.group, change.removed) for change in plan.memberships] == [("dev", ("bob",))]
    plan = plan_sync(directory, content, TABLE, force=True)
    assert plan.absent_groups == ()
    assert [(change.group, change.removed) for change in plan.memberships] == [
        ("dev", ("bob",)),
        ("qa", ("bob",)),
    ]
    apply_plan(directory, plan)
    # Nobody would lose a membership, also not one who leaves LDAP: no reason to warn.
    assert plan_sync(directory, content, TABLE).absent_groups == ()
    apply(directory, "group/qa", directory_events.GroupChanged(owners=[], members=["dan"]), 5)
    left = plan_sync(directory, replace(content, users=frozenset({"bob", "cleo"})), TABLE)
    assert (left.absent_groups, left.left) == ((), ("dan",))


def test_plan__name_that_cannot_be_a_user__is_refused(directory: Directory) -> None:
    content = LdapPeople(frozenset({"bob", "cleo", "dan"}), {"kernel": frozenset()}, frozenset({"a b"}))
    assert plan_sync(directory, content, TABLE).refused == ("a b",)


def test_plan__user_whom_an_admin_has_removed__is_not_registered_again(directory: Directory) -> None:
    apply(directory, "user/dan", directory_events.UserRemoved(), 3)
    plan = plan_sync(directory, people({"kernel": "dan bob", "tools": ""}, "bob cleo dan"), TABLE)
    assert (plan.registered, plan.refused) == ((), ("dan",))
    assert not any("dan" in change.added for change in plan.memberships)


def test_plan__two_people_of_ldap_who_differ_by_case__are_never_one_user(directory: Directory) -> None:
    plan = plan_sync(directory, people({"kernel": "BOB bob", "tools": ""}, "BOB bob cleo dan"), TABLE)
    assert plan.refused == ("BOB",) and "bob" not in plan.left
    plan = plan_sync(directory, people({"kernel": "BOB", "tools": ""}, "BOB Bob cleo dan"), TABLE)
    assert "bob" in plan.left


def test_plan__name_of_a_user_in_other_case__is_that_user(directory: Directory) -> None:
    plan = plan_sync(directory, people({"kernel": "Eve Bob", "tools": "Zoe"}, "Bob CLEO dan"), TABLE)
    assert (plan.registered, plan.found, plan.left, plan.refused) == (("Zoe",), ("eve",), (), ())
    assert plan.memberships == (
        MembershipChange("dev", ("Zoe", "eve"), ("cleo",)),
        MembershipChange("qa", ("eve",), ()),
    )


def configure(directory: Directory, *submitters: str) -> None:
    """Let people submit to the queues of `default`, and no others."""
    stored = configuration_to_json(stored_configuration({"queues": {"submit": {"users": list(submitters)}}}))
    version = directory.version("partition/default") + 1
    apply(directory, "partition/default", directory_events.PartitionConfigured(stored), version)


def test_plan__new_names_of_queues__are_refused_by_one_walk_over_the_queues(
    directory: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(directory, "zoe")
    walks: list[str] = []

    original = partition_queues.partition_queues

    def counted(directory: Directory, name: str) -> partition_queues.PartitionQueues:
        walks.append(name)
        return original(directory, name)

    monkeypatch.setattr(partition_queues, "partition_queues", counted)
    plan = plan_sync(directory, people({"kernel": "zoe yan mia"}, "bob cleo dan"), TABLE)
    assert (plan.registered, plan.refused) == (("mia", "yan"), ("zoe",))
    assert walks == ["default"]


def test_plan__names_that_are_equal_but_for_case__are_not_registered(directory: Directory) -> None:
    # Of former times, when both could be registered.
    apply(directory, "user/EVE", directory_events.UserRegistered())
    content = people({"kernel": "Eve eve", "tools": "Zoe zoe yan"}, "bob cleo dan")
    plan = plan_sync(directory, content, TABLE)
    assert (plan.registered, plan.found, plan.refused) == (("yan",), ("eve",), ("Eve", "Zoe", "zoe"))
    assert {name for change in plan.memberships for name in change.added} == {"yan", "eve"}


def test_last_admin__left_ldap__stays_until_there_is_another(directory: Directory) -> None:
    apply(directory, "user/ada", directory_events.UserFoundInLdap(), 2)
    plan = plan_sync(directory, people({}, "bob cleo dan"), TABLE)
    assert (plan.left, plan.kept) == ((), ("ada",))
    with pytest.raises(Refused, match="no admin"):
        leave_ldap(directory, ["ada"])
    apply(directory, "token/e", directory_events.TokenCreated("eve", "admin", None, "e"))
    apply(directory, "user/eve", directory_events.UserChanged(roles=["admin"]), 2)
    plan = plan_sync(directory, people({}, "bob cleo dan"), TABLE)
    assert (plan.left, plan.kept) == (("ada",), ())
    assert leave_ldap(directory, ["ada"])[1] == ("user/eve", "token/e")


@pytest.mark.parametrize(
    ("leaving", "percent", "is_refused"),
    # Five may always leave; of 40, 20 % are 8.
    [(5, 0, False), (6, 0, True), (8, 20, False), (9, 20, True)],
)
def test_share__of_people_who_lose_rights__bounds_a_sync(
    leaving: int, percent: int, is_refused: bool
) -> None:
    names = [f"u{number}" for number in range(40)]
    directory = directory_with(
        ("user/ada", {"roles": ["admin"]}),
        *((f"user/{name}", {}) for name in names),
        ("group/qa", {"owners": [], "members": names}),
    )
    for name in names:
        apply(directory, f"user/{name}", directory_events.UserFoundInLdap(), 2)
    # Half of them leave LDAP, the others only the group.
    gone, lost = names[: leaving // 2], names[:leaving]
    content = people({"kernel": " ".join(set(names) - set(lost))}, " ".join(set(names) - set(gone)))
    plan = plan_sync(directory, content, {"kernel": ["qa"]})
    assert plan.losing == set(lost)
    if is_refused:
        with pytest.raises(Refused, match=f"{leaving} of 40 people would lose rights"):
            require_few(plan, percent)
    else:
        require_few(plan, percent)
