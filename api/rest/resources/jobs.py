"""/jobs"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import orjson
from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.headers import LENIENT, NDJSON, POSITION_HEADER, PREFERENCE_APPLIED, UNBUFFERED
from api.intake import PARSERS
from api.intake.list_members import members_of
from api.intake.xml_writer import write_job
from api.rest import paging, partitions
from api.rest.body import body_chunks, media_type, read_body, read_model
from api.rest.context import (
    client_address,
    keyed_request,
    prefers_lenient,
    principal_of,
    query_of,
    request_of,
)
from api.rest.contract import queries
from api.rest.contract.answers import jobs as answers
from api.rest.contract.inputs.jobs import AddedSets, Cancel, JobPatch, Submission
from api.rest.contract.operation import JSON, operation
from api.rest.ports import JobResourceParts, ReadParts
from api.rest.resources.by_number import cancel, deletion_of, find
from api.rest.resources.item_submissions import JobItem, item_answer, submit_items
from api.rest.resources.job_bodies import job_media_type
from api.rest.resources.job_stream import JobStream, after_first_answer
from api.rest.resources.shapes import job_document, listed_job
from api.rest.resources.submissions import add_body, submit_valid, validate_submission
from api.rest.serving.worker import CONNECTION
from api.rest.views import View, read_view
from api.use_cases.change_job import cancel_job, change_job
from api.use_cases.extend_job import close_job
from api.use_cases.idempotency import commit_once, require_no_item_commits, require_no_joint_commit
from api.use_cases.ports import RequestContext
from api.use_cases.submit_job import original_of
from domain.job.submission import Original
from projections.job_search import ANY_JOB, NOTHING_FOUND, Found, search
from store.requests import Committed

# GET /jobs/{id} answers the state of the job, whatever the client accepts; as XML, the normalised form.
ANSWERS = (JSON, "application/xml", "text/xml")
# The key of the list before all jobs.
BEFORE_ALL = 2**31


async def job_list(
    parts: ReadParts, view: View, query: queries.JobPage, page: paging.PageAt
) -> paging.Listed:
    """Return a page of the jobs, newest first. Raises Unknown for its partition.

    A page with few jobs may have a next one, because each reads a limited number of jobs.
    """
    number = await partitions.number_at(parts, view.at, query.partition)
    found = await _search(parts, view, {**query.filters(), "partition": number}, page)
    rows = await parts.reader.rows("jobs", {"at": view.position, "job_ids": found.job_ids})
    names = await partitions.names_at(parts, view.at, (row["partition"] for row in rows))
    return paging.Listed([listed_job(row, names) for row in rows], found.last)


async def _search(parts: ReadParts, view: View, given: Mapping[str, Any], page: paging.PageAt) -> Found:
    """Return the jobs of a page. Nothing ran on a system that is hidden from the caller."""
    filters = {name: given[name] for name in ANY_JOB}
    if given["mine"]:
        if given["owner"] not in (None, view.principal.user):
            return NOTHING_FOUND
        filters["owner"] = view.principal.user
    if given["system"] in view.hidden:
        return NOTHING_FOUND
    return await parts.reader.run(search(filters, view.position, page.after, page.limit))


async def job_answer(parts: ReadParts, view: View, job_id: int) -> tuple[int, dict[str, Any]]:
    """Return the version of a job, and the answer about it. Raises Unknown."""
    version, job, others = await find(
        parts, view.at, "job", job_id, "recipe_sets", "seconds_in_states", "deletion"
    )
    recipe_sets, seconds, deletions = others
    shown = {**job_document(job, recipe_sets[0], seconds), "results_deleted": deletion_of(deletions)}
    return version, shown


async def job_xml(parts: JobResourceParts, view: View, job_id: int) -> tuple[int, bytes]:
    """Return the version of a job, and its normalised form as XML. Raises Unknown."""
    version, job, _ = await find(parts, view.at, "job", job_id)
    tag = parts.retention_tags.default
    return version, await asyncio.to_thread(lambda: write_job(orjson.loads(job["document"]), tag))


def answer_submission(resp: Response, done: Committed) -> None:
    """Answer the submission of a job or several; the location is that of the first one."""
    answer = orjson.loads(done.answer or b"{}")
    resp.status = 201
    first = answer["jobs"][0] if "jobs" in answer else answer
    resp.location = f"/jobs/{first['job_id']}"
    paging.answer(resp, done.position, answer)


class Jobs:
    def __init__(self, parts: JobResourceParts) -> None:
        self._parts = parts

    @operation(
        "Submit a job, or several jobs",
        answers.Submitted,
        queries.Strict,
        body=Submission,
        takes=(JSON, *(kind for kind in PARSERS if kind != JSON), NDJSON),
        created=True,
        keyed=True,
        lenient=answers.ItemAnswers,
    )
    async def on_post(self, req: Request, resp: Response) -> None:
        strict = query_of(req, queries.Strict).strict
        if media_type(req) == NDJSON:
            await self._answer_stream(req, resp, strict=strict)
            return
        kind = job_media_type(req)
        body = await read_body(req)
        user, request = principal_of(req), keyed_request(req, body)
        if kind == JSON and prefers_lenient(req):
            members = await share_of(req).parse(client_address(req), len(body), partial(members_of, body))
            if members is not None:
                await self._answer_each(req, resp, members, request, strict=strict)
                return

        async def submit() -> Committed:
            original = Original(body, kind)
            submission = await validate_submission(self._parts, user, original, strict=strict)
            # The lines of a stream are numbered from 1, the members of a list from 0.
            await require_no_item_commits(self._parts.log, request, len(submission.jobs) + 1)
            return await submit_valid(self._parts, user, request, submission)

        done = await commit_once(self._parts.log, request, submit)
        assert done is not None, "a submission is always something new"
        answer_submission(resp, done)

    async def _answer_each(
        self, req: Request, resp: Response, members: Sequence[bytes], request: RequestContext, *, strict: bool
    ) -> None:
        """Submit the members of a list one by one. Raises FaultyInput if one commit has submitted them."""
        await require_no_joint_commit(self._parts.log, request)
        items = [JobItem(number, member) for number, member in enumerate(members)]
        outcomes = await submit_items(self._parts, principal_of(req), request, items, strict=strict)
        answers = [item_answer(outcome, f"jobs[{number}]: ") for number, outcome in enumerate(outcomes)]
        resp.set_header(PREFERENCE_APPLIED, LENIENT)
        paging.answer(resp, await paging.position_of(self._parts.log, None), {"jobs": answers})

    async def _answer_stream(self, req: Request, resp: Response, *, strict: bool) -> None:
        share, address = share_of(req), client_address(req)

        def on_buffered(size: int) -> None:
            share.set_held(size, address)

        connection = req.scope.get("extensions", {}).get(CONNECTION)

        def is_disconnected() -> bool:
            return connection is not None and connection.is_closing

        request = keyed_request(req, b"")
        await require_no_joint_commit(self._parts.log, request)
        stream = JobStream(
            self._parts, principal_of(req), request, on_buffered, is_disconnected, strict=strict
        )
        resp.status, resp.content_type = 200, NDJSON
        resp.set_header(PREFERENCE_APPLIED, LENIENT)
        resp.set_header(POSITION_HEADER, str(self._parts.feed.position))
        resp.set_header(*UNBUFFERED)
        resp.stream = await after_first_answer(stream.answers(body_chunks(req)))

    @operation(
        "Add recipe sets to an open job, or change those with the same keys",
        *(answers.SetsAdded, queries.Strict),
        body=AddedSets,
        takes=(JSON, *(kind for kind in PARSERS if kind != JSON)),
        keyed=True,
    )
    async def on_post_sets(self, req: Request, resp: Response, job_id: int) -> None:
        kind = job_media_type(req)
        body = await read_body(req)
        strict, request = query_of(req, queries.Strict).strict, keyed_request(req, body)

        unchanged: Mapping[str, Any] = {}

        async def add() -> Committed | None:
            nonlocal unchanged
            user = principal_of(req)
            done, unchanged = await add_body(self._parts, user, request, job_id, body, kind, strict=strict)
            return done

        done = await commit_once(self._parts.log, request, add)
        answer = unchanged if done is None else orjson.loads(done.answer or b"{}")
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation(
        "Close an open job, which then takes no more recipe sets",
        *(answers.JobClosed, queries.EndingQuery),
        keyed=True,
    )
    async def on_post_close(self, req: Request, resp: Response, job_id: int) -> None:
        request = keyed_request(req, await read_body(req))
        reason = query_of(req, queries.EndingQuery).reason
        done = await commit_once(
            self._parts.log, request, lambda: close_job(self._parts, request, job_id, reason)
        )
        await paging.answer_write(resp, self._parts.log, done, {"job_id": job_id, "closed": done is not None})

    @operation("Cancel a job", answers.JobCancelled, body=Cancel, keyed=True)
    async def on_post_cancel(self, req: Request, resp: Response, job_id: int) -> None:
        await cancel(req, resp, self._parts, "job_id", job_id, cancel_job)

    @operation(
        "Change a job: its whiteboard, retention tag or product",
        *(answers.JobChanged, queries.Query),
        body=JobPatch,
        versioned=True,
    )
    async def on_patch_one(self, req: Request, resp: Response, job_id: int) -> None:
        patch: JobPatch = await read_model(req)
        changes = patch.model_dump(exclude_unset=True)
        done = await change_job(self._parts, request_of(req), job_id, changes)
        await paging.answer_write(
            resp, self._parts.log, done, {"job_id": job_id, "changed": done is not None}
        )

    @operation("List jobs, newest first", answers.JobList, queries.JobPage, refuses=(404,))
    async def on_get(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, first=BEFORE_ALL)
        query = query_of(req, queries.JobPage)
        paging.answer_listed(req, resp, page, "jobs", await job_list(self._parts, view, query, page))

    @operation(
        "Show a job and its state; as XML, its normalised form",
        *(answers.Job, queries.ReadQuery),
        gives=ANSWERS,
        versioned=True,
    )
    async def on_get_one(self, req: Request, resp: Response, job_id: int) -> None:
        resp.append_header("Vary", "Accept")
        kind = req.client_prefers(ANSWERS)
        if kind in ANSWERS[1:]:
            await self._as_xml(req, resp, job_id, kind)
            return
        view = await read_view(req, self._parts)
        version, body = await job_answer(self._parts, view, job_id)
        paging.answer_read(resp, view.at, body, version=version)

    @operation(
        "Return the submitted bytes of a job",
        *(answers.Original, queries.ReadQuery),
        gives=ANSWERS,
        versioned=True,
    )
    async def on_get_original(self, req: Request, resp: Response, job_id: int) -> None:
        at = await paging.read_at(req, self._parts)
        resp.etag = str((await find(self._parts, at, "job", job_id)).version)
        original = await asyncio.to_thread(original_of, self._parts.log, job_id)
        resp.set_header(POSITION_HEADER, str(at.position))
        resp.content_type, resp.data = original.media_type, original.content
        # Browsers download it instead of showing content that a user wrote.
        resp.downloadable_as = f"job-{job_id}"

    async def _as_xml(self, req: Request, resp: Response, job_id: int, kind: str) -> None:
        view = await read_view(req, self._parts)
        version, resp.data = await job_xml(self._parts, view, job_id)
        resp.etag = str(version)
        resp.set_header(POSITION_HEADER, str(view.position))
        resp.content_type = kind
