"""Partial changes of named things."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.request_context import RequestContext
from api.use_cases.commit import append_request, commit_named
from api.use_cases.ports import WriteParts
from api.use_cases.resolve import known
from domain.directory.changes import put
from domain.errors import Unknown
from domain.names import display_name
from store.requests import AppendRequest, Committed


async def change_lab_controller(
    parts: WriteParts, request: RequestContext, name: str, changes: Mapping[str, Any]
) -> Committed | None:
    """Apply `changes` to a lab controller; return None if nothing changes. Raises Unknown, Stale."""
    kind, subject = "lab-controller", f"lab-controller/{name}"
    await known(parts.feed, kind, name)

    def decide() -> AppendRequest | None:
        entry = parts.feed.directory.get(kind, name)
        if entry is None:
            raise Unknown(display_name(kind, name))
        events = put(kind, entry, {**entry.document, **changes})
        if not events:
            return None
        decided = [(subject, event) for event in events]
        return append_request(parts, request, decided, {subject: entry.version})

    return await commit_named(parts, request, subject, decide)
