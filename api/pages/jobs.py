"""The pages of jobs and recipe sets."""

from __future__ import annotations

from typing import Any

from falcon.asgi import Request, Response

from api.pages.actions import offered
from api.pages.job_actions import JOB, RECIPE_SET
from api.pages.page import page_view, show, show_list
from api.pages.security import HTML
from api.rest import paging
from api.rest.context import query_of, request_of
from api.rest.contract.operation import operation
from api.rest.contract.queries import JobPage, ReadQuery, ResultQuery
from api.rest.ports import PageParts
from api.rest.resources.jobs import BEFORE_ALL, job_answer, job_list, job_xml
from api.rest.resources.recipe_sets import recipe_set_answer
from api.rest.resources.results import results_answer
from domain.job.stages import STAGES
from domain.roll_up import BAD_RESULTS, failures_first


class JobPages:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the list of jobs", None, JobPage, gives=(HTML,), refuses=(404,))
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view, query = await page_view(req, self._parts), query_of(req, JobPage)
        found = await job_list(self._parts, view, query, paging.page_at(req, view.at, BEFORE_ALL))
        await show_list(req, resp, self._parts, view, "jobs.html", query, found)

    @operation("Show the page of a job", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, job_id: int) -> None:
        view = await page_view(req, self._parts)
        _, job = await job_answer(self._parts, view, job_id)
        actions = await offered(self._parts, request_of(req), view, JOB, job_id, job)
        values = {
            "job": job,
            "stage_meaning": next(stage.when for stage in STAGES if stage.name == job["stage"]),
            "sentence": _sentence(f"Job {job_id}", job),
            "actions": actions,
        }
        await show(req, resp, self._parts, view, "job.html", values, begin=job["submitted_at"])

    @operation("Show a job as XML", None, ReadQuery, gives=(HTML,))
    async def on_get_xml(self, req: Request, resp: Response, job_id: int) -> None:
        view = await page_view(req, self._parts)
        _, xml = await job_xml(self._parts, view, job_id)
        await show(req, resp, self._parts, view, "job_xml.html", {"job_id": job_id, "xml": xml.decode()})

    @operation("Show the page of the results of a job", None, ResultQuery, gives=(HTML,))
    async def on_get_results(self, req: Request, resp: Response, job_id: int) -> None:
        view, only_failed = await page_view(req, self._parts), query_of(req, ResultQuery).failed
        found = await results_answer(self._parts, view, "job", job_id, only_failed=only_failed)
        tasks = [{**task, "results": failures_first(task["results"])} for task in found["tasks"]]
        shown = {**found, "tasks": tasks, "bad_results": sorted(BAD_RESULTS)}
        values = {"job_id": job_id, "only_failed": only_failed, **shown}
        await show(req, resp, self._parts, view, "results.html", values)


class RecipeSetPages:
    def __init__(self, parts: PageParts) -> None:
        self._parts = parts

    @operation("Show the page of a recipe set", None, ReadQuery, gives=(HTML,))
    async def on_get(self, req: Request, resp: Response, recipe_set_id: int) -> None:
        view = await page_view(req, self._parts)
        _, found = await recipe_set_answer(self._parts, view, recipe_set_id)
        actions = await offered(self._parts, request_of(req), view, RECIPE_SET, recipe_set_id, found)
        sentence = _sentence(f"Recipe set {recipe_set_id}", found)
        values = {"set": found, "sentence": sentence, "actions": actions}
        await show(req, resp, self._parts, view, "recipe_set.html", values)


def _sentence(subject: str, found: dict[str, Any]) -> str:
    """Return the state of a job or set as a sentence, for titles and the previews of chats."""
    of = f" of {found['owner']}"
    return f"{subject}{of} is {found['state']}, with the result {found['result']}"
