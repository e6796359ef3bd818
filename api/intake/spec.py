"""Conversion of a valid document to the `JobSpec` of the domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from api.intake.declarations import Declarations
from api.intake.document import AnyRecipe, Guest, Job, Recipe, RecipeSet, Task
from api.intake.requirements import NOTHING_REQUIRED
from domain.admission.dependencies import Dependency, dependency_to_json
from domain.contention.documents import locks_to_json
from domain.contention.locks import Locks
from domain.job.names import recipes_of
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority
from domain.requirements.language import ParsedRequirement

Requirements = Mapping[str, ParsedRequirement]
"""The parsed requirements of a recipe, by field."""


class RecipeParts(NamedTuple):
    """The parsed parts of a recipe: its requirements, and the locks that it declares itself."""

    requirements: Requirements
    locks: Locks


def spec_of(job: Job, requirements: Sequence[Requirements], declared: Declarations) -> JobSpec:
    """Return the job; `requirements` are in document order, those of a recipe before those of its guests."""
    parts = [*map(RecipeParts, requirements, declared.locks)]
    remaining = iter(parts)
    return JobSpec(
        whiteboard=job.whiteboard,
        owner=job.user,
        group=job.group,
        retention_tag=job.retention_tag,
        product=job.product,
        recipe_sets=tuple(
            _recipe_set(recipe_set, depends_on, remaining)
            for recipe_set, depends_on in zip(job.recipe_sets, declared.set_depends_on, strict=True)
        ),
        document=_stored_document(job, parts, declared),
        depends_on=declared.depends_on,
        reasons=tuple(job.reasons or ()),
        partition=job.partition,
        queue=job.queue,
        key=job.key,
        is_open=job.open,
    )


def _recipe_set(
    recipe_set: RecipeSet, depends_on: tuple[Dependency, ...], remaining: Iterator[RecipeParts]
) -> RecipeSetSpec:
    recipes = tuple(_recipe(recipe, remaining) for recipe in recipe_set.recipes)
    reasons = tuple(recipe_set.reasons or ())
    own = recipe_set.key, recipe_set.preemptible
    return RecipeSetSpec(Priority[recipe_set.priority], recipes, depends_on, reasons, *own)


def _recipe(recipe: AnyRecipe, remaining: Iterator[RecipeParts]) -> RecipeSpec:
    requirements, locks = next(remaining)
    return RecipeSpec(
        whiteboard=recipe.whiteboard,
        role=recipe.role,
        kernel_options=recipe.kernel_options,
        kernel_options_post=recipe.kernel_options_post,
        ks_meta=recipe.ks_meta,
        host_requires=requirements["host_requires"].text,
        distro_requires=requirements.get("distro_requires", NOTHING_REQUIRED).text,
        autopick_random=recipe.autopick.random,
        autopick_pools=tuple(recipe.autopick.pools),
        tasks=tuple(map(_task, recipe.tasks)),
        distro=_fields(recipe.distro),
        reservesys=_fields(recipe.reservesys),
        locks=locks,
        **(_guest(recipe) if isinstance(recipe, Guest) else _host(recipe, remaining)),
    )


def _guest(recipe: Guest) -> dict[str, Any]:
    return {"guestname": recipe.guestname, "guestargs": recipe.guestargs}


def _host(recipe: AnyRecipe, remaining: Iterator[RecipeParts]) -> dict[str, Any]:
    assert isinstance(recipe, Recipe)
    return {"guests": tuple(_recipe(guest, remaining) for guest in recipe.guests)}


def _fields(part: BaseModel | None) -> dict[str, Any] | None:
    return None if part is None else part.model_dump(exclude_none=True)


def _task(task: Task) -> TaskSpec:
    """Return the task; a fetched task without a name gets its URL and folder as name."""
    params = tuple(task.params.items())
    if task.fetch is None:
        assert task.name is not None, "_alternatives refuses a task without name and fetch"
        return TaskSpec(task.name, task.role, params)
    fetch = {"url": task.fetch.url} | ({"subdir": task.fetch.subdir} if task.fetch.subdir else {})
    return TaskSpec(task.name or " ".join(fetch.values()), task.role, params, fetch)


def _stored_document(job: Job, parts: Sequence[RecipeParts], declared: Declarations) -> dict[str, Any]:
    """Return the normalised document, with defaults and canonical forms, and without empty declarations."""
    document = job.model_dump(exclude_none=True)
    if not job.open:
        del document["open"]
    for (_, recipe), (requirements, locks) in zip(recipes_of(document), parts, strict=True):
        assert isinstance(recipe, dict)
        recipe.update({field: requirement.form for field, requirement in requirements.items()})
        _store(recipe, "locks", locks_to_json(locks))
    sets = zip(document["recipe_sets"], declared.set_depends_on, strict=True)
    for part in document["recipe_sets"]:
        _store(part, "preemptible", part["preemptible"])
    for part, depends_on in [(document, declared.depends_on), *sets]:
        _store(part, "depends_on", [*map(dependency_to_json, depends_on)])
        _store(part, "reasons", part.get("reasons"))
    return document


def _store(part: dict[str, Any], field: str, form: Any) -> None:
    part.pop(field, None)
    if form:
        part[field] = form
