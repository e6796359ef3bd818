"""From an accepted job to the events that put it in the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from domain.events import Decided
from domain.job.events import JobSubmitted
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec
from domain.recipe.events import RecipeNew
from domain.recipe_set.events import RecipeSetSubmitted


@dataclass(frozen=True)
class Ids:
    """The numbers a job takes, in document order; each kind is counted on its own."""

    job: int
    recipe_sets: tuple[int, ...]
    recipes: tuple[int, ...]
    tasks: tuple[int, ...]


def counts(spec: JobSpec) -> tuple[int, int, int]:
    """How many recipe sets, recipes and tasks need a number."""
    recipes = [recipe for recipe_set in spec.recipe_sets for recipe in recipe_set.recipes]
    return len(spec.recipe_sets), len(recipes), sum(len(recipe.tasks) for recipe in recipes)


def submit(spec: JobSpec, ids: Ids, submitter: str, tree_for: Callable[[str], int | None]) -> Decided:
    """The events of a submission, in log order: the job, then each set followed by its recipes.

    `tree_for` gives the id of the distro tree that a distro requirement means today, or None.
    """
    owner = spec.owner or submitter
    job = JobSubmitted(
        owner=owner,
        submitter=submitter,
        group=spec.group,
        whiteboard=spec.whiteboard,
        recipe_set_ids=ids.recipe_sets,
        document=spec.document,
    )
    numbers = _Numbers(iter(ids.recipes), iter(ids.tasks))
    decided: Decided = [(f"job/{ids.job}", job)]
    for recipe_set_id, recipe_set in zip(ids.recipe_sets, spec.recipe_sets, strict=True):
        recipes = [(next(numbers.recipes), recipe) for recipe in recipe_set.recipes]
        submitted = RecipeSetSubmitted(
            job_id=ids.job,
            priority=recipe_set.priority.name,
            recipe_ids=tuple(recipe_id for recipe_id, _ in recipes),
        )
        decided.append((f"recipe-set/{recipe_set_id}", submitted))
        for recipe_id, recipe in recipes:
            place = _Place(ids.job, recipe_set_id, owner, spec.group, recipe_set)
            new = _new(recipe, place, numbers.tasks, tree_for(recipe.distro_requires))
            decided.append((f"recipe/{recipe_id}", new))
    return decided


@dataclass(frozen=True)
class _Numbers:
    recipes: Iterator[int]
    tasks: Iterator[int]


@dataclass(frozen=True)
class _Place:
    job_id: int
    recipe_set_id: int
    owner: str
    group: str | None
    recipe_set: RecipeSetSpec


def _new(recipe: RecipeSpec, place: _Place, task_ids: Iterator[int], tree_id: int | None) -> RecipeNew:
    tasks = [
        {"task_id": next(task_ids), "name": task.name, "role": task.role, "params": dict(task.params)}
        for task in recipe.tasks
    ]
    return RecipeNew(
        job_id=place.job_id,
        recipe_set_id=place.recipe_set_id,
        owner=place.owner,
        group=place.group,
        priority=place.recipe_set.priority.name,
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
        tasks=tasks,
    )
