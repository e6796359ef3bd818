"""/recipes and /queue"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from falcon.asgi import Request, Response

from api.clock import rfc3339
from api.rest import concerned_partitions, paging, partitions, visibility
from api.rest.body import parse_model, read_body, read_json_bytes, read_model
from api.rest.context import keyed_request, principal_of, query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import recipes as answers
from api.rest.contract.inputs.jobs import RecipePatch
from api.rest.contract.inputs.labs import ProgressItem
from api.rest.contract.operation import BODY_REFUSALS, operation
from api.rest.held_back import HeldBack, held_back_of
from api.rest.ports import ExplainParts, RecipeResourceParts
from api.rest.resources.by_number import find
from api.rest.resources.claims import claim_of_recipe
from api.rest.resources.progress import read_report
from api.rest.resources.recipe_changes import change_by_patch
from api.rest.resources.shapes import (
    queued_recipe,
    ranked,
    recipe_document,
    recipe_locks,
    seconds_document,
)
from api.rest.shown_weights import weights_of
from api.rest.views import View, read_view
from api.use_cases.change_job import return_recipe
from api.use_cases.idempotency import commit_once
from api.use_cases.report_drafts import RecipeItem
from api.use_cases.report_progress import report_progress
from domain.errors import Fault, FaultyInput, LabledgerError
from domain.recipe.lifecycle import STARTED
from domain.recipe.state import Recipe
from domain.scheduling.explaining.places import START
from projections.reader import At
from store.requests import Committed

# The key before all others in the order of one system: the moment at which all pages weigh, which is that of
# the first page, and the sort key.
ORDER_START: list[Any] = ["", *START]
# The key before all others in the queue: not assigned, -priority, submission and recipe id.
QUEUE_START: list[Any] = [False, -(2**15), 0, 0]
# The further queries for one recipe.
FURTHER_QUERIES = (
    *("tasks", "seconds_in_states", "tree_of_recipe", "history_of_recipe", "results_of_recipe", "held_locks"),
)


async def recipe_answer(parts: ExplainParts, view: View, recipe_id: int) -> tuple[int, dict[str, Any]]:
    """Return the version of a recipe, and the answer about it. Raises Unknown."""
    version, recipe, others = await find(parts, view.at, "recipe", recipe_id, *FURTHER_QUERIES)
    tasks, seconds, trees, history, results, held_locks = others
    return version, {
        **recipe_document(recipe, tasks, await _deadline(parts, recipe, view.position)),
        "claim": await claim_of_recipe(parts, view, recipe),
        "locks": recipe_locks(recipe, held_locks),
        "seconds": seconds_document(seconds),
        "distro_tree": {"id": recipe["distro_tree_id"], **trees[0]["document"]} if trees else None,
        "history": history,
        "results": results,
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
        keyed=True,
        refuses=BODY_REFUSALS,
    )
    async def on_post_return(self, req: Request, resp: Response, recipe_id: int) -> None:
        request = keyed_request(req, await read_body(req))
        done = await commit_once(
            self._parts.log, request, lambda: return_recipe(self._parts, request, recipe_id)
        )
        answer = {"recipe_id": recipe_id, "returned": done is not None}
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation(
        "List the waiting recipes: assigned ones first, then by priority, then by submission",
        answers.Queue,
        queries.QueuePage,
        refuses=(404,),
    )
    async def on_get_queue(self, req: Request, resp: Response) -> None:
        asked = query_of(req, queries.QueuePage)
        if asked.system is not None:
            if asked.partition is not None:
                raise FaultyInput([Fault("partition", "cannot be given with a system, which has one itself")])
            await self._queue_of(req, resp, asked.system)
            return
        page = await paging.read_page(req, self._parts, first=QUEUE_START)
        number = await partitions.number_at(self._parts, page.at, asked.partition)
        names = ("not_assigned", "minus_priority", "submission", "recipe_id")
        params = {"at": page.position, "limit": page.limit, **dict(zip(names, page.after, strict=True))}
        all_partitions = await partitions.numbers_at(self._parts, page.at) if number is None else [number]
        params["partitions"] = all_partitions
        rows = await self._parts.reader.rows("queue", params)
        weights, held_back = await asyncio.gather(
            weights_of(self._parts, page.at, rows), self._held_back(page.at, rows)
        )
        numbers = [row["partition"] for row in rows]
        partition_names = await partitions.names_at(self._parts, page.at, numbers)
        named = ({**row, "partition": partition_names[row["partition"]]} for row in rows)
        recipes = [queued_recipe(*each) for each in zip(named, weights, held_back, strict=True)]
        last = rows[-1] if rows else None
        key = last and [last["state"] != "assigned", -last["priority"], last["submission"], last["recipe_id"]]
        paging.answer_list(req, resp, page, "recipes", recipes, key)

    async def _held_back(self, at: At, rows: Sequence[Mapping[str, Any]]) -> list[HeldBack]:
        """Return the rows of admission that hold back the set of each recipe; a holder is not held back."""
        waiting = {row["recipe_set_id"]: None for row in rows if row["state"] != "assigned"}
        found = await held_back_of(self._parts, at, waiting)
        return [found.get(row["recipe_set_id"], []) for row in rows]

    async def _queue_of(self, req: Request, resp: Response, system: str) -> None:
        """Answer the queue of a system, in the scheduler's order, with rows of the read models."""
        page = await paging.read_page(req, self._parts, first=ORDER_START)
        await visibility.require_visible(req, self._parts, system)
        # The order of the present reflects the end of the log, which may be after the read position.
        at = None if query_of(req, queries.QueuePage).as_of is None else page.position
        moment, *after = page.after
        is_first = page.after == ORDER_START
        now = paging.moment_of(page.at, self._parts) if is_first else paging.cursor_moment(moment)
        identity = await concerned_partitions.of_system(self._parts, system, page.at)
        question = {"at": at, "now": now, "after": after, "limit": page.limit, "system": system}
        ordered = await self._parts.explainers.ask(identity, "order", **question)
        position, order = ordered["position"], ordered["recipes"]
        await self._parts.reader.reach(position, self._parts.max_waits.position_wait_seconds)
        params = {"at": position, "recipe_ids": [one["recipe_id"] for one in order]}
        rows = {row["recipe_id"]: row for row in await self._parts.reader.rows("queue_of", params)}
        numbers = [row["partition"] for row in rows.values()]
        names = await partitions.names_at(self._parts, At(position), numbers)
        recipes = [{**rows[one["recipe_id"]], **ranked(one)} for one in order]
        recipes = [{**recipe, "partition": names[recipe["partition"]]} for recipe in recipes]
        page = replace(page, at=page.at._replace(position=position))
        held_back = await self._held_back(page.at, recipes)
        recipes = [{**recipe, "held_back": each} for recipe, each in zip(recipes, held_back, strict=True)]
        key = [rfc3339(now), *order[-1]["key"]] if order else None
        paging.answer_list(req, resp, page, "recipes", recipes, key)
