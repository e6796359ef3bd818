"""From a sound document to what the domain works with."""

from __future__ import annotations

from typing import Any

from api.intake.checks import LANGUAGES
from api.intake.document import Job, Recipe, RecipeSet, Task
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority
from domain.requirements.distro import DISTRO
from domain.requirements.forms import to_form
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


def _recipe(recipe: Recipe) -> RecipeSpec:
    return RecipeSpec(
        whiteboard=recipe.whiteboard,
        role=recipe.role,
        kernel_options=recipe.kernel_options,
        kernel_options_post=recipe.kernel_options_post,
        ks_meta=recipe.ks_meta,
        host_requires=HOST.examine(recipe.host_requires).text,
        distro_requires=DISTRO.examine(recipe.distro_requires).text,
        autopick_random=recipe.autopick.random,
        autopick_pools=tuple(recipe.autopick.pools),
        tasks=tuple(map(_task, recipe.tasks)),
    )


def _task(task: Task) -> TaskSpec:
    return TaskSpec(task.name, task.role, tuple(task.params.items()))


def _kept(job: Job) -> dict[str, Any]:
    """The whole document in its one spelling: defaults written out, requirements as they were understood."""
    document = job.model_dump(exclude_none=True)
    for recipe_set in document["recipe_sets"]:
        for recipe in recipe_set["recipes"]:
            for field, language in LANGUAGES.items():
                recipe[field] = to_form(language.examine(recipe[field]).node)
    return document
