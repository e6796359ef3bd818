"""/queue"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from falcon.asgi import Request, Response

from api.clock import rfc3339
from api.rest import concerned_partitions, paging, partitions
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import recipes as answers
from api.rest.contract.operation import operation
from api.rest.current_reasons import CurrentReason, counts_answer, reasons_of
from api.rest.held_back import HeldBack, held_back_of
from api.rest.ports import ExplainParts
from api.rest.resources.shapes import queued_recipe, ranked
from api.rest.shown_weights import weights_of
from api.rest.views import View, read_view
from domain.errors import Fault, FaultyInput
from domain.scheduling.explaining.places import START
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
    parts: ExplainParts, view: View, query: queries.QueuePage, page: paging.PageAt
) -> tuple[paging.PageAt, paging.Listed]:
    """Return a page of the waiting recipes, with the position that it reflects.

    The present order of a system reflects the end of the log, which may be after the position of the view.
    Raises Unknown and FaultyInput.
    """
    if query.system is None:
        return page, await _queue(parts, view, query, page)
    if query.partition is not None:
        raise FaultyInput([Fault("partition", "cannot be given with a system, which has one itself")])
    return await _queue_of(parts, view, query.system, query.reasons, page)


async def _queue(
    parts: ExplainParts, view: View, query: queries.QueuePage, page: paging.PageAt
) -> paging.Listed:
    number = await partitions.number_at(parts, view.at, query.partition)
    names = ("not_assigned", "minus_priority", "submission", "recipe_id")
    params = {"at": view.position, "limit": page.limit, **dict(zip(names, page.after, strict=True))}
    params["partitions"] = await partitions.numbers_at(parts, view.at) if number is None else [number]
    rows = await parts.reader.rows("queue", params)
    weights, held_back, reasons = await asyncio.gather(
        weights_of(parts, view.at, rows),
        _held_back(parts, view.at, rows),
        _reasons(parts, view, view.at, rows, query.reasons),
    )
    partition_names = await partitions.names_at(parts, view.at, [row["partition"] for row in rows])
    named = ({**row, "partition": partition_names[row["partition"]]} for row in rows)
    recipes = [queued_recipe(*each) for each in zip(named, weights, held_back, reasons, strict=True)]
    last = rows[-1] if rows else None
    key = last and [last["state"] != "assigned", -last["priority"], last["submission"], last["recipe_id"]]
    return paging.listed(page, recipes, key)


async def _queue_of(
    parts: ExplainParts, view: View, system: str, has_reasons: bool, page: paging.PageAt
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
    held_back, reasons = await asyncio.gather(
        _held_back(parts, page.at, recipes), _reasons(parts, view, page.at, recipes, has_reasons)
    )
    recipes = [
        {**recipe, "held_back": held, "reason": reason}
        for recipe, held, reason in zip(recipes, held_back, reasons, strict=True)
    ]
    key = [rfc3339(now), *order[-1]["key"]] if order else None
    return page, paging.listed(page, recipes, key)


async def _held_back(parts: ExplainParts, at: At, rows: Sequence[Mapping[str, Any]]) -> list[HeldBack]:
    """Return the rows of admission that hold back the set of each recipe; a holder is not held back."""
    waiting = {row["recipe_set_id"]: None for row in rows if row["state"] != "assigned"}
    found = await held_back_of(parts, at, waiting)
    return [found.get(row["recipe_set_id"], []) for row in rows]


async def _reasons(
    parts: ExplainParts, view: View, at: At, rows: Sequence[Mapping[str, Any]], has_reasons: bool
) -> list[CurrentReason]:
    """Return the current reason of each recipe, None for all unless they have been asked for."""
    found = await reasons_of(parts, view, at, [row["recipe_id"] for row in rows] if has_reasons else [])
    return [found.get(row["recipe_id"]) for row in rows]


class Queue:
    def __init__(self, parts: ExplainParts) -> None:
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
