"""A system joins its lab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.services import Request, Services, committed, new_command_id
from api.store.requests import Append, Committed, Conflict
from domain.directory.state import Directory
from domain.errors import FaultyInput, Refused
from domain.events import Change
from domain.system.registration import register, unknown_names


async def register_system(services: Services, request: Request, document: Mapping[str, Any]) -> Committed:
    """Raises FaultyInput for names nobody knows, Refused when the system exists."""
    fqdn = document["fqdn"]
    decided = register(document)
    while True:
        directory = services.feed.directory
        if unknown_names(directory, document):
            await services.feed.catch_up()
        if faults := unknown_names(directory, document):
            raise FaultyInput(faults)
        if directory.get("system", fqdn) is not None:
            raise Refused(f"system {fqdn} exists")
        stamp = services.stamp(request)
        append = Append(
            command_id=request.command_id or new_command_id(),
            changes=tuple(Change(subject, event, stamp) for subject, event in decided),
            expected={subject: _version(directory, subject) for subject, _ in decided},
            digest=request.digest,
            answer=b'{"fqdn":"%b"}' % fqdn.encode(),
        )
        outcome = await services.append(append)
        if isinstance(outcome, Conflict):
            await services.feed.catch_up()
            continue
        done = committed(outcome)
        await services.feed.reach(done.position)
        return done


def _version(directory: Directory, subject: str) -> int:
    kind, _, name = subject.partition("/")
    entry = directory.get(kind, name)
    return entry.version if entry else 0
