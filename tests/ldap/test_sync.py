"""The sync of a real LDAP server with a log on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from api.ldap.errors import LdapFault
from api.ldap.options import LdapServer
from api.ldap.reading import read_people
from api.parts import Parts
from api.use_cases import ldap_sync
from api.use_cases.ldap_sync import LdapSource, apply_sync, last_sync, planned_sync, sync
from api.use_cases.ports import RequestContext
from domain.directory.actors import LDAP_SYNC
from domain.directory.events import (
    GroupChanged,
    PoolAccessPolicyChanged,
    TokenCreated,
    UserChanged,
    UserNotificationsChanged,
    UserPasswordSet,
    UserRegistered,
)
from domain.directory.ldap_people import LdapPeople
from domain.directory.ldap_sync_plan import SyncPlan
from domain.errors import Refused, TooOften
from domain.system.events import SystemAccessPolicyChanged, SystemLoaned, SystemReservationBegun
from store.ldap_sync import LdapSyncLease
from store.notifications import Webhook, store_webhook
from store.passwords import store_hash
from store.requests import Conflict
from tests.harness.running import free_port
from tests.in_process.environment import BEGINNING
from tests.ldap.slapd import HOST, LIMITED, Slapd, group, person
from tests.use_cases.town import Town

REQUEST = RequestContext(LDAP_SYNC, "ldap-sync", is_admin=True)
TABLE = {"kernel": ("qa",)}


class Killed(Exception):
    """The process of the sync ends here."""


def source_of(town: Town, directory: Slapd, **options: Any) -> LdapSource:
    read = partial(read_people, directory.options(group_map=TABLE, **options))
    return LdapSource(read, TABLE, 20, 900.0, LdapSyncLease(town.log))


def asks(
    town: Town, source: LdapSource, use_case: Callable[..., Any], *args: Any, process: int = 0, **more: Any
) -> Any:
    def with_source(services: Parts, *args: Any, **more: Any) -> Any:
        return use_case(replace(services, ldap=source), *args, **more)

    return town.scene.apis[process].ask(lambda services, _: with_source(services, *args, **more))


def syncs(town: Town, directory: Slapd, *, force: bool = False, **options: Any) -> SyncPlan:
    source = source_of(town, directory, **options)
    plan: SyncPlan = asks(town, source, apply_sync, REQUEST, force=force)
    return plan


def test_sync__first_and_second_run__maps_groups_and_then_changes_nothing(
    town: Town, directory: Slapd
) -> None:
    before = town.log.end()
    planned = asks(town, source_of(town, directory), planned_sync)
    assert town.log.end() == before
    plan = syncs(town, directory)
    assert plan == planned
    assert (plan.registered, plan.found, plan.left) == (("ann",), ("bob", "eve", "root"), ())
    # ada, who is not in LDAP, still owns the group.
    assert town.document_of("group", "qa") == {"owners": ["ada"], "members": ["ann"]}
    assert town.document_of("user", "ann") == {"roles": ["submitter"], "email": None, "ldap": "present"}
    assert town.document_of("user", "ada") == {"roles": ["submitter"], "email": None}
    assert town.document_of("user", "zoe") is None
    found, _ = town.log.select(before, town.log.end(), 100)
    assert {recorded.stamp.actor for recorded in found} == {LDAP_SYNC}
    # Users found, users registered, groups.
    assert len({recorded.commit_end for recorded in found}) == 3
    end = town.log.end()
    assert not syncs(town, directory).has_changes
    assert town.log.end() == end
    directory.set(group("kernel"), member=[person("ann"), person("bob")])
    assert syncs(town, directory).memberships[0].added == ("bob",)
    assert town.document_of("group", "qa")["members"] == ["ann", "bob"]


def make_rights(town: Town, user: str) -> None:
    """Give a user a token, a password, memberships, a reservation, a loan, and entries in policies."""
    entries = [{"permission": "view", "user": user}]
    store_hash(town.log, f"p-{user}", user, "a hash")
    store_webhook(town.log, f"w-{user}", user, Webhook("https://example.com", "a secret"))
    for subject, event in (
        (f"token/{user}", TokenCreated(user, "submitter", None, f"d-{user}")),
        (f"user/{user}", UserPasswordSet(f"p-{user}")),
        (f"user/{user}", UserNotificationsChanged(None, [], f"w-{user}")),
        ("group/ops", GroupChanged(owners=["root", user], members=[user])),
        ("pool/net", PoolAccessPolicyChanged(entries=entries)),
        ("system/a", SystemLoaned(user=user, until=None)),
        ("system/b", SystemAccessPolicyChanged(entries=entries, active_pool=None)),
        ("system/b", SystemReservationBegun(user=user, until=None, distro_tree_id=None)),
    ):
        town.happens(subject, event)


def rights(town: Town, user: str) -> list[Any]:
    """Return what is left of `make_rights`; nothing, for a user who has left."""
    directory = town.services().feed.directory
    on_loan, reserved = (town.state(f"system/{fqdn}") for fqdn in ("a", "b"))
    hashes = town.log.rows(b"SELECT hash FROM secret.passwords WHERE user_name = %s", (user,))
    webhooks = town.log.rows(b"SELECT secret FROM secret.webhooks WHERE user_name = %s", (user,))
    ops = town.document_of("group", "ops")
    pool = town.document_of("pool", "net")
    return [
        *directory.roles_of(user),
        *directory.valid_tokens(user, BEGINNING),
        *([directory.credentials.password_of(user)] if directory.credentials.password_of(user) else []),
        *hashes,
        *webhooks,
        *(name for name in (*ops["owners"], *ops["members"]) if name == user),
        *(entry for entry in pool["access_policy"] if entry["user"] == user),
        *([on_loan.loan] if on_loan.loan else []),
        *([reserved.reservation] if reserved.reservation else []),
        *(entry for entry in reserved.access_policy or () if entry.user == user),
    ]


def test_sync__person_left_ldap__loses_all_rights_and_others_keep_theirs(
    town: Town, directory: Slapd
) -> None:
    syncs(town, directory)
    make_rights(town, "eve")
    town.happens("token/bob", TokenCreated("bob", "submitter", None, "d-bob"))
    assert len(rights(town, "eve")) == 11
    directory.delete(person("eve"))
    # The last admin who can log in stays.
    directory.delete(person("root"))
    plan = syncs(town, directory)
    assert (plan.left, plan.kept) == (("eve",), ("root",))
    assert rights(town, "eve") == []
    assert town.document_of("user", "eve") == {"roles": [], "email": None, "ldap": "left"}
    directory_now = town.services().feed.directory
    assert directory_now.token("d-eve", BEGINNING) is None
    assert directory_now.token("d-bob", BEGINNING) is not None
    assert directory_now.roles_of("root") == ("admin",)
    end = town.log.end()
    assert syncs(town, directory).left == ()
    assert town.log.end() == end
    directory.add_person("eve")
    assert syncs(town, directory).found == ("eve",)
    assert rights(town, "eve") == ["submitter"]


def test_sync__killed_after_each_commit__the_next_ones_complete_it(
    town: Town, directory: Slapd, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs(town, directory)
    make_rights(town, "eve")
    directory.delete(person("eve"))
    for name in ("zoe", "new"):
        town.happens(f"user/{name}", UserRegistered())
    directory.add_person("new")
    directory.add_person("mia")
    directory.set(group("kernel"), member=[person("zoe"), person("mia")])
    with monkeypatch.context() as patched:
        bound = OneCommit()
        for name in ("commit", "commit_aggregates"):
            patched.setattr(ldap_sync, name, partial(bound.run, getattr(ldap_sync, name)))
        kills = 0
        while bound.is_exceeded:
            bound.reset()
            with suppress(Killed):
                syncs(town, directory)
            kills += bound.is_exceeded
    # After people who left, their systems, people found, and people registered: groups are the last commit.
    assert kills == 4
    assert rights(town, "eve") == []
    assert town.document_of("group", "qa")["members"] == ["mia", "zoe"]
    assert {town.document_of("user", name).get("ldap") for name in ("new", "mia", "zoe")} == {"present"}
    end = town.log.end()
    assert not syncs(town, directory).has_changes
    assert town.log.end() == end


def test_sync__killed_after_people_left__the_next_one_deletes_their_secrets(
    town: Town, directory: Slapd, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> None:
        raise Killed

    syncs(town, directory)
    make_rights(town, "eve")
    directory.delete(person("eve"))
    with monkeypatch.context() as patched:
        patched.setattr(ldap_sync, "delete_stale_hashes", die)
        with pytest.raises(Killed):
            syncs(town, directory)
    assert syncs(town, directory).left == ()
    assert rights(town, "eve") == []


class OneCommit:
    """Lets one commit of a sync succeed, and ends the sync at the next one."""

    def __init__(self) -> None:
        self.is_exceeded = True
        self._done_count = 0

    def reset(self) -> None:
        self.is_exceeded, self._done_count = False, 0

    async def run(self, use_case: Callable[..., Any], *args: Any) -> Any:
        if self._done_count:
            self.is_exceeded = True
            raise Killed
        done = await use_case(*args)
        self._done_count += done is not None
        return done


def test_sync__incomplete_answer_or_many_leavers__changes_nothing_and_is_recorded(
    town: Town, directory: Slapd
) -> None:
    syncs(town, directory)
    for number in range(6):
        town.happens(f"user/u{number}", UserRegistered())
        directory.add_person(f"u{number}")
    syncs(town, directory)
    end = town.log.end()
    away = (LdapServer(HOST, free_port(), False, True),)
    for options in ({"bind_dn": LIMITED}, {"servers": away}, {"user_filter": "(uid=nobody)"}):
        source = source_of(town, directory, **options)
        with pytest.raises(LdapFault) as fault:
            asks(town, source, sync, REQUEST, force=True, is_asked=True)
        last = asks(town, source, last_sync)
        assert (last.fault, last.is_running) == (str(fault.value), False)
    for number in range(6):
        directory.delete(person(f"u{number}"))
    source = source_of(town, directory)
    with pytest.raises(Refused, match=r"6 of 10 people would lose rights, more than 5; .* --force"):
        asks(town, source, sync, REQUEST, force=False, is_asked=True)
    assert town.log.end() == end
    plan = asks(town, source, sync, REQUEST, force=True, is_asked=True)
    assert len(plan.left) == 6
    last = asks(town, source, last_sync)
    assert last.fault is None and last.seconds_ago is not None and last.counts["left"] == 6


def test_lease__another_process_has_it__is_not_acquired_by_the_loop_and_refused_to_people(
    town: Town, directory: Slapd
) -> None:
    mine, other = source_of(town, directory), LdapSyncLease(town.log)
    reset = b"UPDATE live.ldap_sync SET due_at = '-infinity', held_until = '-infinity' RETURNING holder"
    town.log.rows(reset, ())
    holder = other.acquire(is_asked=False)
    assert holder is not None
    assert asks(town, mine, sync, REQUEST, force=False, is_asked=False) is None
    with pytest.raises(Refused, match="another LDAP sync is running"):
        asks(town, mine, sync, REQUEST, force=False, is_asked=True)
    other.release(holder, 900.0, None, {})
    # Not due yet, but a person may ask.
    assert asks(town, mine, sync, REQUEST, force=False, is_asked=False) is None
    assert asks(town, mine, sync, REQUEST, force=False, is_asked=True).has_changes


def test_sync__another_process_has_acquired_the_lease_during_the_read__changes_nothing(
    town: Town, directory: Slapd
) -> None:
    # It may be a sync of the same process, too.
    source = source_of(town, directory)
    other = source.lease
    town.log.rows(b"UPDATE live.ldap_sync SET held_until = '-infinity' RETURNING holder", ())

    holders: list[str | None] = []

    def read_slowly() -> LdapPeople:
        town.log.rows(b"UPDATE live.ldap_sync SET held_until = '-infinity' RETURNING holder", ())
        holders.append(other.acquire(is_asked=True))
        return source.read()

    end = town.log.end()
    with pytest.raises(Refused, match="another process may sync now"):
        asks(town, replace(source, read=read_slowly), sync, REQUEST, force=False, is_asked=True)
    assert holders[0] is not None
    assert town.log.end() == end and other.is_held(holders[0])


@pytest.mark.parametrize(
    ("error", "fault", "seconds"),
    [
        (Killed(), "interrupted", 60),
        (Conflict("busy"), "busy", 60),
        (TooOften("too many", 5), "too many", 60),
        (LdapFault("away"), "away", 900),
    ],
)
def test_sync__interrupted__is_due_again_soon(
    town: Town,
    directory: Slapd,
    error: Exception,
    fault: str,
    seconds: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def interrupt() -> LdapPeople:
        raise error

    town.log.rows(b"UPDATE live.ldap_sync SET held_until = '-infinity' RETURNING holder", ())
    source = replace(source_of(town, directory), read=interrupt)
    with pytest.raises(type(error)):
        asks(town, source, sync, REQUEST, force=False, is_asked=True)
    due = b"SELECT fault, 60 * ceil(extract(epoch FROM due_at - now()) / 60)::integer FROM live.ldap_sync"
    assert [*town.log.rows(due, ())] == [(fault, seconds)]
    # Nobody else logs them; those of LDAP are in the log of the loop.
    assert [each.message for each in caplog.records if each.name.endswith("ldap_sync")] == (
        [f"LDAP sync: {fault}"] if isinstance(error, Conflict | TooOften) else []
    )


def test_sync__user_changed_by_an_admin_after_leaving__stays_as_the_admin_wants(
    town: Town, directory: Slapd
) -> None:
    syncs(town, directory)
    directory.delete(person("eve"))
    syncs(town, directory)
    town.happens("user/eve", UserChanged(roles=["submitter"]))
    make_rights(town, "eve")
    end = town.log.end()
    assert not syncs(town, directory).has_changes
    assert town.log.end() == end
