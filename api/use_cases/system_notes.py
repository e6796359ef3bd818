"""Addition and removal of notes on a system."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from api.use_cases.commit import commit_aggregates
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import present_system
from api.use_cases.system_rights import require_may_change, rights_subjects
from domain.events import Decided
from domain.read_set import ReadSet
from domain.system.state import System
from domain.system_admin import notes
from store.requests import Committed


async def add_note(parts: WriteParts, request: RequestContext, fqdn: str, text: str) -> Committed:
    """Add a note, whose id is the position of the commit. Raises Unknown, NotPermitted, Refused."""
    return await _change(parts, request, fqdn, lambda system: notes.add_note(system, text))


async def remove_note(
    parts: WriteParts, request: RequestContext, fqdn: str, note_id: int, reason: str | None
) -> Committed:
    """Remove a note. Raises Unknown for the system or the note, NotPermitted."""
    return await _change(parts, request, fqdn, lambda system: notes.remove_note(system, note_id, reason))


async def _change(
    parts: WriteParts, request: RequestContext, fqdn: str, change: Callable[[System], Decided]
) -> Committed:
    directory = parts.feed.directory

    def decide(gathered: ReadSet) -> Decided:
        system = present_system(gathered, fqdn)
        require_may_change(directory, request, system)
        return change(system)

    def also_read(gathered: ReadSet) -> Iterator[str]:
        return rights_subjects(directory, present_system(gathered, fqdn), request.actor)

    done = await commit_aggregates(parts, request, (f"system/{fqdn}",), decide, also_read)
    assert done is not None, "a change of notes is always something new"
    return done
