"""The events of an accepted job."""

from __future__ import annotations

from typing import Any

import pytest

from domain.events import from_data
from domain.job.events import JobSubmitted
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.job.submission import Ids, counts, submit
from domain.priority import Priority
from domain.recipe.events import RecipeNew
from domain.recipe_set.events import RecipeSetSubmitted

IDS = Ids(job=1, recipe_sets=(10, 11), recipes=(20, 21, 22, 23, 24), tasks=(30, 31, 32, 33, 34, 35))
DISTRO = {"arch": "x86_64", "osmajor": "Mine1", "osminor": "0", "tree_url": "http://t/"}
FETCH = {"url": "http://g/", "subdir": "a"}


def recipe(distro_requires: str, *tasks: str, **fields: Any) -> RecipeSpec:
    defaults = {
        "whiteboard": f"on {distro_requires}",
        "role": None,
        "kernel_options": "quiet",
        "kernel_options_post": "",
        "ks_meta": "",
        "host_requires": "{}",
        "distro_requires": distro_requires,
        "autopick_random": False,
        "autopick_pools": (),
        "tasks": tuple(TaskSpec(name, None, (("N", "1"),)) for name in tasks),
    }
    return RecipeSpec(**{**defaults, **fields})


def job(owner: str | None = None) -> JobSpec:
    guests = (
        recipe("fedora", "/g", guestname="one", guestargs="--ram=1"),
        recipe("", "/h", distro=DISTRO, guestargs=""),
    )
    host = recipe("fedora", "/a", "/b", guests=guests, reservesys={"duration_seconds": 60, "when": "always"})
    peer = recipe("unknown", tasks=(TaskSpec("fetched", "R", (), FETCH),))
    sets = (
        RecipeSetSpec(Priority.High, (host, peer)),
        RecipeSetSpec(Priority.Low, (recipe("unknown", "/c"),)),
    )
    return JobSpec("nightly", owner, "qa", "scratch", None, sets, {"whiteboard": "nightly"})


def events(owner: str | None = None) -> list[tuple[str, Any]]:
    return list(submit(job(owner), IDS, "bob", [7, 7, None, None, 8]))


def test_counts__job_with_guests__are_the_numbers_it_needs() -> None:
    assert counts(job()) == (len(IDS.recipe_sets), len(IDS.recipes), len(IDS.tasks)) == (2, 5, 6)


def test_submit__job_of_two_sets__log_has_each_set_before_its_recipes() -> None:
    kinds = [(subject, type(event)) for subject, event in events()]
    assert kinds == [
        ("job/1", JobSubmitted),
        ("recipe-set/10", RecipeSetSubmitted),
        ("recipe/20", RecipeNew),
        ("recipe/21", RecipeNew),
        ("recipe/22", RecipeNew),
        ("recipe/23", RecipeNew),
        ("recipe-set/11", RecipeSetSubmitted),
        ("recipe/24", RecipeNew),
    ]


def test_submit__ids__assigned_in_document_order_and_cross_referenced() -> None:
    made = dict(events())
    assert made["job/1"].recipe_set_ids == (10, 11)
    assert made["recipe-set/10"].recipe_ids == (20, 21, 22, 23)
    assert made["recipe-set/11"].recipe_ids == (24,)
    assert (made["recipe/24"].job_id, made["recipe/24"].recipe_set_id) == (1, 11)
    assert [[task["task_id"] for task in made[f"recipe/{n}"].tasks] for n in IDS.recipes] == [
        [30, 31],
        [32],
        [33],
        [34],
        [35],
    ]
    assert made["recipe/24"].tasks == [{"task_id": 35, "name": "/c", "role": None, "params": {"N": "1"}}]


def test_submit__guests__follow_their_host_and_name_it() -> None:
    made = dict(events())
    hosts = [made[f"recipe/{number}"].host_recipe_id for number in IDS.recipes]
    assert hosts == [None, 20, 20, None, None]
    assert (made["recipe/21"].guestname, made["recipe/21"].guestargs) == ("one", "--ram=1")
    assert (made["recipe/22"].guestname, made["recipe/22"].guestargs) == (None, "")
    assert {made[f"recipe/{number}"].recipe_set_id for number in (20, 21, 22, 23)} == {10}


def test_submit__priority_of_each_set__is_that_of_its_recipes() -> None:
    made = dict(events())
    priorities = [made[f"recipe/{number}"].priority for number in IDS.recipes]
    assert (made["recipe-set/10"].priority, made["recipe-set/11"].priority) == ("High", "Low")
    assert priorities == ["High", "High", "High", "High", "Low"]


def test_submit__distro_trees__assigned_in_document_order() -> None:
    made = dict(events())
    assert [made[f"recipe/{number}"].distro_tree_id for number in IDS.recipes] == [7, 7, None, None, 8]


def test_submit__custom_distro__has_no_tree() -> None:
    made = dict(events())
    assert (made["recipe/22"].distro_tree_id, made["recipe/22"].distro) == (None, DISTRO)
    assert made["recipe/20"].distro is None


def test_submit__reservesys_and_fetch__recorded_if_given() -> None:
    made = dict(events())
    assert made["recipe/20"].reservesys == {"duration_seconds": 60, "when": "always"}
    assert made["recipe/21"].reservesys is None
    (fetched,) = made["recipe/23"].tasks
    assert fetched == {"task_id": 34, "name": "fetched", "role": "R", "params": {}, "fetch": FETCH}


OWNERS = [
    # Without a named owner, the submitter owns the job.
    (None, "bob"),
    ("ada", "ada"),
]


@pytest.mark.parametrize(("named", "owner"), OWNERS)
def test_submit__owner__is_the_named_one_or_the_submitter(named: str | None, owner: str) -> None:
    made = dict(events(named))
    assert (made["job/1"].owner, made["job/1"].submitter) == (owner, "bob")
    assert {made[f"recipe/{number}"].owner for number in IDS.recipes} == {owner}


def test_submit__document__is_kept_whole() -> None:
    assert dict(events())["job/1"].document == {"whiteboard": "nightly"}


def test_job__version_without_original_bytes__has_none() -> None:
    old = {"owner": "ada", "submitter": "ada", "group": None, "whiteboard": "", "document": {}}
    event = from_data("job.submitted", 1, {**old, "recipe_set_ids": [1]})
    assert isinstance(event, JobSubmitted)
    assert (event.original_sha256, event.original_type) == (None, None)
