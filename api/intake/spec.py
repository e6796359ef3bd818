"""Conversion of a valid document to the job of the domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from api.intake.document import AnyRecipe, Guest, Job, Recipe, RecipeSet, Task
from api.intake.requirements import NOTHING_REQUIRED
from domain.job.names import recipes_of
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority
from domain.requirements.language import ParsedRequirement

Readings = Mapping[str, ParsedRequirement]
"""The requirements of a recipe, by field."""


def spec_of(job: Job, readings: Sequence[Readings]) -> JobSpec:
    """Return the job; `readings` are those of each recipe before its guests, in document order."""
    each = iter(readings)
    return JobSpec(
        whiteboard=job.whiteboard,
        owner=job.user,
        group=job.group,
        retention_tag=job.retention_tag,
        product=job.product,
        recipe_sets=tuple(_recipe_set(recipe_set, each) for recipe_set in job.recipe_sets),
        document=_kept(job, readings),
    )


def _recipe_set(recipe_set: RecipeSet, each: Iterator[Readings]) -> RecipeSetSpec:
    recipes = tuple(_recipe(recipe, each) for recipe in recipe_set.recipes)
    return RecipeSetSpec(Priority[recipe_set.priority], recipes)


def _recipe(recipe: AnyRecipe, each: Iterator[Readings]) -> RecipeSpec:
    readings = next(each)
    return RecipeSpec(
        whiteboard=recipe.whiteboard,
        role=recipe.role,
        kernel_options=recipe.kernel_options,
        kernel_options_post=recipe.kernel_options_post,
        ks_meta=recipe.ks_meta,
        host_requires=readings["host_requires"].text,
        distro_requires=readings.get("distro_requires", NOTHING_REQUIRED).text,
        autopick_random=recipe.autopick.random,
        autopick_pools=tuple(recipe.autopick.pools),
        tasks=tuple(map(_task, recipe.tasks)),
        distro=_fields(recipe.distro),
        reservesys=_fields(recipe.reservesys),
        **(_guest(recipe) if isinstance(recipe, Guest) else _host(recipe, each)),
    )


def _guest(recipe: Guest) -> dict[str, Any]:
    return {"guestname": recipe.guestname, "guestargs": recipe.guestargs}


def _host(recipe: AnyRecipe, each: Iterator[Readings]) -> dict[str, Any]:
    assert isinstance(recipe, Recipe)
    return {"guests": tuple(_recipe(guest, each) for guest in recipe.guests)}


def _fields(part: BaseModel | None) -> dict[str, Any] | None:
    return None if part is None else part.model_dump(exclude_none=True)


def _task(task: Task) -> TaskSpec:
    """Return the task; a fetched task without a name is named by its URL and folder."""
    params = tuple(task.params.items())
    if task.fetch is None:
        assert task.name is not None, "checked before"
        return TaskSpec(task.name, task.role, params)
    fetch = {"url": task.fetch.url} | ({"subdir": task.fetch.subdir} if task.fetch.subdir else {})
    return TaskSpec(task.name or " ".join(fetch.values()), task.role, params, fetch)


def _kept(job: Job, readings: Sequence[Readings]) -> dict[str, Any]:
    """Return the normalised document, with defaults and the canonical requirements."""
    document = job.model_dump(exclude_none=True)
    for (_, recipe), read in zip(recipes_of(document), readings, strict=True):
        assert isinstance(recipe, dict)
        recipe.update({field: reading.form for field, reading in read.items()})
    return document
