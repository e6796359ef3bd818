"""/jobs"""

from __future__ import annotations

import asyncio

import falcon
import orjson
from falcon.asgi import Request, Response

from api.intake import read_job
from api.rest import reading
from api.rest.body import media_type, parse_model, read_body, read_json_bytes
from api.rest.models import Cancel
from api.rest.principal import Principal, first_answer, principal_of, request_of, same_body
from api.rest.shapes import job_document
from api.services import Services
from api.store.requests import Committed
from api.use_cases.cancel_job import cancel_job
from api.use_cases.submit_job import submit_job
from domain.errors import FaultyInput, Unknown
from domain.job.spec import JobSpec

MEDIA_TYPES = ("application/xml", "text/xml", "application/json")


class Jobs:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def on_post(self, req: Request, resp: Response) -> None:
        kind = media_type(req)
        if kind not in MEDIA_TYPES:
            raise falcon.HTTPUnsupportedMediaType(description=f"a job is one of {', '.join(MEDIA_TYPES)}")
        body = await read_body(req)
        request = request_of(req, body)
        done = await asyncio.to_thread(first_answer, self._services, request) if request.command_id else None
        if done is None:
            spec = await self._read(body, kind, principal_of(req))
            done = same_body(request, await submit_job(self._services, request, spec))
        self._created(resp, done)

    async def _read(self, body: bytes, kind: str, principal: Principal) -> JobSpec:
        """The job, if nothing is wrong with it. Names are judged against the end of the log."""
        try:
            return self._check(body, kind, principal)
        except FaultyInput:
            before = self._services.feed.position
            await self._services.feed.catch_up()
            if self._services.feed.position == before:
                raise
        return self._check(body, kind, principal)

    def _check(self, body: bytes, kind: str, principal: Principal) -> JobSpec:
        known = self._services.feed.directory.known_names()
        return read_job(body, kind, known, principal.user, principal.is_admin)

    def _created(self, resp: Response, done: Committed) -> None:
        answer = orjson.loads(done.answer or b"{}")
        resp.status = 201
        resp.location = f"/jobs/{answer['job_id']}"
        reading.answer(resp, done.position, answer)

    async def on_post_cancel(self, req: Request, resp: Response, job_id: int) -> None:
        body = await read_json_bytes(req)
        wanted = parse_model(body, Cancel)
        request = request_of(req, body)
        done = await asyncio.to_thread(first_answer, self._services, request) if request.command_id else None
        if done is None:
            is_admin = principal_of(req).is_admin
            done = await cancel_job(self._services, request, job_id, wanted.reason, is_admin=is_admin)
        position = same_body(request, done).position if done else self._services.feed.position
        reading.answer(resp, position, {"job_id": job_id})

    async def on_get(self, req: Request, resp: Response) -> None:
        page = await reading.read_page(req, self._services.reader, first=2**31)
        params = {"at": page.at, "limit": page.limit, "before": page.after}
        jobs = await self._services.reader.rows("jobs", params)
        reading.answer_list(req, resp, page, "jobs", jobs, jobs[-1]["job_id"] if jobs else None)

    async def on_get_one(self, req: Request, resp: Response, job_id: int) -> None:
        reader = self._services.reader
        at = await reading.read_at(req, reader)
        asked = {"at": at, "job_id": job_id, "recipe_id": None}
        job = await reader.row("job", asked)
        if job is None:
            raise Unknown(f"job {job_id}")
        recipe_sets = await reader.rows("recipe_sets_of_job", asked)
        recipes = await reader.rows("recipes", asked)
        tasks = await reader.rows("tasks", asked)
        reading.answer(resp, at, job_document(job, recipe_sets, recipes, tasks))
