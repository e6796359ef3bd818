"""A user, group, pool, lab controller or distro tree is given as a whole; what people change of it beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from api.services import Request, Services
from api.store.requests import Append, Committed
from api.use_cases.commit import append_of, commit_named
from api.use_cases.rights import may_put, require_own_pool
from domain.directory.changes import named_in, put, unknown_names
from domain.directory.events import DistroTreeRemoved, PoolSystemAdded, PoolSystemRemoved
from domain.directory.roles import ADMIN
from domain.directory.state import Directory, Entry
from domain.directory.tokens import require_admin_left
from domain.errors import FaultyInput, Unknown
from domain.events import Event
from domain.names import called


async def put_document(
    services: Services, request: Request, kind: str, name: str, document: Mapping[str, Any]
) -> Committed | None:
    """Make the document true; None when it is already.

    Raises FaultyInput for names nobody knows, NotPermitted for who may not (`rights.may_put`), Stale, and
    Refused for what would leave no admin.
    """
    directory, subject = services.feed.directory, f"{kind}/{name}"
    if unknown_names(kind, directory, document) or (
        directory.get(kind, name) is None and not request.is_admin
    ):
        await services.feed.catch_up()

    def decide() -> Append | None:
        before = directory.get(kind, name)
        may_put(services, request, kind, before, document)
        if faults := unknown_names(kind, directory, document):
            raise FaultyInput(faults)
        event = put(kind, before, document)
        if event is None:
            return None
        if kind == "user":
            _require_admin_left(directory, name, document)
        versions = {other: directory.version(other) for other in (subject, *named_in(kind, document))}
        return append_of(services, request, [(subject, event)], versions)

    return await commit_named(services, request, subject, decide)


def _require_admin_left(directory: Directory, name: str, document: Mapping[str, Any]) -> None:
    roles = document.get("roles")
    if roles is not None and ADMIN not in roles and ADMIN in directory.roles_of(name):
        require_admin_left(directory, without_user=name)


async def enable_lab_controller(
    services: Services, request: Request, name: str, enabled: bool | None
) -> Committed | None:
    """None when it is so already, or nothing is asked. Raises Unknown, Stale."""

    def decide(entry: Entry) -> Event | None:
        wanted = entry.document["enabled"] if enabled is None else enabled
        return put("lab-controller", entry, {**entry.document, "enabled": wanted})

    return await _change(services, request, "lab-controller", name, decide)


async def remove_tree(services: Services, request: Request, name: str) -> Committed | None:
    """A distro tree leaves every lab; a later PUT brings it back. None when it has. Raises Unknown, Stale."""

    def decide(entry: Entry) -> Event | None:
        return None if entry.document.get("removed") else DistroTreeRemoved()

    return await _change(services, request, "distro-tree", name, decide)


async def move_system(
    services: Services, request: Request, pool: str, system: str, *, member: bool
) -> Committed | None:
    """Put a system into a pool or take it out; None when it is there already.

    Raises Unknown, Stale, NotPermitted for who is neither admin nor in the group that owns the pool.
    """
    directory = services.feed.directory
    if directory.get("system", system) is None:
        await services.feed.catch_up()
    if directory.get("system", system) is None:
        raise Unknown(called("system", system))

    def decide(_: Entry) -> Event | None:
        require_own_pool(services, request, pool)
        if directory.pool_has(pool, system) == member:
            return None
        return PoolSystemAdded(system=system) if member else PoolSystemRemoved(system=system)

    return await _change(services, request, "pool", pool, decide)


async def _change(
    services: Services, request: Request, kind: str, name: str, decide: Callable[[Entry], Event | None]
) -> Committed | None:
    """What `decide` says of a thing that is there. A name that is new here may be in the log."""
    directory, subject = services.feed.directory, f"{kind}/{name}"
    if directory.get(kind, name) is None:
        await services.feed.catch_up()
    if directory.get(kind, name) is None:
        raise Unknown(called(kind, name))

    def change() -> Append | None:
        entry = directory.get(kind, name)
        if entry is None:
            raise Unknown(called(kind, name))
        event = decide(entry)
        if event is None:
            return None
        return append_of(services, request, [(subject, event)], {subject: entry.version})

    return await commit_named(services, request, subject, change)
