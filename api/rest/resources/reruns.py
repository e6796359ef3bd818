"""/jobs/{job_id}/rerun: a copy of a job, or of some of its recipe sets, shown before it is submitted."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson
from falcon.asgi import Request, Response

from api.concurrency_limits import share_of
from api.intake.bodies import body_of
from api.intake.json_writer import write_json
from api.intake.limits import MAX_BODY_BYTES
from api.intake.xml_writer import write_job
from api.rest import paging
from api.rest.body import parse_model, read_json_bytes
from api.rest.context import Principal, keyed_request, principal_of, query_of
from api.rest.contract import queries
from api.rest.contract.answers import jobs as answers
from api.rest.contract.inputs.jobs import Rerun
from api.rest.contract.operation import JSON, operation
from api.rest.ports import JobResourceParts
from api.rest.resources.by_number import find
from api.rest.resources.job_bodies import warnings_document
from api.rest.resources.jobs import answer_submission
from api.rest.resources.submissions import submit_body
from api.use_cases.idempotency import commit_once
from api.use_cases.ports import RequestContext
from domain.directory.partition_queues import is_in_group
from domain.errors import Fault, FaultyInput, Unknown, Unreadable, display_name
from domain.job.events import JobSubmitted
from domain.job.rerun import Dependencies, chosen_sets, copied, states_dependencies
from domain.job.submission import Original
from domain.recipe_set.events import RecipeSetSubmitted
from projections.reader import At
from store.event_log import EventLog
from store.requests import Committed

XML: Final = "application/xml"
COPY: Final = "a copy of a job"
_WRITERS: Final = {XML: write_job, JSON: write_json}


class Draft(NamedTuple):
    """The job that a rerun submits, in the media type of its origin, and what it does not take over."""

    original: Original
    recipe_set_ids: Sequence[int]
    warnings: Sequence[Fault]


async def rerun_draft(
    parts: JobResourceParts,
    at: At,
    principal: Principal,
    job_id: int,
    failed: bool,
    sets: Sequence[int] | None,
) -> Draft:
    """Return a copy of a job as of a position. Raises Unknown, and the errors of `chosen_sets`."""
    _, job, (rows,) = await find(parts, at, "job", job_id, "results_of_sets")
    results = {row["recipe_set_id"]: row["result"] for row in rows}
    waived = {row["recipe_set_id"] for row in rows if row["waived"]}
    chosen = chosen_sets(job_id, results, failed, sets, waived)
    document = orjson.loads(job["document"])
    with_dependencies = chosen if states_dependencies(document) else []
    submitted, depends_on = await asyncio.to_thread(_submitted, parts.log, job_id, with_dependencies)
    whole = await asyncio.to_thread(copied, document, [*results], chosen, depends_on)
    copy, warnings = _for_caller(parts, principal, whole, job["group"])
    kind = JSON if submitted.original_type == JSON else XML
    content = await asyncio.to_thread(_WRITERS[kind], copy, parts.retention_tags.default)
    return Draft(Original(content, kind), chosen, warnings)


def _submitted(
    log: EventLog, job_id: int, set_ids: Sequence[int]
) -> tuple[JobSubmitted, dict[int, Dependencies]]:
    """Return the submission of a job, and the dependencies of its sets with ids. Blocking."""
    subject = f"job/{job_id}"
    past = log.load({subject: 0, **{f"recipe-set/{set_id}": 0 for set_id in set_ids}})
    submitted = past[subject][0].event
    assert isinstance(submitted, JobSubmitted), "the first event of a job"
    depends_on: dict[int, Dependencies] = {}
    for set_id in set_ids:
        event = past[f"recipe-set/{set_id}"][0].event
        assert isinstance(event, RecipeSetSubmitted), "the first event of a recipe set"
        depends_on[set_id] = event.depends_on
    return submitted, depends_on


def _for_caller(
    parts: JobResourceParts, principal: Principal, copy: Mapping[str, Any], group: str | None
) -> tuple[Mapping[str, Any], Sequence[Fault]]:
    """Return the copy without a group in which the caller is not, and then a warning."""
    if group is None or principal.is_admin or is_in_group(parts.feed.directory, principal.user, group):
        return copy, ()
    without = {name: value for name, value in copy.items() if name != "group"}
    return without, [Fault("group", f"the copy is for no group, because {principal.user} is not in {group}")]


async def rerun_edited(
    parts: JobResourceParts, principal: Principal, request: RequestContext, job_id: int, original: Original
) -> Committed:
    """Submit an edited copy of a job. Raises Unknown for the job, and the errors of `submit_body`."""
    subject = f"job/{job_id}"
    if not await asyncio.to_thread(parts.log.existing, [subject]):
        raise Unknown(display_name("job", job_id))
    return await submit_body(parts, principal, request, original, origin=job_id, one_job=COPY)


class Reruns:
    def __init__(self, parts: JobResourceParts) -> None:
        self._parts = parts

    @operation(
        "Show the job that a rerun would submit",
        *(answers.RerunDraft, queries.RerunQuery),
        refuses=(404, 409),
    )
    async def on_get(self, req: Request, resp: Response, job_id: int) -> None:
        at, query = await paging.read_at(req, self._parts), query_of(req, queries.RerunQuery)
        draft = await rerun_draft(
            self._parts, at, principal_of(req), job_id, query.failed, query.sets or None
        )
        shown = {
            "job_id": job_id,
            "recipe_set_ids": draft.recipe_set_ids,
            "media_type": draft.original.media_type,
            "job": draft.original.content.decode(),
            "warnings": warnings_document(draft.warnings),
        }
        paging.answer_read(resp, at, shown)

    @operation(
        "Submit a copy of a job, or of some of its recipe sets",
        *(answers.Submitted, queries.Query),
        body=Rerun,
        created=True,
        keyed=True,
        # It waits for the results up to the end of the log.
        refuses=(504,),
        # The edited job is a text within JSON.
        max_bytes=2 * MAX_BODY_BYTES,
    )
    async def on_post(self, req: Request, resp: Response, job_id: int) -> None:
        body = await read_json_bytes(req)
        asked: Rerun = await parse_model(req, body)
        request = keyed_request(req, body)
        done = await commit_once(self._parts.log, request, lambda: self._submit(req, request, job_id, asked))
        assert done is not None, "a submission is always something new"
        answer_submission(resp, done)

    async def _submit(self, req: Request, request: RequestContext, job_id: int, asked: Rerun) -> Committed:
        parts, principal = self._parts, principal_of(req)
        if asked.job is not None:
            chosen = [name for name in ("failed", "sets") if getattr(asked, name)]
            if chosen:
                raise FaultyInput([Fault(name, "cannot be given together with job") for name in chosen])
            try:
                original = Original(*body_of(asked.job, "job"))
                return await rerun_edited(parts, principal, request, job_id, original)
            except Unreadable as error:
                # The body itself was readable.
                raise FaultyInput(error.faults) from None
        at = await self._present(req)
        draft = await rerun_draft(parts, at, principal, job_id, asked.failed, asked.sets)
        warnings = draft.warnings
        return await submit_body(
            parts, principal, request, draft.original, origin=job_id, warnings=warnings, one_job=COPY
        )

    async def _present(self, req: Request) -> At:
        """Return the end of the log, once the read models have reached it: all results count."""
        reader, end = self._parts.reader, await asyncio.to_thread(self._parts.log.end)
        with share_of(req).waiting():
            await reader.reach(end, self._parts.max_waits.position_wait_seconds)
        return await reader.as_of(None)
