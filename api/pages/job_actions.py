"""The actions on jobs, recipe sets and recipes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from api.pages.actions import REASON, Action, ActionSubject, Facts
from api.pages.extension_actions import EXTEND_RECIPE
from api.pages.form_fields import Fields, FormField
from api.pages.retention_actions import RETENTION_ACTIONS
from api.pages.review_actions import REVIEW_ACTIONS, TASK_WAIVER_ACTIONS
from api.rest.ports import PageParts
from api.rest.resources.jobs import job_answer
from api.rest.resources.recipe_sets import recipe_set_answer
from api.rest.resources.recipes import recipe_answer
from api.rest.routes import SUBMITTERS
from api.rest.views import View
from api.use_cases.change_job import cancel_job, cancel_recipe_set, change_priority, return_recipe
from api.use_cases.extend_job import close_job
from api.use_cases.ports import RequestContext
from api.use_cases.rights import (
    own_or_administered_job,
    own_or_administered_jobs,
    own_or_administered_set,
    own_recipe,
)
from domain.priority import Priority
from domain.recipe.lifecycle import FINISHED, UNPLACED
from store.requests import Committed


async def _cancel_job(
    parts: PageParts, request: RequestContext, job_id: int, fields: Fields
) -> Committed | None:
    return await cancel_job(parts, request, job_id, fields["reason"])


async def _close_job(
    parts: PageParts, request: RequestContext, job_id: int, fields: Fields
) -> Committed | None:
    return await close_job(parts, request, job_id, fields["reason"])


async def _cancel_set(
    parts: PageParts, request: RequestContext, set_id: int, fields: Fields
) -> Committed | None:
    return await cancel_recipe_set(parts, request, set_id, fields["reason"])


async def _change_priority(
    parts: PageParts, request: RequestContext, set_id: int, fields: Fields
) -> Committed | None:
    return await change_priority(parts, request, set_id, Priority[fields["priority"]])


async def _return_recipe(
    parts: PageParts, request: RequestContext, recipe_id: int, fields: Fields
) -> Committed | None:
    return await return_recipe(parts, request, recipe_id, fields["reason"])


def _unfinished(facts: Facts) -> bool:
    return facts["state"] not in FINISHED


def _recipes_that_end(facts: Facts) -> str:
    """Return which recipes of a job or set a cancellation ends."""
    sets = facts.get("recipe_sets", [facts])
    ending = [recipe for each in sets for recipe in each["recipes"] if _unfinished(recipe)]
    placed = sum(recipe["system"] is not None for recipe in ending)
    count = f"{len(ending)} recipe{'s' if len(ending) != 1 else ''}"
    return f"It ends {count}; {placed} of them {'has' if placed == 1 else 'have'} a system."


async def changeable_sets(
    parts: PageParts, request: RequestContext, view: View, recipes: Sequence[Facts]
) -> list[dict[str, Any]]:
    """Return the sets of waiting recipes that the caller may change, with their actions, by two queries.

    A page about the past has none.
    """
    if not recipes or view.is_past or view.principal.role not in SUBMITTERS:
        return []
    job_ids = {recipe["job_id"] for recipe in recipes}
    permitted = frozenset(await asyncio.to_thread(own_or_administered_jobs, parts, request, job_ids))
    states = {recipe["recipe_set_id"]: recipe["state"] for recipe in recipes if recipe["job_id"] in permitted}
    return [
        {"recipe_set_id": set_id, "actions": _labels({"state": state})} for set_id, state in states.items()
    ]


def _labels(recipe_set: Facts) -> list[dict[str, str]]:
    possible = (action for action in RECIPE_SET.actions if action.is_possible(recipe_set))
    return [{"name": action.name, "label": action.label} for action in possible]


_CANCEL_JOB: Final = Action(
    name="cancel",
    label="Cancel the job",
    is_possible=_unfinished,
    require_may=own_or_administered_job,
    perform=_cancel_job,
    fields=(REASON,),
    ends=_recipes_that_end,
)
_CLOSE_JOB: Final = Action(
    name="close",
    label="Close the job",
    is_possible=lambda job: job["open"],
    require_may=own_or_administered_job,
    perform=_close_job,
    fields=(REASON,),
    ends=lambda _: "It then takes no more recipe sets.",
)
_CANCEL_SET: Final = Action(
    name="cancel",
    label="Cancel the recipe set",
    is_possible=_unfinished,
    require_may=own_or_administered_set,
    perform=_cancel_set,
    fields=(REASON,),
    ends=_recipes_that_end,
)
_CHANGE_PRIORITY: Final = Action(
    name="priority",
    label="Change the priority",
    effect="Recipe sets with a higher priority get systems first; a queue may limit or raise it.",
    is_possible=lambda recipe_set: recipe_set["state"] in UNPLACED,
    require_may=own_or_administered_set,
    perform=_change_priority,
    fields=(FormField("priority", "Priority", choices=tuple(Priority.__members__), is_required=True),),
)
_RETURN_RECIPE: Final = Action(
    name="return",
    label="Return the system",
    is_possible=lambda recipe: recipe["state"] == "reserved",
    require_may=own_recipe,
    perform=_return_recipe,
    fields=(REASON,),
    ends=lambda recipe: f"It ends the recipe, which keeps {recipe['system']}.",
)

JOB: Final = ActionSubject("job", "jobs", job_answer, (_CANCEL_JOB, _CLOSE_JOB, *RETENTION_ACTIONS))
RECIPE_SET: Final = ActionSubject(
    "recipe-set", "recipe-sets", recipe_set_answer, (_CANCEL_SET, _CHANGE_PRIORITY, *REVIEW_ACTIONS)
)
RECIPE: Final = ActionSubject(
    "recipe", "recipes", recipe_answer, (EXTEND_RECIPE, _RETURN_RECIPE, *TASK_WAIVER_ACTIONS)
)
