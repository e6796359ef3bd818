"""Maintenance windows moved and ended, by those who added them or may change all of their systems."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.use_cases.commit import append_for, commit_directory
from api.use_cases.covered_systems import present_systems, require_may_change_all, viewed
from api.use_cases.many_systems import CollectedErrors
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import existing
from domain.directory.state import DirectoryEntry
from domain.errors import NotPermitted, Unknown, display_name
from domain.events import Decided
from domain.maintenance.window import KIND, WindowTimes, end, move, times_of
from store.requests import AppendRequest, Committed


@dataclass(frozen=True)
class WindowMove:
    """The new times of a window; None leaves a value unchanged."""

    starts_at: datetime | None
    ends_at: datetime | None
    lead_seconds: int | None


async def move_window(
    parts: WriteParts, request: RequestContext, number: int, wanted: WindowMove
) -> Committed | None:
    """Move a window. Raises Unknown, NotPermitted as `require_may_change_window`, and as `window.move`."""

    def decide(entry: DirectoryEntry) -> Decided:
        before = times_of(entry.document)
        lead = before.lead if wanted.lead_seconds is None else timedelta(seconds=wanted.lead_seconds)
        after = WindowTimes(wanted.starts_at or before.starts_at, wanted.ends_at or before.ends_at, lead)
        return move(number, entry.document, after, parts.clock())

    return await _change(parts, request, number, decide)


async def end_window(
    parts: WriteParts, request: RequestContext, number: int, reason: str | None
) -> Committed | None:
    """End a window before its time. Raises Unknown, NotPermitted as `move_window`, and as `window.end`."""

    def decide(entry: DirectoryEntry) -> Decided:
        return end(number, entry.document, reason, parts.clock())

    return await _change(parts, request, number, decide)


async def _change(
    parts: WriteParts, request: RequestContext, number: int, decide: Callable[[DirectoryEntry], Decided]
) -> Committed | None:
    subject = f"{KIND}/{number}"
    await existing(parts.feed, KIND, str(number))
    await asyncio.to_thread(require_may_change_window, parts, request, number)

    def attempt() -> AppendRequest | None:
        entry = parts.feed.directory.get(KIND, str(number))
        assert entry is not None, "windows are never removed"
        decided = decide(entry)
        return append_for(parts, request, decided, {subject: entry.version}) if decided else None

    return await commit_directory(parts, request, subject, attempt)


def require_may_change_window(parts: WriteParts, request: RequestContext, number: int) -> None:
    """Raise NotPermitted unless the caller has added the window, or may edit all systems that it covers.

    Raises Unknown for a window that does not exist. Blocking.
    """
    directory = parts.feed.directory
    entry = directory.get(KIND, str(number))
    if entry is None:
        raise Unknown(display_name(KIND, number))
    user = entry.document["added_by"]
    if request.is_admin or (request.actor == user and directory.had("user", user, entry.since)):
        return
    present = present_systems(parts, entry.document)
    systems = viewed(parts, request, present)
    if not systems or len(systems) < len(present):
        raise NotPermitted(f"{display_name(KIND, number)} was added by {user}, and covers systems of others")
    require_may_change_all(directory, request, systems, CollectedErrors())
