"""A user, group, pool, lab controller or distro tree is given as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.services import Request, Services, committed, new_command_id
from api.store.requests import Append, Committed, Conflict
from domain.directory.changes import put, unknown_names
from domain.directory.events import PoolSystemAdded, PoolSystemRemoved
from domain.errors import FaultyInput, Unknown
from domain.events import Change, Event


async def put_document(
    services: Services, request: Request, kind: str, name: str, document: Mapping[str, Any]
) -> Committed | None:
    """Make the document true; None when it is already. Raises FaultyInput for names nobody knows."""
    while True:
        directory = services.feed.directory
        if unknown_names(kind, directory, document):
            await services.feed.catch_up()
        if faults := unknown_names(kind, directory, document):
            raise FaultyInput(faults)
        before = directory.get(kind, name)
        event = put(kind, before, document)
        if event is None:
            return None
        done = await _append(services, request, f"{kind}/{name}", event, before.version if before else 0)
        if done is not None:
            return done


async def move_system(
    services: Services, request: Request, pool: str, system: str, *, member: bool
) -> Committed | None:
    """Put a system into a pool or take it out; None when it is there already. Raises Unknown."""
    while True:
        directory = services.feed.directory
        if directory.get("pool", pool) is None or directory.get("system", system) is None:
            await services.feed.catch_up()
        entry = directory.get("pool", pool)
        if entry is None or directory.get("system", system) is None:
            raise Unknown(f"pool {pool} or system {system}")
        if directory.pool_has(pool, system) == member:
            return None
        event = PoolSystemAdded(system=system) if member else PoolSystemRemoved(system=system)
        done = await _append(services, request, f"pool/{pool}", event, entry.version)
        if done is not None:
            return done


async def _append(
    services: Services, request: Request, subject: str, event: Event, version: int
) -> Committed | None:
    """The commit, None when the directory was behind: it has caught up then."""
    append = Append(
        command_id=new_command_id(),
        changes=(Change(subject, event, services.stamp(request)),),
        expected={subject: version},
    )
    outcome = await services.append(append)
    if isinstance(outcome, Conflict):
        await services.feed.catch_up()
        return None
    done = committed(outcome)
    await services.feed.reach(done.position)
    return done
