"""The LDAP sync: people, memberships, and the rights of people who have left, as LDAP has them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from api.ldap.errors import LdapFault
from api.use_cases.choose_notifications import delete_former_webhooks
from api.use_cases.commit import append_for, commit, commit_aggregates, wait_until_reflected
from api.use_cases.ports import PasswordParts, RequestContext
from domain.batches import batches
from domain.directory.external_groups import GroupMap
from domain.directory.ldap_people import LdapPeople
from domain.directory.ldap_sync_events import (
    LEFT_LDAP,
    find_in_ldap,
    has_left,
    is_managed,
    leave_ldap,
    register_people,
    set_members,
)
from domain.directory.ldap_sync_plan import SyncPlan, plan_sync, require_few
from domain.directory.state import Directory
from domain.errors import LabledgerError, Refused
from domain.events import Decided
from domain.read_set import ReadSet
from domain.system_admin.policy import remove_users
from store.ldap_sync import LastSync, LdapSyncLease, users_with_secrets
from store.passwords import delete_stale_hashes
from store.requests import AppendRequest

# Each person who leaves may have many tokens and be in many groups.
LEAVING_PER_COMMIT: Final = 50
SYSTEMS_PER_COMMIT: Final = 50
PEOPLE_PER_COMMIT: Final = 500
GROUPS_PER_COMMIT: Final = 50
# After a restart or a fault of the service in the middle of a sync, people who have left must not keep their
# rights until the next regular one.
INTERRUPTED_SECONDS: Final = 30.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LdapSource:
    """LDAP as configured: `read` returns its content, or raises LdapFault. It blocks."""

    read: Callable[[], LdapPeople]
    group_map: GroupMap
    max_removed_percent: int
    sync_seconds: float
    lease: LdapSyncLease


class LdapParts(PasswordParts, Protocol):
    """Parts of the LDAP sync; `ldap` is None if none is configured."""

    @property
    def ldap(self) -> LdapSource | None: ...


def source_of(parts: LdapParts) -> LdapSource:
    """Return the source. Raises Refused if none is configured."""
    if parts.ldap is None:
        raise Refused("no LDAP is configured; set LABLEDGER_LDAP_URLS for labledger serve")
    return parts.ldap


async def planned_sync(parts: LdapParts, *, force: bool = False) -> SyncPlan:
    """Return what a sync would change now. Raises Refused without LDAP, and LdapFault."""
    return await _plan(parts, source_of(parts), force=force)


async def sync(parts: LdapParts, request: RequestContext, *, force: bool, is_asked: bool) -> SyncPlan | None:
    """Sync under the lease; return the changes, None if no sync is due.

    Raises Refused without LDAP, if a person asks while another sync runs, and without `force` for too many
    people who would lose rights; raises LdapFault. The result is stored, also that of a failure.
    """
    source = source_of(parts)
    holder = await asyncio.to_thread(source.lease.acquire, is_asked=is_asked)
    if holder is None:
        if is_asked:
            raise Refused("another LDAP sync is running")
        return None
    fault: str | None = "interrupted"
    next_seconds, counts = INTERRUPTED_SECONDS, dict[str, int]()
    try:
        plan = await apply_sync(parts, request, force=force, may_commit=partial(source.lease.is_held, holder))
        fault, next_seconds, counts = None, source.sync_seconds, _counts(plan)
    except (LdapFault, Refused) as error:
        fault, next_seconds = str(error), source.sync_seconds
        raise
    except LabledgerError as error:
        fault = str(error)
        logger.warning("LDAP sync: %s", error)
        raise
    finally:
        await asyncio.to_thread(source.lease.release, holder, next_seconds, fault, counts)
    return plan


async def last_sync(parts: LdapParts) -> LastSync:
    return await asyncio.to_thread(LdapSyncLease(parts.log).last)


async def apply_sync(
    parts: LdapParts, request: RequestContext, *, force: bool, may_commit: Callable[[], bool] = lambda: True
) -> SyncPlan:
    """Read LDAP, commit all changes and return them. Raises Refused and LdapFault before the first commit.

    `may_commit` is called after the read, in a thread; if it returns False, another process syncs by now.

    A sync that was killed is completed by the next one: each commit is whole, people who have left come
    first, and every sync ends what people who have left still have beside the directory.
    """
    source = source_of(parts)
    plan = await _plan(parts, source, force=force)
    if not force:
        require_few(plan, source.max_removed_percent)
    if not await asyncio.to_thread(may_commit):
        raise Refused("the read of LDAP took so long that another process may sync now")
    request = replace(request, command_id=None, expected=None)
    for names in batches(plan.left, LEAVING_PER_COMMIT):
        await _leave(parts, request, names)
    await _delete_secrets(parts)
    await _end_use_of_systems(parts, request)
    for names in batches(plan.found, PEOPLE_PER_COMMIT):
        await _commit(parts, request, partial(find_in_ldap, names=names))
    for names in batches(plan.registered, PEOPLE_PER_COMMIT):
        await _commit(parts, request, partial(register_people, names=names))
    for changes in batches(plan.memberships, GROUPS_PER_COMMIT):
        joining = [f"user/{name}" for change in changes for name in change.added]
        await _commit(parts, request, partial(set_members, changes=changes), joining)
    return plan


async def _plan(parts: LdapParts, source: LdapSource, *, force: bool) -> SyncPlan:
    people = await asyncio.to_thread(source.read)
    await parts.feed.catch_up()
    return plan_sync(parts.feed.directory, people, source.group_map, force=force)


async def _leave(parts: LdapParts, request: RequestContext, names: Sequence[str]) -> None:
    admins: tuple[str, ...] = ()

    def decide(directory: Directory) -> Decided:
        nonlocal admins
        present = [name for name in names if is_managed(directory, name)]
        decided, admins = leave_ldap(directory, present)
        return decided

    await _commit(parts, request, decide, lambda: admins)


def _people_who_left(directory: Directory) -> list[str]:
    return [name for name, _ in directory.items("user") if has_left(directory, name)]


async def _delete_secrets(parts: LdapParts) -> None:
    """Delete the passwords and webhooks of all people who have left: a sync may have ended before that."""
    users = _people_who_left(parts.feed.directory)
    for name in await asyncio.to_thread(users_with_secrets, parts.log, users) if users else ():
        await asyncio.to_thread(delete_stale_hashes, parts.log, name)
        await asyncio.to_thread(delete_former_webhooks, parts.log, name)


async def _end_use_of_systems(parts: LdapParts, request: RequestContext) -> None:
    """End loans, reservations and entries in policies of all people who have left."""
    users = _people_who_left(parts.feed.directory)
    fqdns = parts.feed.visibility.systems_naming(frozenset(users)) if users else ()
    for batch in batches(sorted(fqdns), SYSTEMS_PER_COMMIT):

        def decide(gathered: ReadSet, batch: Sequence[str] = batch) -> Decided:
            systems = (gathered.system(fqdn) for fqdn in batch)
            return [
                change
                for system in systems
                if system is not None
                for change in remove_users(system, users, LEFT_LDAP)
            ]

        subjects = [f"system/{fqdn}" for fqdn in batch]
        await wait_until_reflected(parts, await commit_aggregates(parts, request, subjects, decide))


async def _commit(
    parts: LdapParts,
    request: RequestContext,
    decide: Callable[[Directory], Decided],
    also_used: Sequence[str] | Callable[[], Sequence[str]] = (),
) -> None:
    """Commit a decision on the directory, and wait until it is reflected.

    The append checks the versions of all changed subjects, and of those `also_used`.
    """
    directory = parts.feed.directory

    async def decide_append() -> AppendRequest | None:
        decided = decide(directory)
        used = also_used() if callable(also_used) else also_used
        versions = {
            subject: directory.version(subject) for subject in (*used, *(each for each, _ in decided))
        }
        return append_for(parts, request, decided, versions) if decided else None

    await wait_until_reflected(parts, await commit(parts, decide_append))


def _counts(plan: SyncPlan) -> dict[str, int]:
    return {
        "registered": len(plan.registered),
        "found": len(plan.found),
        "left": len(plan.left),
        "groups": len(plan.memberships),
    }
