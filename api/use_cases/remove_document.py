"""Removal of users, groups, pools, lab controllers and distro trees, which frees their names."""

from __future__ import annotations

import asyncio

from api.use_cases.choose_notifications import delete_former_webhooks
from api.use_cases.commit import append_for, commit, require_expected, wait_until_reflected
from api.use_cases.ports import PasswordParts, RequestContext
from api.use_cases.rights import require_admin
from domain.directory.admins import require_admin_without
from domain.directory.removal import NEEDED_BY_SYSTEMS, remove
from domain.directory.state import Directory
from domain.errors import Unknown, display_name
from domain.events import Decided
from domain.system.state import System
from domain.system_admin.policy import remove_system_references
from store.passwords import delete_stale_hashes
from store.requests import AppendRequest, Committed


async def remove_document(
    parts: PasswordParts, request: RequestContext, kind: str, name: str, reason: str | None = None
) -> Committed | None:
    """Remove an entry and wait until the directory reflects it; return None if it was removed before.

    The same commit revokes tokens of a user or lab controller, removes a user from groups, ends reservations
    and loans of a user, removes the systems of a pool, and removes it from access policies. Jobs stay.

    Raises Unknown, Stale, NotPermitted unless the caller is an admin, and Refused for a user who owns
    systems, a group that owns pools, a lab controller with systems that are not Removed, and the last admin.
    References that another process adds concurrently have no effect: a later entry of the same name does not
    get them (`Directory.had`), so only admins have the rights.
    """
    require_admin(request, f"remove {display_name(kind, name)}")
    await parts.feed.catch_up()
    directory, subject = parts.feed.directory, f"{kind}/{name}"

    async def decide() -> AppendRequest | None:
        if directory.version(subject) == 0:
            raise Unknown(display_name(kind, name))
        entry = directory.get(kind, name)
        require_expected(request, subject, entry.version if entry else 0)
        if entry is None:
            return None
        systems = await _systems(parts, kind, name)
        return append_for(parts, request, *_removal(kind, directory, name, systems, reason))

    done = await wait_until_reflected(parts, await commit(parts, decide))
    if done is not None and kind == "user":
        await asyncio.to_thread(delete_stale_hashes, parts.log, name)
        await asyncio.to_thread(delete_former_webhooks, parts.log, name)
    return done


def _removal(
    kind: str, directory: Directory, name: str, systems: list[System], reason: str | None
) -> tuple[Decided, dict[str, int]]:
    """Return the events, and the versions of everything that the decision used."""
    decided = remove(kind, directory, name, systems, reason)
    versions = {changed: directory.version(changed) for changed, _ in decided}
    of_systems = [
        change for system in systems for change in remove_system_references(system, kind, name, reason)
    ]
    referring = {subject for subject, _ in of_systems}
    versions |= {system.subject: system.version for system in systems if system.subject in referring}
    if kind == "user":
        admins = require_admin_without(directory, name)
        versions |= {other: directory.version(other) for other in admins}
        # A concurrent reservation has to be a conflict.
        versions |= {system.subject: system.version for system in systems if _is_reservable(system)}
    if kind == "lab-controller":
        # Its systems are Removed; a concurrent return of one of them has to be a conflict.
        of_lab = [system for system in systems if system.lab_controller == name]
        versions |= {system.subject: system.version for system in of_lab}
    return [*of_systems, *decided], versions


def _is_reservable(system: System) -> bool:
    return system.reservation is not None or system.condition == "Manual"


async def _systems(parts: PasswordParts, kind: str, name: str) -> list[System]:
    """Return all systems if every system needs an entry of this kind, else those that refer to the entry."""
    everything = (fqdn for fqdn, _ in parts.feed.directory.items("system"))
    fqdns = everything if kind in NEEDED_BY_SYSTEMS else parts.feed.visibility.referring_systems(kind, name)
    found = await asyncio.to_thread(parts.aggregates.load, [f"system/{fqdn}" for fqdn in fqdns])
    return [state for state in found.values() if isinstance(state, System)]
