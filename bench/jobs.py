"""Parser of jobs with the code of the API. Each distinct recipe is parsed only once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from api.intake import read_job
from domain.contention.locks import Locks
from domain.directory.state import Directory
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec
from domain.priority import Priority

WHITEBOARD = "bench"


@dataclass(frozen=True)
class _ParsedRecipe:
    """A parsed recipe, its stored form, and a job with only this recipe."""

    recipe: RecipeSpec
    stored: Mapping[str, Any]
    job: JobSpec


class JobReader:
    """Parses jobs and caches their recipes. Changes of the directory do not invalidate the cache."""

    def __init__(self, directory: Directory, submitter: str) -> None:
        self._directory = directory
        self._submitter = submitter
        self._parsed: dict[bytes, _ParsedRecipe] = {}
        self._locks: dict[bytes, tuple[Locks, Any]] = {}

    def job(self, sets: Sequence[Mapping[str, Any]]) -> JobSpec:
        """Return a job of these recipe sets (priority and recipes), as if it had been parsed as a whole."""
        specs, stored_sets = [], []
        for recipe_set in sets:
            recipes = [self._recipe(recipe) for recipe in recipe_set["recipes"]]
            reasons = recipe_set.get("reasons", [])
            specs.append(
                RecipeSetSpec(
                    Priority[recipe_set["priority"]],
                    tuple(recipe.recipe for recipe in recipes),
                    reasons=tuple(reasons),
                )
            )
            stored = {"priority": recipe_set["priority"], "recipes": [recipe.stored for recipe in recipes]}
            stored_sets.append({**stored, "reasons": reasons} if reasons else stored)
        job = recipes[0].job
        document = {**job.document, "recipe_sets": stored_sets}
        return replace(job, recipe_sets=tuple(specs), document=document)

    def _recipe(self, recipe: Mapping[str, Any]) -> _ParsedRecipe:
        """Return the recipe; its locks are cached apart, because any recipe may have any of them."""
        if "locks" not in recipe:
            return self._recipe_without_locks(recipe)
        parsed = self._recipe_without_locks({name: recipe[name] for name in recipe if name != "locks"})
        key = orjson.dumps(recipe["locks"])
        if key not in self._locks:
            job = self.parse([{"recipes": [recipe]}])
            ((spec,),) = (recipe_set.recipes for recipe_set in job.recipe_sets)
            self._locks[key] = spec.locks, job.document["recipe_sets"][0]["recipes"][0]["locks"]
        locks, form = self._locks[key]
        return replace(
            parsed, recipe=replace(parsed.recipe, locks=locks), stored={**parsed.stored, "locks": form}
        )

    def _recipe_without_locks(self, recipe: Mapping[str, Any]) -> _ParsedRecipe:
        key = orjson.dumps(recipe)
        if key not in self._parsed:
            job = self.parse([{"recipes": [recipe]}])
            ((spec,),) = (recipe_set.recipes for recipe_set in job.recipe_sets)
            (stored,) = job.document["recipe_sets"][0]["recipes"]
            self._parsed[key] = _ParsedRecipe(spec, stored, job)
        return self._parsed[key]

    def parse(self, sets: Sequence[Mapping[str, Any]]) -> JobSpec:
        body = orjson.dumps({"whiteboard": WHITEBOARD, "recipe_sets": sets})
        name_index = self._directory.name_index()
        return read_job(body, "application/json", name_index, self._submitter, is_admin=True).spec
