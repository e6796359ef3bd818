"""Lookup of a named thing in the directory, and in the rest of the log if it is unknown."""

from __future__ import annotations

from api.services import Services
from domain.directory.state import Entry
from domain.errors import Unknown
from domain.names import called


async def known(services: Services, kind: str, name: str) -> Entry:
    """Return the entry of a named thing. Raises Unknown if it does not exist at the end of the log."""
    entry = services.feed.directory.get(kind, name)
    if entry is None:
        await services.feed.catch_up()
        entry = services.feed.directory.get(kind, name)
    if entry is None:
        raise Unknown(called(kind, name))
    return entry
