"""Submission of a job: the events of the job, its recipe sets and its recipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from domain.admission.dependencies import Dependency, dependency_to_json, with_ids
from domain.contention.algebra import merge
from domain.contention.documents import locks_to_json
from domain.contention.locks import NO_LOCKS, Locks
from domain.contention.operations import SHIPPED, OperationTable
from domain.contention.own_names import unplaced
from domain.events import Decided
from domain.job.declared_locks import declared_locks
from domain.job.events import JobExtended, JobKeyUsed, JobOpened, JobSubmitted
from domain.job.keys import key_subject
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.job.state import Job, require_open
from domain.queues.tree import DEFAULT_QUEUE
from domain.recipe.events import RecipeNew
from domain.recipe_set.events import RecipeSetSubmitted


@dataclass(frozen=True)
class Ids:
    """The ids of a new job and its parts, in document order; a guest follows its host."""

    job: int
    recipe_sets: tuple[int, ...]
    recipes: tuple[int, ...]
    tasks: tuple[int, ...]


Counts = tuple[int, int, int]
"""The numbers of recipe sets, recipes and tasks of a job."""


def counts(spec: JobSpec) -> Counts:
    """Return the numbers of recipe sets, recipes and tasks of a job; guests are recipes."""
    hosts = [recipe for recipe_set in spec.recipe_sets for recipe in recipe_set.recipes]
    recipes = [recipe for host in hosts for recipe in (host, *host.guests)]
    return len(spec.recipe_sets), len(recipes), sum(len(recipe.tasks) for recipe in recipes)


@dataclass(frozen=True)
class Original:
    """The submitted bytes of a job, with their media type."""

    content: bytes
    media_type: str

    @cached_property
    def sha256(self) -> bytes:
        return sha256(self.content).digest()


def submit(
    spec: JobSpec,
    ids: Ids,
    submitter: str,
    tree_ids: Iterable[int | None],
    original: Original | None = None,
    operations: OperationTable = SHIPPED,
    preceding_jobs: Sequence[int] = (),
    queue: str | None = None,
    origin: int | None = None,
) -> Decided:
    """Return the events of a submission, in log order: the job, then each set followed by its recipes.

    `tree_ids` has one distro tree for each recipe in document order; None for a custom distro, and if no tree
    matches. `operations` has the locks that tasks declare; later changes of the table have no effect.
    `preceding_jobs` are the ids of the jobs before this one in the same submission, in order. `queue` is the
    path of the queue of the job, None for `root.default`. `origin` is the job that was copied. Raises
    FaultyInput for a task with an unknown operation.
    """
    owner = spec.owner or submitter
    of_job = _dependencies(spec.depends_on, preceding_jobs, ())
    decided: Decided = [(f"job/{ids.job}", _job(spec, ids, submitter, original, queue, origin))]
    if spec.is_open:
        decided.append((f"job/{ids.job}", JobOpened(of_job)))
    if spec.key is not None:
        decided.append((key_subject(owner, spec.key), JobKeyUsed(ids.job)))
    common = _CommonFacts(ids.job, owner, submitter, spec.group, spec.reasons, of_job, queue)
    return decided + _sets(spec.recipe_sets, ids, common, tree_ids, operations, preceding_jobs, ())


def extend(
    job: Job,
    spec: JobSpec,
    ids: Ids,
    submitter: str,
    tree_ids: Iterable[int | None],
    operations: OperationTable = SHIPPED,
) -> Decided:
    """Return the events that add recipe sets to an open job.

    The parts of `spec` beside its sets have no effect. The sets have the owner, group, reasons, dependencies
    and queue of the job. Numbers of their dependencies that count back go on to the sets that the job has.
    Raises Refused for a closed job, and FaultyInput as `submit` does.
    """
    require_open(job)
    queue = None if job.queue == DEFAULT_QUEUE else job.queue
    common = _CommonFacts(job.job_id, job.owner, submitter, job.group, job.reasons, job.depends_on, queue)
    extended = JobExtended(ids.recipe_sets, {"recipe_sets": spec.document["recipe_sets"]})
    sets = _sets(spec.recipe_sets, ids, common, tree_ids, operations, (), job.recipe_set_ids)
    return [(job.subject, extended), *sets]


def _sets(
    recipe_sets: Iterable[RecipeSetSpec],
    ids: Ids,
    common: _CommonFacts,
    tree_ids: Iterable[int | None],
    operations: OperationTable,
    preceding_jobs: Sequence[int],
    preceding_sets: Sequence[int],
) -> Decided:
    """Return the events of new sets, each followed by its recipes."""
    decided: Decided = []
    recipe_ids, task_ids, trees = iter(ids.recipes), iter(ids.tasks), iter(tree_ids)
    for index, (recipe_set_id, recipe_set) in enumerate(zip(ids.recipe_sets, recipe_sets, strict=True)):
        members = [*members_of(recipe_set, recipe_ids, operations)]
        before = (*preceding_sets, *ids.recipe_sets[:index])
        own = _dependencies(recipe_set.depends_on, preceding_jobs, before)
        submitted = RecipeSetSubmitted(
            job_id=common.job_id,
            priority=recipe_set.priority.name,
            recipe_ids=tuple([member.recipe_id for member in members]),
            owner=common.owner,
            submitter=common.submitter,
            group=common.group,
            tasks=tuple(dict.fromkeys([task.name for member in members for task in member.recipe.tasks])),
            operations=operations_of(members, operations),
            reasons=tuple(dict.fromkeys((*common.reasons, *recipe_set.reasons))),
            depends_on=(*common.depends_on, *(each for each in own if each not in common.depends_on)),
            profile=locks_to_json(profile_of(members)),
            queue=common.queue,
            preemptible=recipe_set.preemptible,
        )
        decided.append((f"recipe-set/{recipe_set_id}", submitted))
        for member in members:
            event = _recipe_new(member, common, submitted, recipe_set_id, task_ids, next(trees))
            decided.append((f"recipe/{member.recipe_id}", event))
    return decided


class _CommonFacts(NamedTuple):
    """The facts that all sets of a job have in common; `depends_on` are documents with ids."""

    job_id: int
    owner: str
    submitter: str
    group: str | None
    reasons: Sequence[str]
    depends_on: Sequence[Mapping[str, Any]]
    queue: str | None


def _job(
    spec: JobSpec,
    ids: Ids,
    submitter: str,
    original: Original | None,
    queue: str | None,
    origin: int | None,
) -> JobSubmitted:
    return JobSubmitted(
        owner=spec.owner or submitter,
        submitter=submitter,
        group=spec.group,
        whiteboard=spec.whiteboard,
        recipe_set_ids=ids.recipe_sets,
        document=spec.document,
        original_sha256=original.sha256.hex() if original else None,
        original_type=original.media_type if original else None,
        queue=queue,
        origin=origin,
    )


def _dependencies(
    depends_on: Sequence[Dependency], preceding_jobs: Sequence[int], preceding_sets: Sequence[int]
) -> tuple[dict[str, Any], ...]:
    """Return the dependencies of a job or a set, with ids; most have none."""
    if not depends_on:
        return ()
    return tuple(map(dependency_to_json, with_ids(depends_on, preceding_jobs, preceding_sets)))


class Member(NamedTuple):
    """A recipe of a set with its id, the locks that it declares with those of its guests, and its host."""

    recipe_id: int
    recipe: RecipeSpec
    locks: Locks
    host_recipe_id: int | None


def members_of(recipe_set: RecipeSetSpec, ids: Iterator[int], operations: OperationTable) -> Iterator[Member]:
    """Yield the recipes of a set with their ids, each host before its guests."""
    for recipe in recipe_set.recipes:
        host_id = next(ids)
        yield Member(host_id, recipe, declared_locks(recipe, operations), None)
        for guest in recipe.guests:
            yield Member(next(ids), guest, declared_locks(guest, operations), host_id)


def operations_of(members: Iterable[Member], operations: OperationTable) -> tuple[str, ...]:
    """Return the operations of all tasks, each once."""
    found = [
        operation
        for member in members
        for task in member.recipe.tasks
        for operation in operations.operations_of(task.name, dict(task.params))
    ]
    return tuple(dict.fromkeys(found))


def profile_of(members: Iterable[Member]) -> Locks:
    """Return the merged locks of a set without systems. The locks of a host cover those of its guests."""
    return merge(*[unplaced(member.locks) for member in members if member.locks != NO_LOCKS])


def _recipe_new(
    member: Member,
    common: _CommonFacts,
    submitted: RecipeSetSubmitted,
    recipe_set_id: int,
    task_ids: Iterator[int],
    tree_id: int | None,
) -> RecipeNew:
    recipe = member.recipe
    return RecipeNew(
        job_id=common.job_id,
        recipe_set_id=recipe_set_id,
        owner=common.owner,
        group=common.group,
        priority=submitted.priority,
        whiteboard=recipe.whiteboard,
        role=recipe.role,
        host_requires=recipe.host_requires,
        distro_requires=recipe.distro_requires,
        distro_tree_id=tree_id,
        autopick_random=recipe.autopick_random,
        autopick_pools=recipe.autopick_pools,
        kernel_options=recipe.kernel_options,
        kernel_options_post=recipe.kernel_options_post,
        ks_meta=recipe.ks_meta,
        tasks=[task_document(task, next(task_ids)) for task in recipe.tasks],
        host_recipe_id=member.host_recipe_id,
        guestname=recipe.guestname,
        guestargs=recipe.guestargs,
        distro=recipe.distro,
        reservesys=recipe.reservesys,
        locks=locks_to_json(member.locks),
    )


def task_document(task: TaskSpec, task_id: int) -> dict[str, Any]:
    """Return a task as the events of its recipe have it."""
    document = {"task_id": task_id, "name": task.name, "role": task.role, "params": dict(task.params)}
    return document if task.fetch is None else {**document, "fetch": task.fetch}
