"""Import of many systems, which adds new ones and changes the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import orjson

from api.use_cases.commit import append_for, commit
from api.use_cases.importing import Imported, Importing, ImportItem
from api.use_cases.ports import RequestContext, WriteParts
from domain.errors import Fault
from store.requests import AppendRequest, Committed


async def import_systems(
    parts: WriteParts, request: RequestContext, items: Sequence[ImportItem], faults: Sequence[Fault]
) -> Committed | None:
    """Import all systems in one commit, whose stored answer is `counted`; return None if nothing changes.

    `faults` are those of parsing. Raises FaultyInput with all faults, else NotPermitted or Refused.
    """
    await parts.feed.catch_up()

    def attempt() -> AppendRequest | None:
        importing = _decide(parts, request, items, faults)
        if not importing.decided:
            return None
        answer = orjson.dumps(counted(importing.imported))
        return append_for(parts, request, importing.decided, importing.versions, answer)

    done = await commit(parts, lambda: asyncio.to_thread(attempt))
    if done is not None:
        await parts.feed.reach(done.position)
    return done


async def preview_import(
    parts: WriteParts, request: RequestContext, items: Sequence[ImportItem], faults: Sequence[Fault]
) -> list[Imported]:
    """Return the changes that the import would make. Raises the errors of `import_systems`."""
    await parts.feed.catch_up()
    importing = await asyncio.to_thread(_decide, parts, request, items, faults)
    return importing.imported


def counted(imported: Sequence[Imported]) -> dict[str, int]:
    """Return the counts of added, changed and unchanged systems."""
    added = sum(system.added for system in imported)
    kept = sum(not system.added and not system.differences for system in imported)
    return {"added": added, "changed": len(imported) - added - kept, "kept": kept}


def _decide(
    parts: WriteParts, request: RequestContext, items: Sequence[ImportItem], faults: Sequence[Fault]
) -> Importing:
    """Return the decisions on all items. Blocking."""
    gathered = parts.aggregates.gather(f"system/{item.fqdn}" for item in items)
    importing = Importing(parts, request, gathered, [*faults])
    for item in items:
        importing.take(item)
    importing.require_possible()
    return importing
