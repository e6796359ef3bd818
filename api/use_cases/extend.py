"""Extension of recipes, reservations and loans by people."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from api.use_cases.commit import commit_aggregates
from api.use_cases.ports import RequestContext, WriteParts
from api.use_cases.resolve import present_system
from api.use_cases.rights import own_recipe
from api.use_cases.system_rights import (
    holds,
    require_may_lend,
    require_may_return,
    require_viewed,
    rights_subjects,
)
from domain.access.policy import CONTROL_SYSTEM
from domain.directory.state import Directory
from domain.errors import NotPermitted
from domain.events import Decided
from domain.extension import Extension, extend_recipe, extend_system
from domain.read_set import ReadSet
from domain.recipe.state import Recipe
from domain.system.state import System
from store.requests import Committed


@dataclass(frozen=True)
class ExtensionRequest:
    """A requested extension by `seconds`, or until a time: just one of them is set."""

    seconds: int | None
    until: datetime | None
    reason: str | None


async def extend_deadline(
    parts: WriteParts, request: RequestContext, recipe_id: int, wanted: ExtensionRequest
) -> Committed | None:
    """Extend the watchdog of a started recipe, or the time for which it keeps its system.

    Raises Unknown, NotPermitted for a caller who may neither change the job nor control the system, and the
    errors of `extend_recipe`.
    """
    await asyncio.to_thread(require_may_extend_recipe, parts, request, recipe_id)

    def decide(gathered: ReadSet) -> Decided:
        recipe = gathered.recipe(recipe_id)
        assert recipe is not None, "recipes are never removed"
        return extend_recipe(recipe, _extension(parts, wanted, recipe.lab_controller))

    return await commit_aggregates(parts, request, (f"recipe/{recipe_id}",), decide)


def require_may_extend_recipe(parts: WriteParts, request: RequestContext, recipe_id: int) -> None:
    """Raise NotPermitted unless the caller may change the job, or control its system. Blocking."""
    try:
        own_recipe(parts, request, recipe_id)
    except NotPermitted:
        recipe = parts.aggregates.load([f"recipe/{recipe_id}"])[f"recipe/{recipe_id}"]
        assert isinstance(recipe, Recipe), "it was found before"
        subject = f"system/{recipe.system}"
        system = parts.aggregates.load([subject]).get(subject)
        is_controlled = isinstance(system, System) and holds(
            parts.feed.directory, request, system, CONTROL_SYSTEM
        )
        if not is_controlled:
            raise


def require_may_extend_lending(directory: Directory, request: RequestContext, system: System) -> None:
    """Raise NotPermitted unless the caller may end the reservation, or lend the system to its borrower."""
    if system.reservation is not None:
        require_may_return(directory, request, system)
    elif system.loan is not None:
        require_may_lend(directory, request, system, system.loan.user)


async def extend_lending(
    parts: WriteParts, request: RequestContext, fqdn: str, wanted: ExtensionRequest
) -> Committed | None:
    """Extend the reservation of a system or, without one, its loan.

    Raises Unknown, NotPermitted for a caller who may not end the reservation, or not lend the system to its
    borrower, and the errors of `extend_system`.
    """

    def decide(gathered: ReadSet) -> Decided:
        system = present_system(gathered, fqdn)
        require_viewed(parts.feed.directory, request, system)
        require_may_extend_lending(parts.feed.directory, request, system)
        return extend_system(system, _extension(parts, wanted, system.lab_controller))

    def also_read(gathered: ReadSet) -> Iterator[str]:
        return rights_subjects(parts.feed.directory, present_system(gathered, fqdn), request.actor)

    return await commit_aggregates(parts, request, (f"system/{fqdn}",), decide, also_read)


def _extension(parts: WriteParts, wanted: ExtensionRequest, lab_controller: str | None) -> Extension:
    maximum = parts.feed.directory.max_extension_seconds(lab_controller)
    return Extension(wanted.seconds, wanted.until, wanted.reason, maximum, parts.clock())


async def end_after(parts: WriteParts, subject: str, done: Committed) -> datetime | None:
    """Return the deadline of a recipe, or the end of a reservation or loan, after an extension."""
    state = await asyncio.to_thread(parts.aggregates.as_of, subject, done.position)
    if isinstance(state, Recipe):
        return state.recorded_deadline
    assert isinstance(state, System), f"{subject} was extended"
    held = state.reservation or state.loan
    return None if held is None else held.until
