"""Jobs: submission, changes, and the state and result from their recipes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import FaultyInput
from domain.events import from_data
from domain.job.events import JobChanged, JobSubmitted
from domain.job.retention_tags import RetentionTag, RetentionTags
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.job.state import change_job, folded
from domain.job.submission import Ids, counts, submit
from domain.priority import Priority
from domain.recipe.events import RecipeNew
from domain.recipe.lifecycle import FINISHED, RECIPE
from domain.recipe_set.events import RecipeSetSubmitted
from domain.roll_up import RESULT_ORDER, STATE_ORDER, result_in, result_of, state_of
from tests.domain.job.specs import job_of

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


SUBMITTED = JobSubmitted(
    "ada", "bob", "qa", "smoke", (3, 4), {"retention_tag": "active", "product": "Linux", "notify": []}
)


def test_job__submitted_and_changed__has_values_of_last_event() -> None:
    job = job_of(SUBMITTED)
    assert (job.version, job.owner, job.recipe_set_ids) == (1, "ada", (3, 4))
    assert (job.whiteboard, job.retention_tag, job.product) == ("smoke", "active", "Linux")
    job = job_of(SUBMITTED, JobChanged("fire", "scratch", None))
    assert (job.version, job.whiteboard, job.retention_tag, job.product) == (2, "fire", "scratch", None)
    assert folded(1, []) is None


def test_change__retention_tag__only_tags_of_the_service() -> None:
    tags = RetentionTags([RetentionTag("short", 7)])
    changes = {"retention_tag": "short", "product": None}
    assert change_job(job_of(SUBMITTED), changes, tags) == [("job/1", JobChanged("smoke", "short", None))]
    with pytest.raises(FaultyInput, match="must be one of short"):
        change_job(job_of(SUBMITTED), {"retention_tag": "scratch"}, tags)


def test_job__submitted_without_a_tag__has_default_tag() -> None:
    job = job_of(JobSubmitted("ada", "ada", None, "", (1,), {}))
    assert (job.retention_tag, job.product) == ("scratch", None)


CHANGES: list[tuple[dict[str, str | None], JobChanged | None]] = [
    ({}, None),
    ({"whiteboard": "smoke"}, None),
    ({"whiteboard": "fire"}, JobChanged("fire", "active", "Linux")),
    ({"whiteboard": ""}, JobChanged("", "active", "Linux")),
    ({"product": "BSD"}, JobChanged("smoke", "active", "BSD")),
    ({"retention_tag": "audit"}, JobChanged("smoke", "audit", "Linux")),
    ({"retention_tag": "60days", "product": None}, JobChanged("smoke", "60days", None)),
]


@pytest.mark.parametrize(("changes", "event"), CHANGES)
def test_change__fields_left_out__unchanged(changes: dict[str, str | None], event: JobChanged | None) -> None:
    expected = [] if event is None else [("job/1", event)]
    assert change_job(job_of(SUBMITTED), changes, RetentionTags()) == expected


WRONG: list[tuple[dict[str, str | None], str]] = [
    ({"product": None}, "product"),
    ({"retention_tag": "scratch"}, "product"),
    ({"retention_tag": "for-ever"}, "retention_tag"),
]


@pytest.mark.parametrize(("changes", "place"), WRONG)
def test_change__tag_and_product_do_not_match__refused(changes: dict[str, str | None], place: str) -> None:
    with pytest.raises(FaultyInput) as refused:
        change_job(job_of(SUBMITTED), changes, RetentionTags())
    assert [fault.where for fault in refused.value.faults] == [place]


STATES = [
    # One member: its state.
    ("queued", "queued"),
    # One running member makes the whole running.
    ("running queued completed", "running"),
    ("aborted running", "running"),
    # Provisioning counts before waiting for systems.
    ("installing waiting queued", "installing"),
    ("waiting scheduled", "waiting"),
    # Among members that wait for systems, the least advanced counts.
    ("new assigned queued scheduled", "new"),
    ("queued scheduled", "queued"),
    ("assigned scheduled", "assigned"),
    # Reserved is not finished yet.
    ("reserved completed", "reserved"),
    # All finished: aborted beats cancelled beats completed.
    ("completed completed", "completed"),
    ("completed cancelled", "cancelled"),
    ("completed cancelled aborted", "aborted"),
]
RESULTS = [
    # Nothing reported yet.
    ("", "New"),
    ("New None", "None"),
    # A skipped task does not hide a pass.
    ("Skip Pass", "Pass"),
    ("Pass Warn Pass", "Warn"),
    ("Fail Warn", "Fail"),
    ("Panic Fail Pass", "Panic"),
]

states = st.lists(st.sampled_from(STATE_ORDER), min_size=1)
results = st.lists(st.sampled_from(RESULT_ORDER))


@pytest.mark.parametrize(("members", "whole"), STATES)
def test_state__of_members__is_the_least_finished(members: str, whole: str) -> None:
    assert state_of(members.split()) == whole


@pytest.mark.parametrize(("members", "whole"), RESULTS)
def test_result__of_members__is_the_worst(members: str, whole: str) -> None:
    assert result_of(members.split()) == whole


def test_state_order__every_recipe_state__has_its_place() -> None:
    assert sorted(STATE_ORDER) == sorted(RECIPE.states)
    assert set(STATE_ORDER[-3:]) == set(FINISHED)


@pytest.mark.parametrize("result", RESULT_ORDER)
@pytest.mark.parametrize("state", RECIPE.states)
def test_result__in_a_state__is_at_least_warn_once_given_up(state: str, result: str) -> None:
    better = state in ("cancelled", "aborted") and result in ("New", "None", "Skip", "Pass")
    assert result_in(state, result) == ("Warn" if better else result)


@given(states, st.randoms(use_true_random=False))
def test_state__members_in_another_order__is_the_same(members: list[str], chance: object) -> None:
    shuffled = list(members)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert state_of(shuffled) == state_of(members)


@given(states)
def test_state__of_any_members__is_finished_just_when_all_are(members: list[str]) -> None:
    assert (state_of(members) in FINISHED) == all(member in FINISHED for member in members)


@given(states, states)
def test_state__of_sets_of_members__is_that_of_all_members(one: list[str], other: list[str]) -> None:
    assert state_of([state_of(one), state_of(other)]) == state_of(one + other)


@given(results, results)
def test_result__of_sets_of_members__is_that_of_all_members(one: list[str], other: list[str]) -> None:
    assert result_of([result_of(one), result_of(other)]) == result_of(other + one)
