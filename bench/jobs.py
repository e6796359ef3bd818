"""Jobs parsed as the API parses them, each distinct recipe once: a deep queue repeats few recipes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from api.intake import read_job
from domain.directory.state import Directory
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec
from domain.priority import Priority

WHITEBOARD = "bench"


@dataclass(frozen=True)
class _ParsedRecipe:
    """An accepted recipe, its stored form, and the job that contains only this recipe."""

    recipe: RecipeSpec
    kept: Mapping[str, Any]
    job: JobSpec


class JobReader:
    """Parses jobs and caches their recipes. Changes of the directory do not invalidate the cache."""

    def __init__(self, directory: Directory, submitter: str) -> None:
        self._directory = directory
        self._submitter = submitter
        self._read: dict[bytes, _ParsedRecipe] = {}

    def job(self, sets: Sequence[Mapping[str, Any]]) -> JobSpec:
        """Return a job of these recipe sets (priority and recipes), as if it had been parsed as a whole."""
        specs, kept = [], []
        for each in sets:
            recipes = [self._recipe(recipe) for recipe in each["recipes"]]
            specs.append(
                RecipeSetSpec(Priority[each["priority"]], tuple(recipe.recipe for recipe in recipes))
            )
            kept.append({"priority": each["priority"], "recipes": [recipe.kept for recipe in recipes]})
        alone = recipes[0].job
        document = {**alone.document, "recipe_sets": kept}
        return replace(alone, recipe_sets=tuple(specs), document=document)

    def _recipe(self, recipe: Mapping[str, Any]) -> _ParsedRecipe:
        key = orjson.dumps(recipe)
        if key not in self._read:
            job = self.parse([{"recipes": [recipe]}])
            ((spec,),) = (recipe_set.recipes for recipe_set in job.recipe_sets)
            (kept,) = job.document["recipe_sets"][0]["recipes"]
            self._read[key] = _ParsedRecipe(spec, kept, job)
        return self._read[key]

    def parse(self, sets: Sequence[Mapping[str, Any]]) -> JobSpec:
        body = orjson.dumps({"whiteboard": WHITEBOARD, "recipe_sets": sets})
        name_index = self._directory.name_index()
        return read_job(body, "application/json", name_index, self._submitter, is_admin=True).spec
