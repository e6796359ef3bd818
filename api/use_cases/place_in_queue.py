"""The queues of new jobs, by the placement rules of their partition (design 6.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from api.intake.near_names import suggestion
from api.use_cases.ports import JobParts
from domain.directory.partition_queues import PartitionQueues, is_in_group, partition_queues
from domain.directory.partition_states import state_of
from domain.directory.partitions import KIND, identities, partition_document
from domain.directory.state import Directory
from domain.errors import Fault, FaultyInput, NotPermitted, display_name
from domain.intake_states import ACTIVE
from domain.job.spec import JobSpec
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from domain.queues.limits import too_small_for
from domain.queues.placement import (
    ChosenQueue,
    NoChosenQueue,
    NoSuchQueue,
    SubmittedJob,
    choose_queue,
    dynamic_queues,
    open_leaves,
)
from domain.queues.tree import DEFAULT_QUEUE, ROOT, WITHOUT_CONFIGURATION, QueueTree
from domain.recipe.lifecycle import UNFINISHED

# The first jobs of a submission, whose faults have near names: with thousands of queues each search takes a
# tenth of a second, in which the process answers nobody.
MAX_SUGGESTING: Final = 3


class QueueOfJob(NamedTuple):
    """The path of a job's queue, None for `root.default`, and a warning if the job names another one."""

    path: str | None
    warning: Fault | None = None


async def choose_queues(
    parts: JobParts, specs: Sequence[JobSpec], partition: PartitionIdentity, submitter: str
) -> list[QueueOfJob]:
    """Return the queue of each job.

    Raises NotPermitted for an owner who may not submit to any queue to which rules lead, and FaultyInput for
    jobs that name no existing queue, that no rule places, or whose sets are larger than a maximum. Both are
    decided at the end of the log.
    """
    seen = parts.feed.position
    try:
        return await _choose(parts, specs, partition, submitter)
    except (FaultyInput, NotPermitted):
        await parts.feed.catch_up()
        if parts.feed.position == seen:
            raise
        return await _choose(parts, specs, partition, submitter)


async def _choose(
    parts: JobParts, specs: Sequence[JobSpec], partition: PartitionIdentity, submitter: str
) -> list[QueueOfJob]:
    queues = partition_queues(parts.feed.directory, partition.name)
    if queues.tree is WITHOUT_CONFIGURATION and all(spec.queue is None for spec in specs):
        return [QueueOfJob(None)] * len(specs)
    jobs = [_submitted_job(parts, spec, submitter) for spec in specs]
    existing = await _existing(parts, queues, partition, jobs)
    places = [choose_queue(queues.tree, queues.rules, job, existing) for job in jobs]
    is_named = any(spec.partition is not None for spec in specs)
    target = _Target(parts.feed.directory, partition, queues.tree, is_named)
    faults = [
        Fault(where, message)
        for index, (spec, job, found) in enumerate(zip(specs, jobs, places, strict=True))
        for where, message in _faults(
            target._replace(suggests=index < MAX_SUGGESTING),
            *(spec, job, found, f"jobs[{index}]." if len(specs) > 1 else ""),
        )
    ]
    if faults:
        raise FaultyInput(faults)
    return [_queue_of(job, found) for job, found in zip(jobs, places, strict=True)]


def _submitted_job(parts: JobParts, spec: JobSpec, submitter: str) -> SubmittedJob:
    owner = spec.owner or submitter
    tags = {"product": spec.product or "", "retention_tag": spec.retention_tag}
    is_member = partial(is_in_group, parts.feed.directory, owner)
    return SubmittedJob(owner, is_member, spec.group, spec.queue, tags)


async def _existing(
    parts: JobParts, queues: PartitionQueues, partition: PartitionIdentity, jobs: Sequence[SubmittedJob]
) -> Collection[str]:
    """Return those dynamic queues of rules that have unfinished jobs; most trees have no dynamic queues."""
    paths = {path for job in jobs for path in dynamic_queues(queues.tree, queues.rules, job)}
    if not paths:
        return ()
    params = {"partition": partition.number, "queues": sorted(paths), "unfinished": list(UNFINISHED)}
    return {row["queue"] for row in await parts.reader.rows("queues_with_jobs", params)}


class _Target(NamedTuple):
    """The partition of the jobs of a submission with its tree, and whether the jobs name the partition.

    With `suggests`, messages have near names.
    """

    directory: Directory
    partition: PartitionIdentity
    tree: QueueTree
    is_named: bool
    suggests: bool = True

    def missing(self, found: NoSuchQueue, job: SubmittedJob) -> str:
        """Return the message for a queue that the partition does not have."""
        where = f"{found.text} in {display_name(KIND, self.partition.name)}"
        closed: list[str] = []
        if not self.is_named and self.partition != DEFAULT_PARTITION:
            where += ", where the job is put because it names no partition"
            names = (each.name for each in identities(self.directory))
            closed = [text for name in names if (text := self._closed_with(name, found.path))]
        # A queue that has vanished, or that another partition has, is not misspelt.
        is_misspelt = self.suggests and not closed and self.tree.vanished_above(found.path) is None
        near = suggestion(found.path, open_leaves(self.tree, job)) if is_misspelt else ""
        return "; ".join([where, *closed]) + near

    def _closed_with(self, partition: str, path: str) -> str | None:
        """Return the state of a partition that has a queue and takes no jobs, None for any other one."""
        state = state_of(partition_document(self.directory, partition))
        if state == ACTIVE or path not in partition_queues(self.directory, partition).tree.by_path:
            return None
        return f"{display_name(KIND, partition)}, which has it, is {state}"


def _faults(
    target: _Target,
    spec: JobSpec,
    job: SubmittedJob,
    found: ChosenQueue | NoSuchQueue | NoChosenQueue,
    prefix: str,
) -> Iterator[tuple[str, str]]:
    if isinstance(found, NoSuchQueue):
        yield f"{prefix}queue", target.missing(found, job)
    elif isinstance(found, NoChosenQueue):
        said = "; ".join(f"rule {rule}: {reason.text}" for rule, reason in found.results)
        if found.is_forbidden:
            where = f"{prefix}queue: {job.owner} may not submit to any queue to which rules lead"
            raise NotPermitted(f"{where}: {said}")
        yield f"{prefix}queue", f"no rule leads to an active leaf to which {job.owner} may submit: {said}"
    else:
        for where, message in too_large_sets(target.tree, found.path, job.owner, job.group, spec):
            yield f"{prefix}{where}", message


def too_large_sets(
    tree: QueueTree, path: str, owner: str, group: str | None, spec: JobSpec
) -> Iterator[tuple[str, str]]:
    """Yield the place and the fault of each set that is larger than a maximum of its queue or one above."""
    for index, recipe_set in enumerate(spec.recipe_sets):
        size = len(recipe_set.recipes)
        for maximum in too_small_for(tree, path, owner, group, size):
            limit = f"over the limit: {maximum}; choose another queue or a smaller set"
            yield f"recipe_sets[{index}]", f"needs {size} systems at once, {limit}"


def _queue_of(job: SubmittedJob, found: ChosenQueue | NoSuchQueue | NoChosenQueue) -> QueueOfJob:
    assert isinstance(found, ChosenQueue), "a job without faults has a queue"
    path = None if found.path == DEFAULT_QUEUE else found.path
    why_not = found.why_not_named
    if job.queue is None or found.path in (job.queue, f"{ROOT}.{job.queue}") or why_not is None:
        return QueueOfJob(path)
    message = f'the job names "{job.queue}", but the placement rules put it into {found.path}'
    return QueueOfJob(path, Fault("queue", f"{message}: {why_not}"))
