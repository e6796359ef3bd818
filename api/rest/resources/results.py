"""The results of a job or of a recipe, what failed first."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.context import query_of
from api.rest.contract import queries
from api.rest.contract.answers import recipes as answers
from api.rest.contract.operation import operation
from api.rest.ports import ReadParts
from api.rest.resources.by_number import deletion_of, find
from api.rest.views import View, read_view
from domain.roll_up import BAD_RESULTS
from projections.read_sessions import Row


async def results_answer(
    parts: ReadParts, view: View, kind: str, number: int, *, only_failed: bool
) -> dict[str, Any]:
    """Return the results of a `job` or `recipe`: the reviews of its sets, and its tasks, the worst first.

    With `only_failed`, failures that were waived are left out, too. Raises Unknown.
    """
    found = await find(parts, view.at, kind, number, "tasks_worst_first", "results", "reviews", "deletion")
    tasks, results, recipe_sets, deletions = found.others
    failed = [task for task in tasks if task["result"] in BAD_RESULTS]
    unwaived = [task for task in failed if task["waiver"] is None]
    of_task = defaultdict[int, list[Row]](list)
    for result in results:
        if not only_failed or result["result"] in BAD_RESULTS:
            of_task[result["task_id"]].append(result)
    shown = unwaived if only_failed else tasks
    return {
        "results_deleted": deletion_of(deletions),
        "failed_task_count": len(unwaived),
        "waived_task_count": len(failed) - len(unwaived),
        "recipe_sets": recipe_sets,
        "tasks": [{**task, "results": of_task[task["task_id"]]} for task in shown],
    }


class Results:
    def __init__(self, parts: ReadParts) -> None:
        self._parts = parts

    @operation("Show the results of a job, what failed first", answers.Results, queries.ResultQuery)
    async def on_get_of_job(self, req: Request, resp: Response, job_id: int) -> None:
        await self._answer(req, resp, "job", job_id)

    @operation("Show the results of a recipe, what failed first", answers.Results, queries.ResultQuery)
    async def on_get_of_recipe(self, req: Request, resp: Response, recipe_id: int) -> None:
        await self._answer(req, resp, "recipe", recipe_id)

    async def _answer(self, req: Request, resp: Response, kind: str, number: int) -> None:
        view = await read_view(req, self._parts)
        only_failed = query_of(req, queries.ResultQuery).failed
        found = await results_answer(self._parts, view, kind, number, only_failed=only_failed)
        paging.answer_read(resp, view.at, found)
