"""Specifications of recipes and recipe sets, with empty values for most fields, and jobs after events."""

from __future__ import annotations

from typing import Any

from domain.events import Event, Recorded
from domain.job.spec import RecipeSetSpec, RecipeSpec, TaskSpec
from domain.job.state import Job, folded
from domain.priority import Priority
from tests.harness.appends import STAMP


def recipe(*tasks: str, guests: tuple[RecipeSpec, ...] = (), **fields: Any) -> RecipeSpec:
    """Return a recipe; a task is its name, with the parameter `P` after a blank."""
    specs = tuple(_task(*task.split()) for task in tasks or ("/plain",))
    return RecipeSpec("", None, "", "", "", "{}", "", False, (), specs, guests=guests, **fields)


def _task(name: str, param: str | None = None) -> TaskSpec:
    return TaskSpec(name, None, (("P", param),) if param else ())


def of(*recipes: RecipeSpec, **fields: Any) -> RecipeSetSpec:
    return RecipeSetSpec(Priority.Normal, recipes, **fields)


def job_of(*events: Event) -> Job:
    """Return job 1 after its events."""
    past = [
        Recorded(version, version, STAMP.at, "job/1", version, event, STAMP)
        for version, event in enumerate(events, 1)
    ]
    job = folded(1, past)
    assert job is not None
    return job
