"""The page of the queue: the waiting recipes with their current reasons, and their counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from falcon.asgi import Request, Response

from api.pages.job_actions import changeable_sets
from api.pages.page import page_view, show_list
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract import queries
from api.rest.contract.operation import operation
from api.rest.current_reasons import counts_answer
from api.rest.explainer_answers import in_time
from api.rest.inside import principal_inside
from api.rest.ports import QueuePageParts
from api.rest.resources.recipe_queue import first_key, queue_answer
from api.rest.views import View


class WaitingRecipesPage:
    def __init__(self, parts: QueuePageParts) -> None:
        self._parts = parts

    @operation(
        "Show the waiting recipes, or the order of those on one system",
        None,
        queries.QueueFilters,
        gives=(HTML,),
        refuses=(404,),
    )
    async def on_get(self, req: Request, resp: Response) -> None:
        view, filters = await page_view(req, self._parts), query_of(req, queries.QueueFilters)
        query = queries.QueuePage.model_construct(**filters.model_dump(), reasons=True, estimates=True)
        page, found = await queue_answer(
            self._parts, view, query, paging.page_at(req, view.at, first_key(query))
        )
        # The present order on a system reflects the end of the log.
        view = replace(view, at=page.at)
        counts = None if filters.system else await self._counts(view, filters)
        changeable: list[Any] = []
        if principal_inside(req.scope) is None:
            # Not for the live page, whose readers may change different sets.
            changeable = await changeable_sets(self._parts, request_of(req), view, found.items)
        more = {"system": filters.system, "counts": counts, "changeable": changeable}
        await show_list(req, resp, self._parts, view, "waiting.html", filters, found, **more)

    async def _counts(self, view: View, filters: queries.QueueFilters) -> dict[str, Any] | None:
        """Return the counts and their position; None while the explaining process reads the log."""
        counting = counts_answer(self._parts, view, filters.partition, filters.min_position)
        answer = await in_time(counting)
        return None if answer is None else {**answer[1], "position": answer[0]}
