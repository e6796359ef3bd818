"""Submission of a job: the events of the job, its recipe sets and its recipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from domain.admission.dependencies import dependency_to_json, with_ids
from domain.contention.algebra import merge
from domain.contention.documents import locks_to_json
from domain.contention.locks import NO_LOCKS, Locks
from domain.contention.operations import SHIPPED, OperationTable
from domain.contention.own_names import unplaced
from domain.events import Decided
from domain.job.declared_locks import declared_locks
from domain.job.events import JobSubmitted
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
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

    @property
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
) -> Decided:
    """Return the events of a submission, in log order: the job, then each set followed by its recipes.

    `tree_ids` has one distro tree for each recipe in document order; None for a custom distro, and if no tree
    matches. `operations` has the locks that tasks declare; later changes of the table have no effect.
    `preceding_jobs` are the ids of the jobs before this one in the same submission, in order. `queue` is the
    path of the queue of the job, None for `root.default`. Raises FaultyInput for a task with an unknown
    operation.
    """
    job = _job(spec, ids, submitter, original, queue)
    decided: Decided = [(f"job/{ids.job}", job)]
    recipe_ids, task_ids, trees = iter(ids.recipes), iter(ids.tasks), iter(tree_ids)
    for index, (recipe_set_id, recipe_set) in enumerate(zip(ids.recipe_sets, spec.recipe_sets, strict=True)):
        members = [*_members(recipe_set, recipe_ids, operations)]
        common = _CommonFields(ids.job, recipe_set_id, job.owner, spec.group, recipe_set.priority.name)
        submitted = RecipeSetSubmitted(
            job_id=ids.job,
            priority=common.priority,
            recipe_ids=tuple([member.recipe_id for member in members]),
            owner=job.owner,
            submitter=submitter,
            group=spec.group,
            tasks=tuple(dict.fromkeys([task.name for member in members for task in member.recipe.tasks])),
            operations=_operations(members, operations),
            reasons=tuple(dict.fromkeys((*spec.reasons, *recipe_set.reasons))),
            depends_on=_dependencies(spec, recipe_set, preceding_jobs, ids.recipe_sets[:index]),
            profile=locks_to_json(_profile(members)),
            queue=queue,
        )
        decided.append((f"recipe-set/{recipe_set_id}", submitted))
        for member in members:
            event = _recipe_new(member, common, task_ids, next(trees))
            decided.append((f"recipe/{member.recipe_id}", event))
    return decided


def _job(
    spec: JobSpec, ids: Ids, submitter: str, original: Original | None, queue: str | None
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
    )


def _dependencies(
    spec: JobSpec, recipe_set: RecipeSetSpec, preceding_jobs: Sequence[int], preceding_sets: Sequence[int]
) -> tuple[dict[str, Any], ...]:
    """Return the dependencies of a job and one of its sets, with ids; most sets have none."""
    depends_on = (*spec.depends_on, *recipe_set.depends_on)
    if not depends_on:
        return ()
    return tuple(map(dependency_to_json, with_ids(depends_on, preceding_jobs, preceding_sets)))


class _Member(NamedTuple):
    recipe_id: int
    recipe: RecipeSpec
    locks: Locks
    host_recipe_id: int | None


def _members(recipe_set: RecipeSetSpec, ids: Iterator[int], operations: OperationTable) -> Iterator[_Member]:
    """Yield the recipes of a set with their ids, each host before its guests."""
    for recipe in recipe_set.recipes:
        host_id = next(ids)
        yield _Member(host_id, recipe, declared_locks(recipe, operations), None)
        for guest in recipe.guests:
            yield _Member(next(ids), guest, declared_locks(guest, operations), host_id)


def _operations(members: Iterable[_Member], operations: OperationTable) -> tuple[str, ...]:
    """Return the operations of all tasks, each once."""
    found = [
        operation
        for member in members
        for task in member.recipe.tasks
        for operation in operations.operations_of(task.name, dict(task.params))
    ]
    return tuple(dict.fromkeys(found))


def _profile(members: Iterable[_Member]) -> Locks:
    """Return the merged locks of a set without systems. The locks of a host cover those of its guests."""
    return merge(*[unplaced(member.locks) for member in members if member.locks != NO_LOCKS])


class _CommonFields(NamedTuple):
    """The fields of `RecipeNew` that all recipes of a set have in common."""

    job_id: int
    recipe_set_id: int
    owner: str
    group: str | None
    priority: str


def _recipe_new(
    member: _Member, common: _CommonFields, task_ids: Iterator[int], tree_id: int | None
) -> RecipeNew:
    recipe = member.recipe
    return RecipeNew(
        job_id=common.job_id,
        recipe_set_id=common.recipe_set_id,
        owner=common.owner,
        group=common.group,
        priority=common.priority,
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
        tasks=[_task(task, next(task_ids)) for task in recipe.tasks],
        host_recipe_id=member.host_recipe_id,
        guestname=recipe.guestname,
        guestargs=recipe.guestargs,
        distro=recipe.distro,
        reservesys=recipe.reservesys,
        locks=locks_to_json(member.locks),
    )


def _task(task: TaskSpec, task_id: int) -> dict[str, Any]:
    document = {"task_id": task_id, "name": task.name, "role": task.role, "params": dict(task.params)}
    return document if task.fetch is None else {**document, "fetch": task.fetch}
