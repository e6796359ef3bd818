"""Import of many systems: unknown ones are added, the others changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import orjson

from api.request_context import RequestContext
from api.use_cases.commit import append_for, commit
from api.use_cases.importing import Imported, Importing, ImportItem
from api.use_cases.ports import WriteParts
from domain.errors import Fault
from store.requests import AppendRequest, Committed


async def import_systems(
    parts: WriteParts, request: RequestContext, items: Sequence[ImportItem], faults: Sequence[Fault]
) -> Committed | None:
    """Import all systems in one commit, whose answer is `counted`; return None if nothing changes.

    `faults` are those found before. Raises FaultyInput with all faults, else NotPermitted or Refused, and
    stores nothing then.
    """
    await parts.feed.catch_up()

    def attempt() -> AppendRequest | None:
        made = _decided(parts, request, items, faults)
        if not made.decided:
            return None
        answer = orjson.dumps(counted(made.imported))
        return append_for(parts, request, made.decided, made.versions, answer)

    done = await commit(parts, lambda: asyncio.to_thread(attempt))
    if done is not None:
        await parts.feed.reach(done.position)
    return done


async def look_at_systems(
    parts: WriteParts, request: RequestContext, items: Sequence[ImportItem], faults: Sequence[Fault]
) -> list[Imported]:
    """Return what the import would change. Raises the errors of `import_systems`."""
    await parts.feed.catch_up()
    made = await asyncio.to_thread(_decided, parts, request, items, faults)
    return made.imported


def counted(imported: Sequence[Imported]) -> dict[str, int]:
    """Return the counts of added, changed and unchanged systems."""
    added = sum(one.added for one in imported)
    kept = sum(not one.added and not one.differences for one in imported)
    return {"added": added, "changed": len(imported) - added - kept, "kept": kept}


def _decided(
    parts: WriteParts, request: RequestContext, items: Sequence[ImportItem], faults: Sequence[Fault]
) -> Importing:
    """Return the decisions on all items. Blocking."""
    gathered = parts.aggregates.gather(f"system/{item.fqdn}" for item in items)
    made = Importing(parts, request, gathered, [*faults])
    for item in items:
        made.take(item)
    made.require_possible()
    return made
