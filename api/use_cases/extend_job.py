"""Open jobs: recipe sets that are added to them, and their close."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

import orjson

from api.use_cases.choose_trees import distro_trees
from api.use_cases.commit import append_for, commit
from api.use_cases.place_in_queue import too_large_sets
from api.use_cases.place_job import require_one_partition
from api.use_cases.ports import JobParts, RequestContext, WriteParts
from api.use_cases.rights import own_job, own_or_administered_job
from api.use_cases.submit_job import require_recipe_quotas
from domain.directory.partition_queues import partition_queues
from domain.directory.partition_states import require_takes_jobs
from domain.directory.partitions import operation_table, partition_document
from domain.errors import Fault, FaultyInput
from domain.job.spec import JobSpec
from domain.job.state import Job, require_open
from domain.job.state import close_job as decide_close
from domain.job.submission import counts, extend
from domain.partition_numbers import PartitionIdentity
from store.requests import AppendRequest, Committed


async def partition_of(parts: JobParts, job: Job) -> PartitionIdentity:
    """Return the partition of a job, which never changes."""
    numbers = await asyncio.to_thread(parts.aggregates.partitions, [job.subject])
    number = numbers[job.subject]
    return PartitionIdentity(number, parts.feed.directory.partition_names[number])


async def extend_job(
    parts: JobParts,
    request: RequestContext,
    job_id: int,
    spec: JobSpec,
    warnings: Sequence[Mapping[str, str]] = (),
) -> Committed:
    """Add the recipe sets of `spec` to an open job; its other fields have no effect.

    The commit's answer is that of `submit_job`, with the numbers of the added sets. Raises the errors of
    `own_job`, Refused for a closed job or a partition that takes no new jobs, FaultyInput for sets that the
    job could not have been submitted with, and Refused for more recipes than the quota of the owner allows.
    """

    async def decide() -> AppendRequest:
        job = await asyncio.to_thread(own_job, parts, request, job_id)
        require_open(job)
        partition, directory = await partition_of(parts, job), parts.feed.directory
        require_takes_jobs(partition_document(directory, partition.name), partition.name)
        version = directory.version(partition.subject)
        whole = replace(spec, owner=job.owner, group=job.group, depends_on=(), partition=None)
        chosen = await distro_trees(parts, whole, request.actor, partition.number)
        await require_one_partition(parts.aggregates, directory, [whole], partition)
        _require_small_enough(parts, job, whole, partition)
        if request.has_quota:
            await require_recipe_quotas(parts, request.actor, [whole])
        # The number of a job that comes with them stays unused.
        ids = await parts.numbers.take(counts(whole))
        operations = operation_table(directory, partition.name)
        decided = extend(job, whole, ids, request.actor, chosen.tree_ids, operations)
        numbers = {"job_id": job_id, "recipe_set_ids": ids.recipe_sets, "recipe_ids": ids.recipes}
        placed = {"partition": partition.name, "queue": job.queue}
        answer = orjson.dumps({**numbers, **placed, "warnings": warnings})
        versions = {job.subject: job.version, partition.subject: version}
        return append_for(parts, request, decided, versions, answer, partition=partition.number)

    done = await commit(parts, decide)
    assert done is not None, "added sets have events"
    return done


def _require_small_enough(parts: JobParts, job: Job, spec: JobSpec, partition: PartitionIdentity) -> None:
    tree = partition_queues(parts.feed.directory, partition.name).tree
    faults = [Fault(*each) for each in too_large_sets(tree, job.queue, job.owner, job.group, spec)]
    if faults:
        raise FaultyInput(faults)


async def close_job(parts: WriteParts, request: RequestContext, job_id: int) -> Committed | None:
    """Close an open job; None if it is closed. Raises the errors of `own_or_administered_job`."""

    def attempt() -> AppendRequest | None:
        job = own_or_administered_job(parts, request, job_id)
        decided = decide_close(job)
        return append_for(parts, request, decided, {job.subject: job.version}) if decided else None

    return await commit(parts, lambda: asyncio.to_thread(attempt))
