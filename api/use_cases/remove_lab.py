"""Removal of lab controllers, with or without their systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from api.use_cases.commit import commit_aggregates, require_expected
from api.use_cases.ports import PasswordParts, RequestContext
from api.use_cases.remove_document import remove_document
from api.use_cases.rights import require_admin
from domain.batches import batches
from domain.directory.partitions import systems_of_lab
from domain.directory.removal import require_unnamed_lab
from domain.endings import with_reason
from domain.events import Decided, subject
from domain.read_set import ReadSet
from domain.system_admin.lab_removal import remove_systems
from store.requests import Committed

KIND: Final = "lab-controller"
# Each system may have a recipe set whose other recipes hold systems, which are in the commit, too.
MAX_SYSTEMS_PER_COMMIT: Final = 50


async def remove_lab(
    parts: PasswordParts, request: RequestContext, name: str, *, force: bool, reason: str | None = None
) -> Committed | None:
    """Remove a lab controller as `remove_document` does, and raise its errors.

    With `force` its recipes are aborted and its systems made Removed first, in several commits: a removal
    that is interrupted goes on when it is repeated. Their reasons contain that of the removal.
    """
    if force:
        require_admin(request, f"remove the lab controller {name} with its systems")
        await parts.feed.catch_up()
        directory = parts.feed.directory
        entry = directory.get(KIND, name)
        if entry is not None:
            require_expected(request, subject(KIND, name), entry.version)
            require_unnamed_lab(directory, name)
            why = with_reason(f"lab controller {name} is removed", reason)
            await _remove_systems(parts, request, systems_of_lab(directory, name), why)
    return await remove_document(parts, request, KIND, name, reason)


async def _remove_systems(
    parts: PasswordParts, request: RequestContext, fqdns: Sequence[str], reason: str
) -> None:
    # If-Match and the Idempotency-Key of the request do not apply to these commits.
    unconditional = replace(request, expected=None, command_id=None)
    for batch in batches(fqdns, MAX_SYSTEMS_PER_COMMIT):
        decide = partial(_removed, batch, reason)
        await commit_aggregates(parts, unconditional, [subject("system", fqdn) for fqdn in batch], decide)


def _removed(fqdns: Sequence[str], reason: str, gathered: ReadSet) -> Decided:
    return remove_systems(gathered, fqdns, reason)
