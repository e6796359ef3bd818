"""Registration of a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.request_context import RequestContext
from api.use_cases.commit import append_for, commit_directory
from api.use_cases.ports import WriteParts
from domain.errors import FaultyInput, Refused
from domain.system_admin.registration import register, unknown_names
from store.requests import AppendRequest, Committed


async def register_system(
    parts: WriteParts, request: RequestContext, document: Mapping[str, Any]
) -> Committed:
    """Register a system. Raises FaultyInput for unknown names, Refused if the system exists."""
    directory, subject = parts.feed.directory, f"system/{document['fqdn']}"
    if unknown_names(directory, document):
        await parts.feed.catch_up()
    decided = register(document)
    changed = dict.fromkeys(subject for subject, _ in decided)
    # A concurrent removal of one of these has to be a conflict.
    named = (f"lab-controller/{document['lab_controller']}", f"user/{document['owner']}")

    def decide() -> AppendRequest:
        existing = directory.system_called(document["fqdn"])
        if existing is not None:
            raise Refused(f"system {existing} exists; change it, or its condition if it is Removed")
        if faults := unknown_names(directory, document):
            raise FaultyInput(faults)
        versions = {subject: directory.version(subject) for subject in (*changed, *named)}
        return append_for(parts, request, decided, versions)

    done = await commit_directory(parts, request, subject, decide)
    assert done is not None, "a registration is always something new"
    return done
