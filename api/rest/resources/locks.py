"""/locks: resource locks that recipes hold or await"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from falcon.asgi import Request, Response

from api.rest import concerned_partitions, paging, visibility
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import locks as answers
from api.rest.contract.operation import operation
from api.rest.explainer_answers import ask
from api.rest.ports import ExplainParts
from projections.fold_locks import AWAITED
from projections.read_sessions import Row
from projections.reader import At

# The key before all others: level, name, recipe and mode.
START: list[Any] = ["", "", 0, ""]
NO_WAIT: Mapping[str, Any] = {"overtaken": None, "owed": None, "waits_for": [], "waits_for_count": 0}


class Locks:
    def __init__(self, parts: ExplainParts) -> None:
        self._parts = parts

    @operation("List the resource locks that recipes hold or await", answers.LockList, queries.LockPage)
    async def on_get(self, req: Request, resp: Response) -> None:
        page = await paging.read_page(req, self._parts, first=START)
        query = query_of(req, queries.LockPage)
        names = ("after_level", "after_name", "after_recipe_id", "after_mode")
        after = dict(zip(names, page.after, strict=True))
        hidden = await visibility.hidden_rows(req, self._parts)
        params = {"at": page.position, "limit": page.limit, "hidden": hidden, **query.filters(), **after}
        rows = await self._parts.reader.rows("locks", params)
        waits = await waits_of(self._parts, page.at, rows)
        locks = [{**row, **waits.get(row["recipe_set_id"], NO_WAIT)} for row in rows]
        paging.answer_list(req, resp, page, "locks", locks, _key(rows[-1]) if rows else None)


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
