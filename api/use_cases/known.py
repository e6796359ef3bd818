"""What a request names must be there; what is new to this process may be in the log already."""

from __future__ import annotations

from api.services import Services
from domain.directory.state import Entry
from domain.errors import Unknown
from domain.names import called


async def known(services: Services, kind: str, name: str) -> Entry:
    """The named thing. Raises Unknown when not even the end of the log knows it."""
    entry = services.feed.directory.get(kind, name)
    if entry is None:
        await services.feed.catch_up()
        entry = services.feed.directory.get(kind, name)
    if entry is None:
        raise Unknown(called(kind, name))
    return entry
