"""Removal of users and pools, refused without force while something uses them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from api.use_cases.commit import require_expected
from api.use_cases.ports import PasswordParts, RequestContext
from api.use_cases.remove_document import remove_document
from api.use_cases.rights import require_admin
from domain.directory.state import people_of
from domain.errors import WORDS, Refused, display_name, listed
from domain.events import subject
from domain.maintenance.window import ENDED, state_at
from domain.maintenance.window import KIND as WINDOW
from domain.recipe.lifecycle import UNFINISHED
from projections.reader import Reader
from store.requests import Committed

READ_MODELS_SECONDS: Final = 20.0
KINDS: Final = ("user", "pool")

Uses = Mapping[str, Sequence[str]]
"""Names of what uses an entry, by the word for one of them."""


class UsedParts(PasswordParts, Protocol):
    """Parts to remove users and pools, whose uses are in the read models."""

    @property
    def reader(self) -> Reader: ...


async def remove_used(
    parts: UsedParts, request: RequestContext, kind: str, name: str, *, force: bool, reason: str | None = None
) -> Committed | None:
    """Remove a user or pool as `remove_document` does, and raise its errors.

    Raises Refused, unless `force`, for a user with unfinished jobs, kept systems, groups, reservations or
    loans, and for a pool with systems that are not Removed, or that maintenance windows or unfinished jobs
    name. A use that is added concurrently does not prevent the removal.
    """
    require_admin(request, f"remove {display_name(kind, name)}")
    if not force:
        await parts.feed.catch_up()
        entry = parts.feed.directory.get(kind, name)
        if entry is not None:
            require_expected(request, subject(kind, name), entry.version)
            await parts.reader.reach(parts.feed.position, READ_MODELS_SECONDS)
            uses = await (_uses_of_user if kind == "user" else _uses_of_pool)(parts, name)
            if used := [_counted(word, names) for word, names in uses.items() if names]:
                has = f"{display_name(kind, name)} has {', '.join(used)}"
                raise Refused(f"{has}; end or change these first, or use force")
    return await remove_document(parts, request, kind, name, reason)


async def _uses_of_user(parts: UsedParts, name: str) -> Uses:
    uses: dict[str, list[str]] = defaultdict(list)
    for row in await parts.reader.rows("uses_of_user", {"user": name, "unfinished": list(UNFINISHED)}):
        uses[row["use"]].append(row["name"])
    groups = parts.feed.directory.items("group")
    uses["group"] = sorted(group for group, entry in groups if name in people_of(entry.document))
    return uses


async def _uses_of_pool(parts: UsedParts, name: str) -> Uses:
    directory, now = parts.feed.directory, parts.clock()
    systems = await parts.reader.rows("systems_left", {"systems": list(directory.systems_of(name))})
    rows = await parts.reader.rows("jobs_naming_pool", {"pool": name, "unfinished": list(UNFINISHED)})
    windows = (
        number
        for number, entry in directory.items(WINDOW)
        if entry.document["pool"] == name and state_at(entry.document, now) != ENDED
    )
    return {
        "system": [row["fqdn"] for row in systems],
        "unfinished job": [str(row["job_id"]) for row in rows],
        WORDS[WINDOW]: sorted(windows, key=int),
    }


def _counted(word: str, names: Sequence[str]) -> str:
    """Return `2 unfinished jobs (10, 11)`."""
    return f"{len(names)} {word}{'' if len(names) == 1 else 's'} ({listed(names)})"
