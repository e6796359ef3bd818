"""/recipes"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import parse_model, read_body, read_json_bytes, read_model
from api.rest.context import keyed_request, principal_of, query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import recipes as answers
from api.rest.contract.inputs.jobs import RecipePatch
from api.rest.contract.inputs.labs import ProgressItem
from api.rest.contract.operation import BODY_REFUSALS, operation
from api.rest.ports import ExplainParts, RecipeResourceParts
from api.rest.resources.by_number import deletion_of, find
from api.rest.resources.claims import claim_of_recipe
from api.rest.resources.progress import read_report
from api.rest.resources.recipe_changes import change_by_patch
from api.rest.resources.shapes import recipe_document, recipe_locks, seconds_document
from api.rest.views import View, read_view
from api.use_cases.change_job import return_recipe
from api.use_cases.idempotency import commit_once
from api.use_cases.report_drafts import RecipeItem
from api.use_cases.report_progress import report_progress
from domain.errors import LabledgerError
from domain.recipe.lifecycle import STARTED
from domain.recipe.state import Recipe
from store.requests import Committed

# The further queries for one recipe.
FURTHER_QUERIES = (
    *("tasks", "seconds_in_states", "tree_of_recipe", "history_of_recipe", "results", "held_locks"),
    "deletion",
)


async def recipe_answer(parts: ExplainParts, view: View, recipe_id: int) -> tuple[int, dict[str, Any]]:
    """Return the version of a recipe, and the answer about it. Raises Unknown."""
    version, recipe, others = await find(parts, view.at, "recipe", recipe_id, *FURTHER_QUERIES)
    tasks, seconds, trees, history, results, held_locks, deletions = others
    return version, {
        **recipe_document(recipe, tasks, await _deadline(parts, recipe, view.position)),
        "claim": await claim_of_recipe(parts, view, recipe),
        "locks": recipe_locks(recipe, held_locks),
        "seconds": seconds_document(seconds),
        "distro_tree": {"id": recipe["distro_tree_id"], **trees[0]["document"]} if trees else None,
        "history": history,
        "results": results,
        "results_deleted": deletion_of(deletions),
    }


async def _deadline(parts: ExplainParts, recipe: dict[str, Any], at: int) -> datetime | None:
    """Return the deadline of the watchdog, folded from the log: no read model has it."""
    if recipe["state"] not in STARTED or recipe["awaits_locks"]:
        return None
    state = await asyncio.to_thread(parts.aggregates.as_of, f"recipe/{recipe['recipe_id']}", at)
    return state.recorded_deadline if isinstance(state, Recipe) else None


class Recipes:
    def __init__(self, parts: RecipeResourceParts) -> None:
        self._parts = parts

    @operation(
        "Show a recipe with its state history and results",
        *(answers.Recipe, queries.ReadQuery),
        versioned=True,
    )
    async def on_get(self, req: Request, resp: Response, recipe_id: int) -> None:
        view = await read_view(req, self._parts)
        version, body = await recipe_answer(self._parts, view, recipe_id)
        paging.answer_read(resp, view.at, body, version=version)

    @operation(
        "Change a recipe, before its set starts: its requirements, tasks or locks",
        answers.RecipeChanged,
        body=RecipePatch,
        versioned=True,
    )
    async def on_patch(self, req: Request, resp: Response, recipe_id: int) -> None:
        patch: RecipePatch = await read_model(req)
        fields = patch.model_dump(exclude_unset=True)
        user, request = principal_of(req), request_of(req)
        done, warnings = await change_by_patch(self._parts, user, request, recipe_id, fields)
        body = {"recipe_id": recipe_id, "changed": done is not None, "warnings": warnings}
        await paging.answer_write(resp, self._parts.log, done, body)

    @operation(
        "Report the progress of a recipe, as its lab controller",
        answers.Reported,
        body=ProgressItem,
        keyed=True,
    )
    async def on_post_progress(self, req: Request, resp: Response, recipe_id: int) -> None:
        body = await read_json_bytes(req)
        progress: ProgressItem = await parse_model(req, body)
        item = RecipeItem(recipe_id, read_report(progress), progress.attempt)
        own, request = principal_of(req).lab_controller, keyed_request(req, body)

        async def report() -> Committed | None:
            (answer,) = await report_progress(self._parts, request, own, [item])
            if isinstance(answer, LabledgerError):
                raise answer
            return answer

        done = await commit_once(self._parts.log, request, report)
        await paging.answer_write(resp, self._parts.log, done, {"recipe_id": recipe_id})

    @operation(
        "Return the system of a recipe, which keeps it after its tasks",
        answers.RecipeReturned,
        queries.EndingQuery,
        keyed=True,
        refuses=BODY_REFUSALS,
    )
    async def on_post_return(self, req: Request, resp: Response, recipe_id: int) -> None:
        request = keyed_request(req, await read_body(req))
        reason = query_of(req, queries.EndingQuery).reason
        done = await commit_once(
            self._parts.log, request, lambda: return_recipe(self._parts, request, recipe_id, reason)
        )
        answer = {"recipe_id": recipe_id, "returned": done is not None}
        await paging.answer_write(resp, self._parts.log, done, answer)
