"""/filters: job filters, the rules of admission"""

from __future__ import annotations

from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_document
from api.rest.context import query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import partitions as answers
from api.rest.contract.inputs.partitions import JobFilter as Given
from api.rest.contract.operation import operation
from api.rest.ports import JobFilterParts, ReadParts
from api.rest.resources.documents import NAME, check_name
from api.rest.resources.partition_answers import partition_at
from api.rest.views import View, read_view
from api.use_cases.change_partition import put_job_filter, remove_job_filter, would_put_job_filter
from domain.admission.job_filters import JobFilter, job_filter_from_json, job_filter_to_stored
from domain.directory.partitions import existing_partition, job_filter_of, job_filters_of
from domain.errors import Unknown, display_name

# Before the place of any job filter.
BEFORE_ALL = [-1, -1, ""]


async def job_filter_list(
    parts: ReadParts, view: View, query: queries.JobFilterPage, page: paging.PageAt
) -> paging.Listed:
    """Return a page of the job filters of a partition, as they are taken. Raises Unknown."""
    _, document = await partition_at(parts, view.at, query.partition)
    following = [each for each in job_filters_of(document) if list(each.place) > page.after]
    shown = following[: page.limit]
    return paging.listed(page, [_shown(each) for each in shown], list(shown[-1].place) if shown else None)


async def job_filter_answer(
    parts: ReadParts, view: View, partition: str, name: str
) -> tuple[int, dict[str, Any]]:
    """Return the version of a job filter, which is that of its partition, and the answer. Raises Unknown."""
    version, document = await partition_at(parts, view.at, partition)
    job_filter = job_filter_of(document, name)
    if job_filter is None:
        raise Unknown(display_name("job-filter", name))
    return version, _shown(job_filter)


class JobFilters:
    """Job filters. They share their versions with the configuration of the partition, as one document."""

    def __init__(self, parts: JobFilterParts) -> None:
        self._parts = parts

    @operation(
        "List the job filters, in the order in which they are taken",
        answers.JobFilterList,
        queries.JobFilterPage,
        refuses=(404,),
    )
    async def on_get_list(self, req: Request, resp: Response) -> None:
        view = await read_view(req, self._parts)
        page = paging.page_at(req, view.at, BEFORE_ALL)
        query = query_of(req, queries.JobFilterPage)
        found = await job_filter_list(self._parts, view, query, page)
        paging.answer_listed(req, resp, page, "filters", found)

    @operation("Show a job filter", answers.JobFilterShown, queries.JobFilterQuery, versioned=True)
    async def on_get(self, req: Request, resp: Response, name: str) -> None:
        view = await read_view(req, self._parts)
        partition = query_of(req, queries.JobFilterQuery).partition
        version, body = await job_filter_answer(self._parts, view, partition, name)
        paging.answer_read(resp, view.at, body, version=version)

    @operation(
        "Add or change a job filter",
        answers.JobFilterPut,
        queries.JobFilterPutQuery,
        body=Given,
        versioned=True,
    )
    async def on_put(self, req: Request, resp: Response, name: str) -> None:
        check_name(NAME, name)
        wanted = await read_document(
            req, lambda document, report: job_filter_from_json(name, 0, document, (), report)
        )
        query = query_of(req, queries.JobFilterPutQuery)
        request, dry_run, partition = request_of(req), query.dry_run, query.partition
        done, effects = None, None
        if dry_run:
            change = await would_put_job_filter(self._parts, request, partition, wanted)
            effects = await self._effects(partition, change.job_filter)
        else:
            change, done = await put_job_filter(self._parts, request, partition, wanted)
        is_new = bool(change.events)
        changed = {"added": is_new and not change.existed, "changed": is_new and change.existed}
        answer = {**_shown(change.job_filter), **changed, "dry_run": dry_run, "effects": effects}
        await paging.answer_write(resp, self._parts.log, done, answer)

    async def _effects(self, partition: str, job_filter: JobFilter) -> dict[str, Any]:
        identity = existing_partition(self._parts.feed.directory, partition)
        document = job_filter_to_stored(job_filter)
        return await self._parts.explainers.ask(
            identity, "job_filter", name=job_filter.name, document=document
        )

    @operation("Remove a job filter", answers.JobFilterRemoved, queries.JobFilterRemovalQuery, versioned=True)
    async def on_delete(self, req: Request, resp: Response, name: str) -> None:
        check_name(NAME, name)
        query, request = query_of(req, queries.JobFilterRemovalQuery), request_of(req)
        done = await remove_job_filter(self._parts, request, query.partition, name, query.reason)
        await paging.answer_write(resp, self._parts.log, done, {"name": name, "removed": done is not None})


def _shown(job_filter: JobFilter) -> dict[str, Any]:
    return {"name": job_filter.name, **job_filter_to_stored(job_filter)}
