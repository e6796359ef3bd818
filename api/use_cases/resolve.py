"""Lookup of a named thing in the directory, and in the rest of the log if it is unknown."""

from __future__ import annotations

from api.services import Services
from domain.directory.state import DirectoryEntry
from domain.errors import Unknown
from domain.names import display_name


async def known(services: Services, kind: str, name: str) -> DirectoryEntry:
    """Return the entry of a named thing. Raises Unknown if it does not exist at the end of the log."""
    entry = services.feed.directory.get(kind, name)
    if entry is None:
        await services.feed.catch_up()
        entry = services.feed.directory.get(kind, name)
    if entry is None:
        raise Unknown(display_name(kind, name))
    return entry
