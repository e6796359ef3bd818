"""A user, group, pool, lab controller or distro tree goes; a later PUT of its name begins anew."""

from __future__ import annotations

import asyncio

from api.services import Request, Services
from api.use_cases.commit import append_of, commit, require_expected
from api.use_cases.rights import require_admin
from domain.directory.admins import require_admin_without
from domain.directory.removal import NEEDED_BY_SYSTEMS, remove
from domain.directory.state import Directory
from domain.errors import Unknown
from domain.events import Decided
from domain.names import called
from domain.system.state import System
from domain.upkeep.policy import part_with
from store.passwords import forget_hashes
from store.requests import Append, Committed


async def remove_document(services: Services, request: Request, kind: str, name: str) -> Committed | None:
    """None when it was removed before. The directory reflects it when this returns.

    What belongs to it goes in the same commit: tokens of a user or lab controller are revoked, a user leaves
    its groups and gives back what they have reserved or on loan, systems leave a pool, access policies name
    it no more. Jobs stay as they are.

    Raises Unknown, Stale, NotPermitted for who is no admin, and Refused for a user who owns systems, a group
    that owns pools, a lab controller with systems that are not Removed, and the last admin. What is given to
    it by another process in the very same moment names nobody afterwards, which leaves it to admins: who is
    registered under the name later has none of it (`Directory.had`).
    """
    require_admin(request, f"remove {called(kind, name)}")
    await services.feed.catch_up()
    directory, subject = services.feed.directory, f"{kind}/{name}"

    async def decide() -> Append | None:
        if directory.version(subject) == 0:
            raise Unknown(called(kind, name))
        entry = directory.get(kind, name)
        require_expected(request, subject, entry.version if entry else 0)
        if entry is None:
            return None
        systems = await _systems(services, kind, name)
        return append_of(services, request, *_removal(kind, directory, name, systems))

    done = await commit(services, decide)
    if done is not None:
        await services.feed.reach(done.position)
        if kind == "user":
            await asyncio.to_thread(forget_hashes, services.log, name)
    return done


def _removal(
    kind: str, directory: Directory, name: str, systems: list[System]
) -> tuple[Decided, dict[str, int]]:
    """What happens, and the versions of everything it rests on."""
    decided = remove(kind, directory, name, systems)
    versions = {changed: directory.version(changed) for changed, _ in decided}
    of_systems = [change for system in systems for change in part_with(system, kind, name)]
    parting = {subject for subject, _ in of_systems}
    versions |= {one.subject: one.version for one in systems if one.subject in parting}
    if kind == "user":
        left = require_admin_without(directory, name)
        versions |= {other: directory.version(other) for other in left}
        # None that people reserve must be reserved meanwhile.
        versions |= {one.subject: one.version for one in systems if _is_for_people(one)}
    if kind == "lab-controller":
        # Removed ones, or it would be refused: none of them must come back meanwhile.
        versions |= {one.subject: one.version for one in systems if one.lab_controller == name}
    return [*of_systems, *decided], versions


def _is_for_people(system: System) -> bool:
    return system.reservation is not None or system.condition == "Manual"


async def _systems(services: Services, kind: str, name: str) -> list[System]:
    """As they are now: all of them where it matters whose they are, else those that say something of it."""
    everything = (fqdn for fqdn, _ in services.feed.directory.items("system"))
    fqdns = everything if kind in NEEDED_BY_SYSTEMS else services.feed.accesses.left_to(kind, name)
    found = await asyncio.to_thread(services.aggregates.load, [f"system/{fqdn}" for fqdn in fqdns])
    return [state for state in found.values() if isinstance(state, System)]
