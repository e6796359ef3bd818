"""Tests of jobs that users have changed."""

from __future__ import annotations

from typing import Any

import orjson

from domain.job.events import JobChanged
from tests.projections.happened import host, lab, of, submitted
from tests.projections.projected_log import ProjectedLog


def job(models: ProjectedLog, **params: Any) -> dict[str, Any]:
    found = models.row("job", job_id=1, **params)
    return {**found, "document": orjson.loads(found["document"])}


def test_job__changed__is_shown_so_from_then_on(models: ProjectedLog) -> None:
    models.commit(lab())
    at = models.commit(*submitted(host(1)))[-1]
    models.commit(*of("job", 1, JobChanged("fire", "active", "Linux")))
    now, before = job(models), job(models, at=at)
    assert (now["whiteboard"], before["whiteboard"]) == ("fire", "")
    assert now["document"] == {"whiteboard": "fire", "retention_tag": "active", "product": "Linux"}
    assert before["document"] == {}
    (listed,) = models.rows("jobs", job_ids=[1])
    assert listed["whiteboard"] == "fire"


def test_job__changed_back__has_no_product(models: ProjectedLog) -> None:
    models.commit(lab())
    models.commit(*submitted(host(1)), *of("job", 1, JobChanged("", "active", "Linux")))
    models.commit(*of("job", 1, JobChanged("", "scratch", None)))
    assert job(models)["document"] == {"whiteboard": "", "retention_tag": "scratch"}


def test_job__changed_while_its_recipes_move__keeps_both(models: ProjectedLog) -> None:
    from domain.recipe.events import RecipeQueued

    models.commit(lab())
    models.commit(*submitted(host(1)))
    models.commit(*of("job", 1, JobChanged("fire", "scratch", None)), *of("recipe", 1, RecipeQueued("busy")))
    now = job(models)
    assert (now["whiteboard"], now["state"]) == ("fire", "queued")
