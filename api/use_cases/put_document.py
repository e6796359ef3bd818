"""A user, group, pool, lab controller or distro tree is given as a whole; what people change of it beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.services import Request, Services
from api.store.requests import Append, Committed
from api.use_cases.commit import append_of, commit_named
from domain.directory.changes import put, unknown_names
from domain.directory.events import DistroTreeRemoved, PoolSystemAdded, PoolSystemRemoved
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


async def enable_lab_controller(
    services: Services, request: Request, name: str, enabled: bool | None
) -> Committed | None:
    """None when it is so already, or nothing is asked. Raises Unknown."""
    if services.feed.directory.get("lab-controller", name) is None:
        await services.feed.catch_up()

    def decide() -> Append | None:
        entry = services.feed.directory.get("lab-controller", name)
        if entry is None:
            raise Unknown(f"lab controller {name}")
        wanted = entry.document["enabled"] if enabled is None else enabled
        event = put("lab-controller", entry, {**entry.document, "enabled": wanted})
        if event is None:
            return None
        subject = f"lab-controller/{name}"
        return append_of(services, request, [(subject, event)], {subject: entry.version})

    return await commit_named(services, decide)


async def remove_tree(services: Services, request: Request, name: str) -> Committed | None:
    """A distro tree leaves every lab; a later PUT brings it back. None when it has. Raises Unknown."""
    if services.feed.directory.get("distro-tree", name) is None:
        await services.feed.catch_up()

    def decide() -> Append | None:
        entry = services.feed.directory.get("distro-tree", name)
        if entry is None:
            raise Unknown(f"distro tree {name}")
        if entry.document.get("removed"):
            return None
        subject = f"distro-tree/{name}"
        return append_of(services, request, [(subject, DistroTreeRemoved())], {subject: entry.version})

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
