"""From a sound document to what the domain works with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from api.intake.checks import LANGUAGES
from api.intake.document import AnyRecipe, Guest, Job, Recipe, RecipeSet, Task
from domain.job.names import recipes_of
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority
from domain.requirements.distro import DISTRO
from domain.requirements.host import HOST


def spec_of(job: Job) -> JobSpec:
    return JobSpec(
        whiteboard=job.whiteboard,
        owner=job.user,
        group=job.group,
        retention_tag=job.retention_tag,
        product=job.product,
        recipe_sets=tuple(map(_recipe_set, job.recipe_sets)),
        document=_kept(job),
    )


def _recipe_set(recipe_set: RecipeSet) -> RecipeSetSpec:
    return RecipeSetSpec(Priority[recipe_set.priority], tuple(map(_recipe, recipe_set.recipes)))


def _recipe(recipe: AnyRecipe) -> RecipeSpec:
    spec = RecipeSpec(
        whiteboard=recipe.whiteboard,
        role=recipe.role,
        kernel_options=recipe.kernel_options,
        kernel_options_post=recipe.kernel_options_post,
        ks_meta=recipe.ks_meta,
        host_requires=HOST.examine(recipe.host_requires).text,
        distro_requires=DISTRO.examine(recipe.distro_requires or {}).text,
        autopick_random=recipe.autopick.random,
        autopick_pools=tuple(recipe.autopick.pools),
        tasks=tuple(map(_task, recipe.tasks)),
        distro=_told(recipe.distro),
        reservesys=_told(recipe.reservesys),
    )
    if isinstance(recipe, Guest):
        return replace(spec, guestname=recipe.guestname, guestargs=recipe.guestargs)
    assert isinstance(recipe, Recipe)
    return replace(spec, guests=tuple(map(_recipe, recipe.guests)))


def _told(part: BaseModel | None) -> dict[str, Any] | None:
    return None if part is None else part.model_dump(exclude_none=True)


def _task(task: Task) -> TaskSpec:
    """A task that is fetched and has no name is called by where it comes from: URL, and folder if any."""
    params = tuple(task.params.items())
    if task.fetch is None:
        assert task.name is not None, "checked before"
        return TaskSpec(task.name, task.role, params)
    fetch = {"url": task.fetch.url} | ({"subdir": task.fetch.subdir} if task.fetch.subdir else {})
    return TaskSpec(task.name or " ".join(fetch.values()), task.role, params, fetch)


def _kept(job: Job) -> dict[str, Any]:
    """The whole document in its one spelling: defaults written out, requirements as they were understood."""
    document = job.model_dump(exclude_none=True)
    for _, recipe in recipes_of(document):
        assert isinstance(recipe, dict)
        for field, language in LANGUAGES.items():
            if field in recipe:
                recipe[field] = language.examine(recipe[field]).form
    return document
