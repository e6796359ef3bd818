"""Submission of jobs, and their submitted bytes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import orjson

from api.use_cases.choose_trees import require_bounded
from api.use_cases.commit import append_for, commit
from api.use_cases.place_in_queue import QueueOfJob, choose_queues
from api.use_cases.place_job import Placement, place, require_one_partition
from api.use_cases.ports import JobParts, RequestContext
from domain.directory.partition_states import require_takes_jobs, state_of
from domain.directory.partitions import (
    identity_of,
    job_filters_of,
    operation_table,
    partition_document,
)
from domain.directory.state import Directory
from domain.errors import Fault, FaultyInput, Refused, Unknown
from domain.events import Decided
from domain.intake_states import ACTIVE
from domain.job.events import JobKeyUsed, JobSubmitted
from domain.job.keys import key_subject
from domain.job.spec import JobSpec
from domain.job.submission import Ids, Original, counts, submit
from domain.partition_numbers import PartitionIdentity
from domain.queues.tree import DEFAULT_QUEUE
from store.event_log import EventLog
from store.quota_counts import unfinished_count
from store.requests import AppendRequest, Committed
from store.sql import SQL


class AcceptedJob(NamedTuple):
    """A valid job, with warnings about it. `origin` is the id of the job that was copied."""

    spec: JobSpec
    warnings: Sequence[Mapping[str, str]] = ()
    origin: int | None = None


async def submit_job(
    parts: JobParts,
    request: RequestContext,
    spec: JobSpec,
    warnings: Sequence[Mapping[str, str]] = (),
    original: Original | None = None,
    *,
    origin: int | None = None,
    ids: Ids | None = None,
) -> Committed:
    """Append an accepted job to the log, and store its submitted bytes beside the log.

    Without `ids`, the job gets new ones. The commit's answer is {"job_id", "recipe_set_ids", "recipe_ids",
    "partition", "queue", "warnings"}. Raises Refused unless the partition takes new jobs, and the errors of
    `choose_queues`.
    """
    jobs = [AcceptedJob(spec, warnings, origin)]
    ids_of_jobs = None if ids is None else [ids]
    return await _append_jobs(parts, request, jobs, original, lambda answers: answers[0], ids_of_jobs)


def submitted_numbers(done: Committed) -> dict[str, Any] | None:
    """Return the answer of a commit that submitted one job or added sets, None for any other commit."""
    answer = orjson.loads(done.answer) if done.answer else {}
    return answer if "job_id" in answer else None


async def submit_jobs(
    parts: JobParts, request: RequestContext, jobs: Sequence[AcceptedJob], original: Original | None = None
) -> Committed:
    """Append several accepted jobs in one commit. Each has the submitted bytes of all.

    The commit's answer is {"jobs": [...]}, with an answer like that of `submit_job` for each job. Raises
    FaultyInput if the choice of all distro trees takes too much work.
    """
    sets = tuple(recipe_set for job in jobs for recipe_set in job.spec.recipe_sets)
    await require_bounded(parts, replace(jobs[0].spec, recipe_sets=sets), request.actor)
    return await _append_jobs(parts, request, jobs, original, lambda answers: {"jobs": answers})


async def _append_jobs(
    parts: JobParts,
    request: RequestContext,
    jobs: Sequence[AcceptedJob],
    original: Original | None,
    answer_of: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]],
    ids_of_jobs: Sequence[Ids] | None = None,
) -> Committed:
    """Append jobs in one commit, with these ids or, by default, new ones.

    They also get new ones if a job filter was put since the ids were taken, because a filter may concern
    only later jobs, which it distinguishes by their ids. Raises Refused unless the partition takes new jobs.
    """
    directory, specs = parts.feed.directory, [job.spec for job in jobs]

    async def decide() -> AppendRequest:
        placement = await place(parts, specs, request.actor)
        if not _takes_jobs(directory, placement.partition):
            await parts.feed.catch_up()
            placement = await place(parts, specs, request.actor)
        partition = placement.partition
        require_takes_jobs(partition_document(directory, partition.name), partition.name)
        if not _takes_jobs(directory, partition):
            raise Refused(f"the partition {partition.name} was removed")
        # Every later change of the partition is a conflict: no job follows the event that ends the intake.
        version = directory.version(partition.subject)
        await _require_new_keys(parts, specs, request.actor)
        await require_one_partition(parts.aggregates, directory, specs, partition)
        queues = await choose_queues(parts, specs, partition, request.actor)
        if request.has_quota:
            await reserve_recipes(parts, reserved, request.actor, specs)
        ids = ids_of_jobs
        if ids is None or not _are_above_watermarks(ids, partition_document(directory, partition.name)):
            ids = await _new_ids(parts, specs)
        decided, answers = _decided(parts, request, jobs, ids, original, placement, queues)
        answer = orjson.dumps(answer_of(answers))
        versions = {partition.subject: version}
        return append_for(parts, request, decided, versions, answer, original, partition.number)

    with parts.quotas.reservation() as reserved:
        done = await commit(parts, decide)
    assert done is not None, "a submission has events"
    return done


async def _require_new_keys(parts: JobParts, specs: Sequence[JobSpec], actor: str) -> None:
    """Raise Refused for keys that their owners have used, FaultyInput for one key of two of the jobs."""
    subjects: dict[str, tuple[int, str, str]] = {}
    for index, spec in enumerate(specs):
        if spec.key is not None:
            subject = key_subject(spec.owner or actor, spec.key)
            if subject in subjects:
                raise FaultyInput([Fault(f"jobs[{index}].key", f'"{spec.key}" is the key of another job')])
            subjects[subject] = index, spec.owner or actor, spec.key
    if not subjects:
        return
    used = await asyncio.to_thread(parts.log.load, dict.fromkeys(subjects, 0))
    for subject, (_, owner, key) in subjects.items():
        if used[subject]:
            event = used[subject][0].event
            assert isinstance(event, JobKeyUsed), "the only event of a key"
            raise Refused(f'{owner} has used the key "{key}" for job {event.job_id}')


def _takes_jobs(directory: Directory, partition: PartitionIdentity) -> bool:
    """Return whether a partition takes jobs. Another one may have its name by now."""
    is_there = identity_of(directory, partition.name) == partition
    return is_there and state_of(partition_document(directory, partition.name)) == ACTIVE


def _are_above_watermarks(ids_of_jobs: Sequence[Ids], document: Mapping[str, Any]) -> bool:
    lowest = min(ids.job for ids in ids_of_jobs)
    return all(job_filter.watermark < lowest for job_filter in job_filters_of(document))


async def _new_ids(parts: JobParts, specs: Sequence[JobSpec]) -> list[Ids]:
    sizes = [counts(spec) for spec in specs]
    return [await parts.numbers.take(sizes[0])] if len(sizes) == 1 else await parts.numbers.take_all(sizes)


def _decided(
    parts: JobParts,
    request: RequestContext,
    jobs: Sequence[AcceptedJob],
    ids_of_jobs: Sequence[Ids],
    original: Original | None,
    placement: Placement,
    queues: Sequence[QueueOfJob],
) -> tuple[Decided, list[dict[str, Any]]]:
    """Return the events of a submission, and the answer for each job."""
    operations = operation_table(parts.feed.directory, placement.partition.name)
    decided: Decided = []
    answers: list[dict[str, Any]] = []
    parts_of_jobs = zip(jobs, ids_of_jobs, placement.trees, queues, strict=True)
    for index, (job, ids, trees, (queue, warning)) in enumerate(parts_of_jobs):
        preceding = [before.job for before in ids_of_jobs[:index]]
        facts = trees, original, operations, preceding, queue, job.origin
        decided += submit(job.spec, ids, request.actor, *facts)
        answer = {"job_id": ids.job, "recipe_set_ids": ids.recipe_sets, "recipe_ids": ids.recipes}
        of_place = [asdict(each) for each in (placement.warning, warning) if each is not None]
        warnings = [*job.warnings, *of_place]
        placed = {"partition": placement.partition.name, "queue": queue or DEFAULT_QUEUE}
        answers.append({**answer, **placed, "warnings": warnings})
    return decided, answers


async def reserve_recipes(
    parts: JobParts, reserved: Counter[str], actor: str, specs: Iterable[JobSpec]
) -> None:
    """Replace a reservation by one for the recipes of these jobs.

    Raises Refused if an owner would have more unfinished recipes than the quota allows.
    """
    parts.quotas.release(reserved)
    more: Counter[str] = Counter()
    for spec in specs:
        more[spec.owner or actor] += counts(spec)[1]
    for owner, count in more.items():
        if not parts.quotas.reserve_recipes(reserved, owner, count):
            present = await asyncio.to_thread(unfinished_count, parts.log, owner)
            parts.quotas.require_recipes(reserved, owner, present, count)


def original_of(log: EventLog, job_id: int) -> Original:
    """Return the submitted bytes of a job in the log. Blocking.

    Raises Unknown for a job that is older than the storage of these bytes.
    """
    subject = f"job/{job_id}"
    submitted = log.load({subject: 0})[subject][0].event
    assert isinstance(submitted, JobSubmitted), "the first event of a job"
    if submitted.original_sha256 is None or submitted.original_type is None:
        raise Unknown(f"original of job {job_id}", "the job was submitted before originals were stored")
    ((content,),) = log.rows(SQL["original"], (bytes.fromhex(submitted.original_sha256),))
    return Original(content, submitted.original_type)
