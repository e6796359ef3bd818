"""/queue"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from falcon.asgi import Request, Response

from api.rest import concerned_partitions, paging, partitions
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import recipes as answers
from api.rest.contract.operation import operation
from api.rest.current_reasons import counts_answer, reasons_of
from api.rest.estimates import estimates_of_waiting
from api.rest.held_back import held_back_of
from api.rest.ports import QueueParts
from api.rest.resources.shapes import queued_recipe, ranked
from api.rest.shown_weights import weights_of
from api.rest.views import View, read_view
from api.rest.waiting_sets import WaitingSets, waiting_set_queries, waiting_sets_from_rows
from domain.errors import Fault, FaultyInput
from domain.rfc3339 import rfc3339
from domain.scheduling.explaining.places import START
from projections.read_sessions import Row
from projections.reader import At

# The key before all others in the order of one system: the moment at which all pages weigh, which is that of
# the first page, and the sort key.
ORDER_START: list[Any] = ["", *START]
# The key before all others in the queue: not assigned, -priority, submission and recipe id.
QUEUE_START: list[Any] = [False, -(2**15), 0, 0]


def first_key(query: queries.QueuePage) -> list[Any]:
    """Return the key before all recipes of the queue, or of the order of a system."""
    return QUEUE_START if query.system is None else ORDER_START


async def queue_answer(
    parts: QueueParts, view: View, query: queries.QueuePage, page: paging.PageAt
) -> tuple[paging.PageAt, paging.Listed]:
    """Return a page of the waiting recipes, with the position that it reflects.

    The present order of a system reflects the end of the log, which may be after the position of the view.
    Raises Unknown and FaultyInput.
    """
    if query.system is None:
        return page, await _queue(parts, view, query, page)
    if query.partition is not None:
        raise FaultyInput([Fault("partition", "cannot be given with a system, which has one itself")])
    return await _queue_of(parts, view, query.system, query, page)


async def _queue(
    parts: QueueParts, view: View, query: queries.QueuePage, page: paging.PageAt
) -> paging.Listed:
    number = await partitions.number_at(parts, view.at, query.partition)
    names = ("not_assigned", "minus_priority", "submission", "recipe_id")
    params = {"at": view.position, "limit": page.limit, **dict(zip(names, page.after, strict=True))}
    params["partitions"] = await partitions.numbers_at(parts, view.at) if number is None else [number]
    rows = await parts.reader.rows("queue", params)
    waiting = await _waiting_recipes(parts, view.at, rows, query)
    weights, facts = await asyncio.gather(
        weights_of(parts, view.at, waiting.sets, rows), _facts(parts, view, waiting, query)
    )
    partition_names = await partitions.names_at(parts, view.at, [row["partition"] for row in rows])
    named = [{**row, "partition": partition_names[row["partition"]]} for row in rows]
    recipes = [queued_recipe(*each) for each in zip(named, weights, facts, strict=True)]
    last = rows[-1] if rows else None
    key = last and [last["state"] != "assigned", -last["priority"], last["submission"], last["recipe_id"]]
    return paging.listed(page, recipes, key)


async def _queue_of(
    parts: QueueParts, view: View, system: str, query: queries.QueuePage, page: paging.PageAt
) -> tuple[paging.PageAt, paging.Listed]:
    """Return the queue of a system, in the scheduler's order, with rows of the read models."""
    view.require_visible(system)
    moment, *after = page.after
    now = paging.moment_of(view.at, parts) if page.after == ORDER_START else paging.cursor_moment(moment)
    identity = await concerned_partitions.of_system(parts, system, view.at)
    at = view.position if view.is_past else None
    question = {"at": at, "now": now, "after": after, "limit": page.limit, "system": system}
    ordered = await parts.explainers.ask(identity, "order", **question)
    position, order = ordered["position"], ordered["recipes"]
    await parts.reader.reach(position, parts.max_waits.position_wait_seconds)
    params = {"at": position, "recipe_ids": [one["recipe_id"] for one in order]}
    rows = {row["recipe_id"]: row for row in await parts.reader.rows("queue_of", params)}
    names = await partitions.names_at(parts, At(position), [row["partition"] for row in rows.values()])
    recipes = [{**rows[one["recipe_id"]], **ranked(one)} for one in order]
    recipes = [{**recipe, "partition": names[recipe["partition"]]} for recipe in recipes]
    page = replace(page, at=view.at._replace(position=position))
    waiting = await _waiting_recipes(parts, page.at, recipes, query)
    facts = await _facts(parts, view, waiting, query)
    recipes = [{**recipe, **fact} for recipe, fact in zip(recipes, facts, strict=True)]
    key = [rfc3339(now), *order[-1]["key"]] if order else None
    return page, paging.listed(page, recipes, key)


