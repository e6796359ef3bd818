"""Read models of jobs, counts of states, and stored documents."""

from __future__ import annotations

from random import Random
from typing import Any

import orjson
import pytest

from domain.directory.events import DistroTreeRemoved, LabControllerHeard, LabControllerSilent
from domain.job.events import JobChanged, JobClosed, JobExtended, JobOpened, JobSubmitted
from domain.recipe.events import RecipeCancelled, RecipeQueued
from domain.recipe.lifecycle import FINISHED, UNFINISHED
from domain.recipe_set.events import RecipeSetSubmitted
from domain.roll_up import state_of
from projections.recipe_cache import StateCounts
from tests.projections.happened import host, lab, of, submitted, tree
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
    models.commit(lab())
    models.commit(*submitted(host(1)))
    models.commit(*of("job", 1, JobChanged("fire", "scratch", None)), *of("recipe", 1, RecipeQueued("busy")))
    now = job(models)
    assert (now["whiteboard"], now["state"]) == ("fire", "queued")


def test_state_counts__random_moves__equal_the_state_of_all_recipes() -> None:
    dice, states = Random(1), StateCounts()
    plain: dict[int, str] = {}
    for _ in range(500):
        recipe_id, state = dice.randint(1, 5), dice.choice(UNFINISHED + FINISHED)
        states.move(plain.get(recipe_id), state)
        plain[recipe_id] = state
        assert states.rolled_up == state_of(plain.values())


def test_lab_controller__silent_and_heard__is_shown_so(models: ProjectedLog) -> None:
    models.commit(lab())
    for event, silent in ((LabControllerSilent(), True), (LabControllerHeard(), False)):
        models.commit(("lab-controller/lab-1", event))
        document = models.row("document", kind="lab-controller", name="lab-1")["document"]
        assert document == {"enabled": True, "broken_after": 2, "silent": silent}


def test_distro_tree__removed__is_there_only_as_of_earlier(models: ProjectedLog) -> None:
    (at,) = models.commit(tree(1))
    models.commit(("distro-tree/1", DistroTreeRemoved()))
    asked = {"kind": "distro-tree", "name": "1"}
    assert models.rows("document", **asked) == []
    assert models.rows("documents", kind="distro-tree", after="", limit=10) == []
    assert models.row("document", **asked, at=at)["document"]["name"] == "Linux-1"

    models.commit(tree(1))
    assert models.row("document", **asked)["version"] == 3


def extended(models: ProjectedLog, *set_ids: int, job_id: int = 2) -> None:
    """Add sets with a recipe of the same number to an open job."""
    documents = [{"key": f"k{number}", "recipes": [{"whiteboard": f"w{number}"}]} for number in set_ids]
    models.commit(
        *of("job", job_id, JobExtended(set_ids, {"recipe_sets": documents})),
        *((f"recipe-set/{number}", RecipeSetSubmitted(job_id, "Normal", (number,))) for number in set_ids),
        *((f"recipe/{number}", host(number, job_id=job_id, recipe_set_id=number)) for number in set_ids),
    )


def opened(models: ProjectedLog) -> None:
    models.commit(lab())
    document = {"whiteboard": "nightly", "recipe_sets": []}
    models.commit(*of("job", 2, JobSubmitted("ada", "ada", None, "nightly", (), document), JobOpened(())))


def stage_of_job(models: ProjectedLog, **params: Any) -> tuple[str, str, bool]:
    row = models.row("job", job_id=2, **params)
    return row["state"], row["stage"], row["open"]


@pytest.mark.parametrize("restarts", [False, True])
def test_open_job__extended_and_closed__has_its_stage_at_each_moment(
    models: ProjectedLog, restarts: bool
) -> None:
    opened(models)
    seen = [stage_of_job(models)]

    def after(*happened: Any) -> None:
        if restarts:
            models.begin_again()
        models.commit(*happened)
        moments.append(models.log.end())
        seen.append(stage_of_job(models))

    moments = [models.log.end()]
    extended(models, 5)
    extended(models, 6)
    after(*of("recipe", 5, RecipeQueued("busy")))
    after(*of("recipe", 5, RecipeCancelled("enough")))
    after(*of("recipe", 6, RecipeCancelled("enough")))
    after(*of("job", 2, JobClosed("closed")))
    assert seen == [
        ("new", "new", True),
        ("new", "accepted", True),
        ("new", "accepted", True),
        ("cancelled", "completing", True),
        ("cancelled", "cancelled", False),
    ]
    assert [stage_of_job(models, at=at) for at in moments] == seen


def test_open_job__extended__its_document_and_its_sets_are_shown_from_then_on(models: ProjectedLog) -> None:
    opened(models)
    at = models.log.end()
    extended(models, 5, 6)
    extended(models, 7)
    found = orjson.loads(models.row("job", job_id=2)["document"])
    assert [each["key"] for each in found["recipe_sets"]] == ["k5", "k6", "k7"]
    assert orjson.loads(models.row("job", job_id=2, at=at)["document"])["recipe_sets"] == []
    assert models.row("jobs", job_ids=[2])["recipe_set_ids"] == "[5,6,7]"
    assert models.row("jobs", job_ids=[2], at=at)["recipe_set_ids"] == "[]"
    parts = models.rows("recipes_in_documents", job_ids=[2], recipe_ids=[5, 7])
    assert {row["recipe_id"]: row["recipe"]["whiteboard"] for row in parts} == {5: "w5", 7: "w7"}


def test_open_job__closed_without_sets__is_completed(models: ProjectedLog) -> None:
    opened(models)
    models.commit(*of("job", 2, JobClosed("closed")))
    assert stage_of_job(models) == ("completed", "completed", False)
