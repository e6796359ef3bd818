"""Changes of the properties of jobs, and their permissions."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from api.use_cases.change_job import cancel_job, change_job
from api.use_cases.submit_job import submit_job
from domain.errors import FaultyInput, NotPermitted, Stale, Unknown
from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from store.requests import Committed
from tests.random_histories.jobs import job, named, recipe
from tests.use_cases.town import Town, as_admin, by

FIRE = {"whiteboard": "fire"}


@pytest.fixture
def job_id(town: Town) -> int:
    """Return a job of eve for the group qa, whose member is bob."""
    spec = replace(job([RecipeSetSpec(Priority.Normal, (recipe(named("a")),))]), group="qa")
    done = town.ask(submit_job, by("eve"), spec)
    return int(orjson.loads(done.answer or b"")["job_id"])


@pytest.mark.parametrize(("who", "allowed"), [("eve", True), ("bob", True), ("ada", False)])
def test_job__changed_by_its_owner_or_group__and_by_no_others(
    town: Town, job_id: int, who: str, allowed: bool
) -> None:
    before = town.log.end()
    if allowed:
        assert town.ask(change_job, by(who), job_id, FIRE) is not None
        assert town.ask(change_job, by(who), job_id, FIRE) is None
        assert town.since(before) == [(f"job/{job_id}", "job.changed")]
    else:
        with pytest.raises(NotPermitted):
            town.ask(change_job, by(who), job_id, FIRE)
        assert town.log.end() == before


def test_job__nobody_submitted_or_a_tag_without_a_product__refused(town: Town, job_id: int) -> None:
    with pytest.raises(Unknown):
        town.ask(change_job, as_admin(), job_id + 1, FIRE)
    with pytest.raises(FaultyInput):
        town.ask(change_job, as_admin(), job_id, {"retention_tag": "audit"})


def test_job__two_with_the_same_if_match__one_wins_and_the_other_is_stale(town: Town, job_id: int) -> None:
    request = as_admin(expected=frozenset({1}))
    won: list[Committed | None] = []
    between = town.scene.apis[1].appended.preceded(
        lambda: won.append(town.ask(change_job, request, job_id, FIRE))
    )
    with between, pytest.raises(Stale):
        town.ask(change_job, request, job_id, {"whiteboard": "water"}, process=1)
    assert isinstance(won[0], Committed)
    # Also for a change without effect, and for other changes of the job.
    with pytest.raises(Stale):
        town.ask(change_job, request, job_id, FIRE)
    with pytest.raises(Stale):
        town.ask(cancel_job, request, job_id, "too late")
    assert town.ask(cancel_job, as_admin(expected=frozenset({2})), job_id, "in time") is not None


def test_job__two_change_different_things__both_are_true(town: Town, job_id: int) -> None:
    kept = {"retention_tag": "audit", "product": "Linux"}
    with town.scene.apis[1].appended.preceded(lambda: town.ask(change_job, as_admin(), job_id, FIRE)):
        town.ask(change_job, as_admin(), job_id, kept, process=1)
    past = town.log.load({f"job/{job_id}": 0})[f"job/{job_id}"]
    last = past[-1].event
    assert (last.whiteboard, last.product) == ("fire", "Linux")  # type: ignore[attr-defined]
