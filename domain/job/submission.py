"""Submission of a job: the events of the job, its recipe sets and its recipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from domain.events import Decided
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
    spec: JobSpec, ids: Ids, submitter: str, tree_ids: Iterable[int | None], original: Original | None = None
) -> Decided:
    """Return the events of a submission, in log order: the job, then each set followed by its recipes.

    `tree_ids` has one distro tree for each recipe in document order; None for a custom distro, and if no tree
    matches.
    """
    job = JobSubmitted(
        owner=spec.owner or submitter,
        submitter=submitter,
        group=spec.group,
        whiteboard=spec.whiteboard,
        recipe_set_ids=ids.recipe_sets,
        document=spec.document,
        original_sha256=original.sha256.hex() if original else None,
        original_type=original.media_type if original else None,
    )
    decided: Decided = [(f"job/{ids.job}", job)]
    recipe_ids, task_ids, trees = iter(ids.recipes), iter(ids.tasks), iter(tree_ids)
    for recipe_set_id, recipe_set in zip(ids.recipe_sets, spec.recipe_sets, strict=True):
        members = [*_members(recipe_set, recipe_ids)]
        submitted = RecipeSetSubmitted(
            job_id=ids.job,
            priority=recipe_set.priority.name,
            recipe_ids=tuple(member.recipe_id for member in members),
        )
        decided.append((f"recipe-set/{recipe_set_id}", submitted))
        common = _CommonFields(ids.job, recipe_set_id, job.owner, spec.group, recipe_set.priority.name)
        for member in members:
            event = _recipe_new(member, common, task_ids, next(trees))
            decided.append((f"recipe/{member.recipe_id}", event))
    return decided


@dataclass(frozen=True)
class _Member:
    recipe_id: int
    recipe: RecipeSpec
    host_recipe_id: int | None


def _members(recipe_set: RecipeSetSpec, ids: Iterator[int]) -> Iterator[_Member]:
    """Yield the recipes of a set with their ids, each host before its guests."""
    for recipe in recipe_set.recipes:
        host_id = next(ids)
        yield _Member(host_id, recipe, None)
        for guest in recipe.guests:
            yield _Member(next(ids), guest, host_id)


@dataclass(frozen=True)
class _CommonFields:
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
    )


def _task(task: TaskSpec, task_id: int) -> dict[str, Any]:
    document = {"task_id": task_id, "name": task.name, "role": task.role, "params": dict(task.params)}
    return document if task.fetch is None else {**document, "fetch": task.fetch}
