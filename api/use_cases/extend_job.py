"""Open jobs: recipe sets that are added to them, or changed by their keys, and their close."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from api.use_cases.change_recipe import changed_set
from api.use_cases.choose_trees import distro_trees
from api.use_cases.commit import append_for, commit
from api.use_cases.own_partition import partition_of
from api.use_cases.place_in_queue import too_large_sets
from api.use_cases.place_job import require_one_partition
from api.use_cases.ports import JobParts, RequestContext, WriteParts
from api.use_cases.rights import own_job, own_or_administered_job
from api.use_cases.submit_job import reserve_recipes
from domain.directory.partition_queues import partition_queues
from domain.directory.partition_states import require_takes_jobs
from domain.directory.partitions import operation_table, partition_document
from domain.errors import Fault, FaultyInput
from domain.events import Decided
from domain.job.spec import JobSpec
from domain.job.state import CLOSED_BY_PERSON, Job, require_open
from domain.job.state import close_job as decide_close
from domain.job.submission import counts, extend
from domain.partition_numbers import PartitionIdentity
from domain.recipe_set.events import RecipeSetSubmitted
from domain.recipe_set.state import RecipeSet
from store.requests import AppendRequest, Committed

# Each has the place in the submitted document, and the message.
Warnings = Sequence[Mapping[str, str]]


class SetNumbers(NamedTuple):
    """The numbers of a recipe set and of its recipes."""

    recipe_set_id: int
    recipe_ids: tuple[int, ...]


class AddedSetsDraft(NamedTuple):
    """The events of added sets, the versions that they depend on, and the numbers of the sets."""

    decided: Decided
    versions: Mapping[str, int]
    numbers: Sequence[SetNumbers]


class JobExtension(NamedTuple):
    """The commit, None if nothing differs from the sets that the job has, and the answer."""

    done: Committed | None
    answer: Mapping[str, Any]


async def extend_job(
    parts: JobParts, request: RequestContext, job: Job, spec: JobSpec, warnings: Warnings = ()
) -> JobExtension:
    """Add the recipe sets of `spec` to an open job, or change those that the job has by the same keys.

    All of it is one commit. `job` is that of `own_job`; a retry after a conflict loads it again. The
    other fields of `spec` have no effect. The answer is that of `submit_job`, with the numbers of these
    sets. Raises the errors of `own_job` and `change_recipe`, Refused for a new set of a closed job or of
    a partition that takes no new jobs, and for more recipes than the quota of the owner allows,
    FaultyInput for sets that the job cannot have.
    """
    answer: dict[str, Any] = {}
    loaded = [job]

    async def decide() -> AppendRequest | None:
        present = loaded.pop() if loaded else await asyncio.to_thread(own_job, parts, request, job.job_id)
        partition = await partition_of(parts, present)
        decided: Decided = []
        versions: dict[str, int] = {}
        numbers: dict[int, SetNumbers] = {}
        for place, recipe_set in enumerate(spec.recipe_sets):
            set_id = None if recipe_set.key is None else present.sets_by_key.get(recipe_set.key)
            if set_id is not None:
                draft = await changed_set(parts, request, present, set_id, spec, place)
                decided += draft.decided
                versions |= draft.versions
                numbers[place] = SetNumbers(set_id, await _recipe_ids(parts, set_id))
        new = [place for place in range(len(spec.recipe_sets)) if place not in numbers]
        if new:
            added = await _added(parts, request, reserved, present, _only(spec, new), partition)
            decided += added.decided
            versions |= {present.subject: present.version, **added.versions}
            numbers |= dict(zip(new, added.numbers, strict=True))
        answer.update(_answer(present, partition, [numbers[place] for place in sorted(numbers)], warnings))
        if not decided:
            return None
        stored = orjson.dumps(answer)
        return append_for(parts, request, decided, versions, stored, partition=partition.number)

    with parts.quotas.reservation() as reserved:
        return JobExtension(await commit(parts, decide), answer)


def _answer(
    job: Job,
    partition: PartitionIdentity,
    numbers: Sequence[SetNumbers],
    warnings: Warnings,
) -> dict[str, Any]:
    return {
        "job_id": job.job_id,
        "recipe_set_ids": [each.recipe_set_id for each in numbers],
        "recipe_ids": [recipe_id for each in numbers for recipe_id in each.recipe_ids],
        "partition": partition.name,
        "queue": job.queue,
        "warnings": list(warnings),
    }


async def _recipe_ids(parts: JobParts, recipe_set_id: int) -> tuple[int, ...]:
    subject = f"recipe-set/{recipe_set_id}"
    found = (await asyncio.to_thread(parts.aggregates.load, [subject]))[subject]
    assert isinstance(found, RecipeSet), "recipe sets are never removed"
    return found.recipe_ids


def _only(spec: JobSpec, places: Sequence[int]) -> JobSpec:
    """Return a job with only the sets at these places."""
    documents = spec.document["recipe_sets"]
    sets = tuple(spec.recipe_sets[place] for place in places)
    return replace(spec, recipe_sets=sets, document={"recipe_sets": [documents[place] for place in places]})


async def _added(
    parts: JobParts,
    request: RequestContext,
    reserved: Counter[str],
    job: Job,
    spec: JobSpec,
    partition: PartitionIdentity,
) -> AddedSetsDraft:
    require_open(job)
    directory = parts.feed.directory
    require_takes_jobs(partition_document(directory, partition.name), partition.name)
    version = directory.version(partition.subject)
    whole = replace(spec, owner=job.owner, group=job.group, depends_on=(), partition=None)
    chosen = await distro_trees(parts, whole, request.actor, partition.number)
    await require_one_partition(parts.aggregates, directory, [whole], partition)
    _require_small_enough(parts, job, whole, partition)
    if request.has_quota:
        await reserve_recipes(parts, reserved, request.actor, [whole])
    # The number of a job that comes with them stays unused.
    ids = await parts.numbers.take(counts(whole))
    operations = operation_table(directory, partition.name)
    decided = extend(job, whole, ids, request.actor, chosen.tree_ids, operations)
    submitted = [event for _, event in decided if isinstance(event, RecipeSetSubmitted)]
    numbers = [
        SetNumbers(set_id, tuple(event.recipe_ids))
        for set_id, event in zip(ids.recipe_sets, submitted, strict=True)
    ]
    return AddedSetsDraft(decided, {partition.subject: version}, numbers)


def _require_small_enough(parts: JobParts, job: Job, spec: JobSpec, partition: PartitionIdentity) -> None:
    tree = partition_queues(parts.feed.directory, partition.name).tree
    faults = [Fault(*each) for each in too_large_sets(tree, job.queue, job.owner, job.group, spec)]
    if faults:
        raise FaultyInput(faults)


async def close_job(
    parts: WriteParts, request: RequestContext, job_id: int, reason: str | None = None
) -> Committed | None:
    """Close an open job; None if it is closed. Raises the errors of `own_or_administered_job`."""

    def attempt() -> AppendRequest | None:
        job = own_or_administered_job(parts, request, job_id)
        decided = decide_close(job, reason or CLOSED_BY_PERSON)
        return append_for(parts, request, decided, {job.subject: job.version}) if decided else None

    return await commit(parts, lambda: asyncio.to_thread(attempt))
