"""Jobs read at the door, each recipe once: a deep queue asks the same few things again and again."""

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
class _Read:
    """A recipe as it was accepted, the form of it that is kept, and the same of a job that has no other."""

    recipe: RecipeSpec
    kept: Mapping[str, Any]
    job: JobSpec


class JobReader:
    """For a directory that does not change meanwhile what was read before."""

    def __init__(self, directory: Directory, submitter: str) -> None:
        self._directory = directory
        self._submitter = submitter
        self._read: dict[bytes, _Read] = {}

    def job(self, sets: Sequence[Mapping[str, Any]]) -> JobSpec:
        """One of these recipe sets (priority and recipes), just as if it had been read as a whole."""
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

    def _recipe(self, recipe: Mapping[str, Any]) -> _Read:
        key = orjson.dumps(recipe)
        if key not in self._read:
            job = self.at_the_door([{"recipes": [recipe]}])
            ((spec,),) = (recipe_set.recipes for recipe_set in job.recipe_sets)
            (kept,) = job.document["recipe_sets"][0]["recipes"]
            self._read[key] = _Read(spec, kept, job)
        return self._read[key]

    def at_the_door(self, sets: Sequence[Mapping[str, Any]]) -> JobSpec:
        body = orjson.dumps({"whiteboard": WHITEBOARD, "recipe_sets": sets})
        known = self._directory.name_index()
        return read_job(body, "application/json", known, self._submitter, is_admin=True).spec
