"""Jobs, as people have changed them since."""

from __future__ import annotations

from typing import Any

import orjson

from domain.job.events import JobChanged
from tests.projections.happened import host, lab, of, submitted
from tests.projections.telling import Told


def job(told: Told, **params: Any) -> dict[str, Any]:
    found = told.row("job", job_id=1, **params)
    return {**found, "document": orjson.loads(found["document"])}


def test_job__changed__is_shown_so_from_then_on(told: Told) -> None:
    told.tell(lab())
    at = told.tell(*submitted(host(1)))[-1]
    told.tell(*of("job", 1, JobChanged("fire", "active", "Linux")))
    now, before = job(told), job(told, at=at)
    assert (now["whiteboard"], before["whiteboard"]) == ("fire", "")
    assert now["document"] == {"whiteboard": "fire", "retention_tag": "active", "product": "Linux"}
    assert before["document"] == {}
    (listed,) = told.rows("jobs", job_ids=[1])
    assert listed["whiteboard"] == "fire"


def test_job__changed_back__names_no_product_any_more(told: Told) -> None:
    told.tell(lab())
    told.tell(*submitted(host(1)), *of("job", 1, JobChanged("", "active", "Linux")))
    told.tell(*of("job", 1, JobChanged("", "scratch", None)))
    assert job(told)["document"] == {"whiteboard": "", "retention_tag": "scratch"}


def test_job__changed_while_its_recipes_move__keeps_both(told: Told) -> None:
    from domain.recipe.events import RecipeQueued

    told.tell(lab())
    told.tell(*submitted(host(1)))
    told.tell(*of("job", 1, JobChanged("fire", "scratch", None)), *of("recipe", 1, RecipeQueued("busy")))
    now = job(told)
    assert (now["whiteboard"], now["state"]) == ("fire", "queued")
