"""A user, group, pool, lab controller or distro tree is given as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.services import Request, Services
from api.store.requests import Append, Committed
from api.use_cases.commit import append_of, commit_named
from domain.directory.changes import put, unknown_names
from domain.directory.events import PoolSystemAdded, PoolSystemRemoved
from domain.errors import FaultyInput, Unknown


async def put_document(
    services: Services, request: Request, kind: str, name: str, document: Mapping[str, Any]
) -> Committed | None:
    """Make the document true; None when it is already. Raises FaultyInput for names nobody knows."""
    directory = services.feed.directory
    if unknown_names(kind, directory, document):
        await services.feed.catch_up()
    if faults := unknown_names(kind, directory, document):
        raise FaultyInput(faults)
    subject = f"{kind}/{name}"

    def decide() -> Append | None:
        before = directory.get(kind, name)
        event = put(kind, before, document)
        if event is None:
            return None
        return append_of(services, request, [(subject, event)], {subject: before.version if before else 0})

    return await commit_named(services, decide)


async def move_system(
    services: Services, request: Request, pool: str, system: str, *, member: bool
) -> Committed | None:
    """Put a system into a pool or take it out; None when it is there already. Raises Unknown."""
    directory = services.feed.directory
    if directory.get("pool", pool) is None or directory.get("system", system) is None:
        await services.feed.catch_up()
    if directory.get("system", system) is None:
        raise Unknown(f"system {system}")

    def decide() -> Append | None:
        entry = directory.get("pool", pool)
        if entry is None:
            raise Unknown(f"pool {pool}")
        if directory.pool_has(pool, system) == member:
            return None
        event = PoolSystemAdded(system=system) if member else PoolSystemRemoved(system=system)
        return append_of(services, request, [(f"pool/{pool}", event)], {f"pool/{pool}": entry.version})

    return await commit_named(services, decide)
