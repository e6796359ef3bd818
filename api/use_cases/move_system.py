"""Addition of a system to a pool, or its removal from it."""

from __future__ import annotations

import asyncio

from api.use_cases.commit import append_for, commit, require_expected, wait_until_reflected
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import existing
from api.use_cases.rights import owned_by, require_own_pool
from api.use_cases.system_rights import holds, require_permission, require_viewed, rights_subjects
from domain.access.policy import EDIT_POLICY
from domain.directory.events import PoolSystemAdded, PoolSystemRemoved
from domain.directory.state import Directory
from domain.errors import Unknown, display_name
from domain.events import Decided
from domain.system.state import System
from domain.system_admin.policy import leave_pool
from store.requests import AppendRequest, Committed


async def move_system(
    parts: WriteParts,
    request: RequestContext,
    pool: str,
    fqdn: str,
    *,
    member: bool,
    reason: str | None = None,
) -> Committed | None:
    """Add or remove a system, and wait until the directory reflects it; return None if nothing changes.

    `reason` is that of a removal, None if nobody gave one.

    Adding requires the right to change the pool and `edit_policy` on the system, because the policies of the
    pool then apply to it. Removal requires one of both. Raises Unknown, Stale, and NotPermitted.
    """
    await existing(parts.feed, "system", fqdn)
    # The directory must be current: neither an old version nor an old membership may match.
    await parts.feed.catch_up()
    done = await commit(parts, lambda: _move(parts, request, pool, fqdn, member, reason))
    return await wait_until_reflected(parts, done)


async def _move(
    parts: WriteParts, request: RequestContext, pool: str, fqdn: str, member: bool, reason: str | None
) -> AppendRequest | None:
    directory, subject = parts.feed.directory, f"pool/{pool}"
    system = (await asyncio.to_thread(parts.aggregates.load, [f"system/{fqdn}"])).get(f"system/{fqdn}")
    if not isinstance(system, System):
        raise Unknown(display_name("system", fqdn))
    # Before any check of the pool, so that a hidden system has the same answer as an unknown one.
    require_viewed(directory, request, system)
    entry = directory.get("pool", pool)
    if entry is None:
        raise Unknown(display_name("pool", pool))
    require_may_move(directory, request, pool, system, member=member)
    require_expected(request, subject, entry.version)
    if directory.pool_has(pool, fqdn) == member:
        return None
    removed = PoolSystemRemoved(system=fqdn, reason=reason)
    decided: Decided = [(subject, PoolSystemAdded(system=fqdn) if member else removed)]
    if not member:
        decided += leave_pool(system, pool)
    used = (*rights_subjects(directory, system, request.actor), *owned_by(directory, request, pool))
    used_versions = {other: directory.version(other) for other in used}
    versions = {**used_versions, subject: entry.version, system.subject: system.version}
    return append_for(parts, request, decided, versions)


def require_may_move(
    directory: Directory, request: RequestContext, pool: str, system: System, *, member: bool
) -> None:
    """Raise Unknown if the caller may not view the system, NotPermitted without the right."""
    require_viewed(directory, request, system)
    if member:
        require_own_pool(directory, request, pool)
        require_permission(directory, request, system, EDIT_POLICY)
    elif not holds(directory, request, system, EDIT_POLICY):
        require_own_pool(directory, request, pool)
