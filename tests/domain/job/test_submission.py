"""From an accepted job to its first events."""

from __future__ import annotations

from typing import Any

import pytest

from domain.job.events import JobSubmitted, RecipeSetSubmitted
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.job.submission import Ids, counts, submit
from domain.priority import Priority
from domain.recipe.events import RecipeNew

IDS = Ids(job=1, recipe_sets=(10, 11), recipes=(20, 21), tasks=(30, 31, 32))


def recipe(distro_requires: str, *tasks: str) -> RecipeSpec:
    return RecipeSpec(
        whiteboard=f"on {distro_requires}",
        role=None,
        kernel_options="quiet",
        kernel_options_post="",
        ks_meta="",
        host_requires="{}",
        distro_requires=distro_requires,
        autopick_random=False,
        autopick_pools=(),
        tasks=tuple(TaskSpec(name, None, (("N", "1"),)) for name in tasks),
    )


def job(owner: str | None = None) -> JobSpec:
    sets = (
        RecipeSetSpec(Priority.High, (recipe("fedora", "/a", "/b"),)),
        RecipeSetSpec(Priority.Low, (recipe("unknown", "/c"),)),
    )
    return JobSpec("nightly", owner, "qa", "scratch", None, sets, {"whiteboard": "nightly"})


def events(owner: str | None = None) -> list[tuple[str, Any]]:
    return list(submit(job(owner), IDS, "bob", {"fedora": 7}.get))


def test_counts__job_of_two_sets__are_the_numbers_it_needs() -> None:
    assert counts(job()) == (2, 2, 3)


def test_submit__job_of_two_sets__log_has_each_set_before_its_recipes() -> None:
    kinds = [(subject, type(event)) for subject, event in events()]
    assert kinds == [
        ("job/1", JobSubmitted),
        ("recipe-set/10", RecipeSetSubmitted),
        ("recipe/20", RecipeNew),
        ("recipe-set/11", RecipeSetSubmitted),
        ("recipe/21", RecipeNew),
    ]


def test_submit__numbers__are_given_out_in_document_order_and_name_each_other() -> None:
    made = dict(events())
    assert made["job/1"].recipe_set_ids == (10, 11)
    assert made["recipe-set/11"].recipe_ids == (21,)
    assert (made["recipe/21"].job_id, made["recipe/21"].recipe_set_id) == (1, 11)
    assert [task["task_id"] for task in made["recipe/20"].tasks] == [30, 31]
    assert made["recipe/21"].tasks == [{"task_id": 32, "name": "/c", "role": None, "params": {"N": "1"}}]


def test_submit__priority_of_each_set__is_that_of_its_recipes() -> None:
    made = dict(events())
    assert (made["recipe-set/10"].priority, made["recipe/20"].priority) == ("High", "High")
    assert made["recipe/21"].priority == "Low"


def test_submit__distro_requirement__is_resolved_once_and_now() -> None:
    made = dict(events())
    assert made["recipe/20"].distro_tree_id == 7
    # Nobody has such a tree: the scheduler gives the recipe up, with that reason.
    assert made["recipe/21"].distro_tree_id is None


OWNERS = [
    # Who submits for nobody else owns the job.
    (None, "bob"),
    ("ada", "ada"),
]


@pytest.mark.parametrize(("named", "owner"), OWNERS)
def test_submit__owner__is_the_named_one_or_the_submitter(named: str | None, owner: str) -> None:
    made = dict(events(named))
    assert (made["job/1"].owner, made["job/1"].submitter) == (owner, "bob")
    assert made["recipe/20"].owner == owner


def test_submit__document__is_kept_whole() -> None:
    assert dict(events())["job/1"].document == {"whiteboard": "nightly"}
