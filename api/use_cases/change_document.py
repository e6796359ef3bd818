"""What people change of a named thing without giving all of it anew."""

from __future__ import annotations

from collections.abc import Callable

from api.services import Request, Services
from api.store.requests import Append, Committed
from api.use_cases.commit import append_of, commit_named
from api.use_cases.known import known
from domain.directory.changes import put
from domain.directory.state import Entry
from domain.errors import Unknown
from domain.events import Event
from domain.names import called


async def enable_lab_controller(
    services: Services, request: Request, name: str, enabled: bool | None
) -> Committed | None:
    """None when it is so already, or nothing is asked. Raises Unknown, Stale."""

    def decide(entry: Entry) -> Event | None:
        wanted = entry.document["enabled"] if enabled is None else enabled
        return put("lab-controller", entry, {**entry.document, "enabled": wanted})

    return await _change(services, request, "lab-controller", name, decide)


async def _change(
    services: Services, request: Request, kind: str, name: str, decide: Callable[[Entry], Event | None]
) -> Committed | None:
    """What `decide` says of a thing that is there."""
    subject = f"{kind}/{name}"
    await known(services, kind, name)

    def change() -> Append | None:
        entry = services.feed.directory.get(kind, name)
        if entry is None:
            raise Unknown(called(kind, name))
        event = decide(entry)
        if event is None:
            return None
        return append_of(services, request, [(subject, event)], {subject: entry.version})

    return await commit_named(services, request, subject, change)
