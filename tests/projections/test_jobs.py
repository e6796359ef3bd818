"""Read models of jobs, counts of states, and stored documents."""

from __future__ import annotations

from random import Random
from typing import Any

import orjson

from domain.directory.events import DistroTreeRemoved, LabControllerHeard, LabControllerSilent
from domain.job.events import JobChanged
from domain.recipe.lifecycle import FINISHED, UNFINISHED
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
    from domain.recipe.events import RecipeQueued

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
