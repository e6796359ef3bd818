"""/locks: resource locks that recipes hold or await"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging, visibility
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import locks as answers
from api.rest.contract.operation import operation
from api.rest.ports import ExplainParts
from projections.fold_locks import AWAITED
from projections.reader import Row

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
        waits = await self._waits(rows, None if query.as_of is None else page.position)
        locks = [{**row, **waits.get(row["recipe_set_id"], NO_WAIT)} for row in rows]
        paging.answer_list(req, resp, page, "locks", locks, _key(rows[-1]) if rows else None)

    async def _waits(self, rows: Iterable[Row], at: int | None) -> dict[int, dict[str, Any]]:
        """Return the scheduler's answers about the waiting sets, as of a position or the end of the log.

        A set that waits in the read models may have got its locks since.
        """
        waiting = {row["recipe_set_id"]: None for row in rows if row["state"] == AWAITED}
        if not waiting:
            return {}
        answer = await self._parts.explainer.ask("lock_waits", recipe_set_ids=list(waiting), at=at)
        return {wait.pop("recipe_set_id"): wait for wait in answer["waits"]}


def _key(row: Row) -> list[Any]:
    return [row["level"], row["name"] or "", row["recipe_id"], row["mode"]]
