"""Lookups and checks of names that use cases share."""

from __future__ import annotations

from datetime import datetime

from api.use_cases.ports import DirectoryView, NameParts
from domain.directory.state import DirectoryEntry
from domain.errors import Fault, Unknown, display_name, unknown_name
from domain.read_set import ReadSet
from domain.system.state import System


async def existing(feed: DirectoryView, kind: str, name: str) -> DirectoryEntry:
    """Return the entry. Raises Unknown if it does not exist at the end of the log."""
    entry = feed.directory.get(kind, name)
    if entry is None:
        await feed.catch_up()
        entry = feed.directory.get(kind, name)
    if entry is None:
        raise Unknown(display_name(kind, name))
    return entry


def present_system(gathered: ReadSet, fqdn: str) -> System:
    """Return the system of a read set. Raises Unknown."""
    system = gathered.system(fqdn)
    if system is None:
        raise Unknown(display_name("system", fqdn))
    return system


def user_and_end_faults(parts: NameParts, user: str, until: datetime | None) -> list[Fault]:
    """Return the faults of a reservation or loan for an unknown user, or until a past time."""
    faults = []
    if parts.feed.directory.get("user", user) is None:
        faults.append(Fault("user", unknown_name("user", user)))
    if until is not None and until <= parts.clock():
        faults.append(Fault("until", "is in the past"))
    return faults
