"""Change of the whole access policy of a pool or a system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from api.use_cases.commit import append_for, commit_aggregates, commit_directory, wait_until_reflected
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import existing, present_system
from api.use_cases.rights import owned_by, require_own_pool
from api.use_cases.system_rights import require_permission, rights_subjects
from domain.access.policy import EDIT_POLICY, policy_form
from domain.access.validation import PRINCIPALS, faults_of, normalised
from domain.directory.events import PoolAccessPolicyChanged
from domain.directory.state import Directory
from domain.directory.system_access import policy_of_pool
from domain.errors import Fault, FaultyInput, Unknown, display_name, unknown_name
from domain.events import Decided
from domain.read_set import ReadSet
from domain.system_admin.policy import change_policy
from store.requests import AppendRequest, Committed

Entries = Sequence[Mapping[str, Any]]


async def change_pool_policy(
    parts: WriteParts, request: RequestContext, pool: str, entries: Entries
) -> Committed | None:
    """Set the policy of a pool and wait until the directory reflects it; return None if nothing changes.

    Raises FaultyInput for invalid entries, Unknown, Stale, and NotPermitted unless the caller is an admin or
    in the group that owns the pool.
    """
    directory, subject = parts.feed.directory, f"pool/{pool}"
    await existing(parts.feed, "pool", pool)
    if _faults(directory, entries, None):
        await parts.feed.catch_up()

    def decide() -> AppendRequest | None:
        entry = directory.get("pool", pool)
        if entry is None:
            raise Unknown(display_name("pool", pool))
        require_own_pool(directory, request, pool)
        if faults := _faults(directory, entries, None):
            raise FaultyInput(faults)
        wanted = normalised(entries)
        if wanted == policy_form(policy_of_pool(directory, pool) or ()):
            return None
        # A concurrent removal of a named user or group, or change of the owning group, has to be a conflict.
        used = (*_named(entries), *owned_by(directory, request, pool))
        versions = {other: directory.version(other) for other in used}
        changed = PoolAccessPolicyChanged(entries=wanted)
        return append_for(parts, request, [(subject, changed)], {subject: entry.version, **versions})

    return await commit_directory(parts, request, subject, decide)


async def change_system_policy(
    parts: WriteParts, request: RequestContext, fqdn: str, entries: Entries, active_pool: str | None
) -> Committed | None:
    """Set the policy of a system and wait until the directory reflects it; return None if nothing changes.

    Raises FaultyInput for invalid entries, Unknown, Stale, NotPermitted, and Refused for an active pool that
    the system is not in.
    """
    directory = parts.feed.directory
    if _faults(directory, entries, active_pool):
        await parts.feed.catch_up()

    def decide(gathered: ReadSet) -> Decided:
        system = present_system(gathered, fqdn)
        require_permission(directory, request, system, EDIT_POLICY)
        if faults := _faults(directory, entries, active_pool):
            raise FaultyInput(faults)
        return change_policy(system, normalised(entries), active_pool, directory.pools_of(fqdn))

    def also_read(gathered: ReadSet) -> Iterator[str]:
        """Yield the subjects whose concurrent change has to be a conflict."""
        yield from rights_subjects(directory, present_system(gathered, fqdn), request.actor)
        yield from _named(entries)
        if active_pool is not None:
            yield f"pool/{active_pool}"

    done = await commit_aggregates(parts, request, (f"system/{fqdn}",), decide, also_read)
    return await wait_until_reflected(parts, done)


def _faults(directory: Directory, entries: Entries, active_pool: str | None) -> list[Fault]:
    def exists(kind: str, name: str) -> bool:
        return directory.get(kind, name) is not None

    faults = faults_of(entries, exists)
    if active_pool is not None and not exists("pool", active_pool):
        faults.append(Fault("active_pool", unknown_name("pool", active_pool)))
    return faults


def _named(entries: Entries) -> Iterable[str]:
    named = ((kind, entry.get(kind)) for entry in entries for kind in PRINCIPALS)
    return dict.fromkeys(f"{kind}/{name}" for kind, name in named if name is not None)
