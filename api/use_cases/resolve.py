"""Lookup of a directory entry, after catching up with the log if it is missing."""

from __future__ import annotations

from api.use_cases.ports import DirectoryView
from domain.directory.state import DirectoryEntry
from domain.errors import Unknown, display_name


async def existing(feed: DirectoryView, kind: str, name: str) -> DirectoryEntry:
    """Return the entry. Raises Unknown if it does not exist at the end of the log."""
    entry = feed.directory.get(kind, name)
    if entry is None:
        await feed.catch_up()
        entry = feed.directory.get(kind, name)
    if entry is None:
        raise Unknown(display_name(kind, name))
    return entry
