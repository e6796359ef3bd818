"""A system joins its lab."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.services import Request, Services
from api.store.requests import Append, Committed
from api.use_cases.commit import append_of, commit_named
from domain.errors import FaultyInput, Refused
from domain.system.registration import register, unknown_names


async def register_system(services: Services, request: Request, document: Mapping[str, Any]) -> Committed:
    """Raises FaultyInput for names nobody knows, Refused when the system exists."""
    directory = services.feed.directory
    if unknown_names(directory, document):
        await services.feed.catch_up()
    if faults := unknown_names(directory, document):
        raise FaultyInput(faults)
    decided = register(document)

    def decide() -> Append:
        known = directory.system_called(document["fqdn"])
        if known is not None:
            raise Refused(f"system {known} exists: change it, or its condition if it was removed")
        versions = {subject: directory.version(subject) for subject, _ in decided}
        return append_of(services, request, decided, versions)

    done = await commit_named(services, decide)
    assert done is not None, "a registration is always something new"
    return done
