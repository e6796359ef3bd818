"""/locks: resource locks that recipes hold or await"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from falcon.asgi import Request, Response

from api.rest import concerned_partitions, paging
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import locks as answers
from api.rest.contract.operation import operation
from api.rest.explainer_answers import ask
from api.rest.ports import ExplainParts
from api.rest.views import View, read_view
from projections.fold_locks import AWAITED
from projections.read_sessions import Row
from projections.reader import At

# The key before all others: level, name, recipe and mode.
START: list[Any] = ["", "", 0, ""]
NO_WAIT: Mapping[str, Any] = {"overtaken": None, "owed": None, "waits_for": [], "waits_for_count": 0}


async def lock_list(
    parts: ExplainParts, view: View, query: queries.LockPage, page: paging.PageAt
) -> paging.Listed:
    """Return a page of the resource locks, without those on hidden systems."""
    names = ("after_level", "after_name", "after_recipe_id", "after_mode")
    after = dict(zip(names, page.after, strict=True))
    params = {
        "at": view.position,
        "limit": page.limit,
        "hidden": view.hidden_rows,
        **query.filters(),
        **after,
    }
    rows = await parts.reader.rows("locks", params)
    waits = await waits_of(parts, view.at, rows)
    locks = [{**row, **waits.get(row["recipe_set_id"], NO_WAIT)} for row in rows]
    return paging.listed(page, locks, _key(rows[-1]) if rows else None)


class Locks:
    def __init__(self, parts: ExplainParts) -> None:
        self._parts = parts

    @operation("List the resource locks that recipes hold or await", answers.LockList, queries.LockPage)
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, START)
        query = query_of(req, queries.LockPage)
        paging.answer_listed(req, resp, page, "locks", await lock_list(self._parts, view, query, page))


async def waits_of(parts: ExplainParts, at: At, rows: Iterable[Row]) -> dict[int, dict[str, Any]]:
    """Return the fields of `NO_WAIT` of each waiting set.

    Sets are missing whose explaining process reads too long, or that have got their locks since.
    """
    waiting = {row["recipe_set_id"]: None for row in rows if row["state"] == AWAITED}
    divided = await concerned_partitions.of_subjects(parts, "recipe-set", waiting.keys())
    answers = await asyncio.gather(
        *(ask(parts, each, "lock_waits", at, recipe_set_ids=set_ids) for each, set_ids in divided.items())
    )
    return {wait.pop("recipe_set_id"): wait for answer in answers for wait in answer.get("waits", ())}


def _key(row: Row) -> list[Any]:
    return [row["level"], row["name"] or "", row["recipe_id"], row["mode"]]