class _WaitingRecipes(NamedTuple):
    """Rows of waiting recipes, their sets by partition, and their waits if estimates are asked for."""

    at: At
    rows: Sequence[Mapping[str, Any]]
    sets: Sequence[WaitingSets] = ()
    waits: Sequence[Row] = ()


async def _waiting_recipes(
    parts: QueueParts, at: At, rows: Sequence[Mapping[str, Any]], query: queries.QueuePage
) -> _WaitingRecipes:
    """Return the recipes of these rows with their sets and waits, as of a position, in one round trip."""
    if not rows:
        return _WaitingRecipes(at, rows)
    set_ids = dict.fromkeys(row["recipe_set_id"] for row in rows)
    divided = await concerned_partitions.of_subjects(parts, "recipe-set", set_ids)
    of_sets = waiting_set_queries(divided, at)
    params = {"at": at.position, "recipe_ids": [row["recipe_id"] for row in rows]}
    of_waits = [("waits_of_recipes", params)] if query.estimates else []
    found = await parts.reader.together(*of_sets, *of_waits)
    sets = waiting_sets_from_rows(divided, found[: len(of_sets)])
    return _WaitingRecipes(at, rows, sets, found[-1] if of_waits else [])


async def _facts(
    parts: QueueParts, view: View, waiting: _WaitingRecipes, query: queries.QueuePage
) -> list[Row]:
    """Return for each recipe what holds its set back, its current reason and its estimate.

    Nothing holds back a set whose recipes are all assigned. Reasons and estimates are None unless `query`
    asks for them.
    """
    at, rows, sets, waits = waiting
    unplaced = {row["recipe_set_id"] for row in rows if row["state"] != "assigned"}
    asked = [row["recipe_id"] for row in rows] if query.reasons else []
    cached = parts.recent_waits.cached(at, paging.moment_of(at, parts), is_past=view.is_past)
    held_back, reasons, estimates = await asyncio.gather(
        held_back_of(parts, at, sets, unplaced),
        reasons_of(parts, view, at, asked),
        estimates_of_waiting(parts, at, cached, waits),
    )
    return [
        {
            "held_back": held_back[row["recipe_set_id"]],
            "reason": reasons.get(row["recipe_id"]),
            "estimate": estimates.get(row["recipe_id"]),
        }
        for row in rows
    ]


class Queue:
    def __init__(self, parts: QueueParts) -> None:
        self._parts = parts

    @operation(
        "List the waiting recipes: assigned ones first, then by priority, then by submission",
        answers.Queue,
        queries.QueuePage,
        refuses=(404,),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view, query = await read_view(req, self._parts), query_of(req, queries.QueuePage)
        page = paging.page_at(req, view.at, first_key(query))
        page, found = await queue_answer(self._parts, view, query, page)
        paging.answer_listed(req, resp, page, "recipes", found)

    @operation(
        "Count the waiting recipes by their current reason and priority, and by lab",
        answers.ReasonCounts,
        queries.PartitionRead,
        refuses=(404,),
    )
    async def on_get_reasons(self, req: Request, resp: Response) -> None:
        view, query = await read_view(req, self._parts), query_of(req, queries.PartitionRead)
        answer = await counts_answer(self._parts, view, query.partition, query.min_position)
        paging.answer(resp, *answer)
