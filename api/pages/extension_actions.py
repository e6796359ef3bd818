"""The actions that give a recipe, a reservation or a loan more time."""

from __future__ import annotations

from typing import Final

from api.pages.actions import Action
from api.pages.form_fields import Fields, FormField, until_of
from api.pages.system_checks import checked
from api.rest.ports import PageParts
from api.use_cases.extend import (
    ExtensionRequest,
    extend_deadline,
    extend_lending,
    require_may_extend_lending,
    require_may_extend_recipe,
)
from api.use_cases.ports import RequestContext
from store.requests import Committed

_FIELDS: Final = (
    FormField("until", "Until", is_required=True, hint="a time such as 2026-11-29T18:00:00Z"),
    FormField("reason", "Reason"),
)


def _wanted(fields: Fields) -> ExtensionRequest:
    return ExtensionRequest(None, until_of(fields), fields.get("reason"))


async def _extend_recipe(
    parts: PageParts, request: RequestContext, recipe_id: int, fields: Fields
) -> Committed | None:
    return await extend_deadline(parts, request, recipe_id, _wanted(fields))


async def _extend_system(
    parts: PageParts, request: RequestContext, fqdn: str, fields: Fields
) -> Committed | None:
    return await extend_lending(parts, request, fqdn, _wanted(fields))


EXTEND_RECIPE: Final = Action(
    name="extend",
    label="Extend the recipe",
    effect=(
        "Its watchdog expires later, or it keeps its system longer. The start of its next task sets the"
        " watchdog anew."
    ),
    is_possible=lambda recipe: recipe["deadline"] is not None,
    require_may=require_may_extend_recipe,
    perform=_extend_recipe,
    fields=_FIELDS,
)
EXTEND_SYSTEM: Final = Action(
    name="extend",
    label="Extend the reservation or loan",
    effect="The reservation ends later or, without one, the loan.",
    is_possible=lambda system: (
        (system["reserved_until"] if system["user"] else system["loaned_until"]) is not None
    ),
    require_may=checked(require_may_extend_lending),
    perform=_extend_system,
    fields=_FIELDS,
)
