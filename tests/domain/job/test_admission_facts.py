"""Facts of a submission for the scheduler: declared locks, dependencies with ids, reasons and operations."""

from __future__ import annotations

from typing import Any

import pytest

from domain.admission.dependencies import JOB, RECIPE_SET, Dependency
from domain.contention.documents import locks_from_json, raising
from domain.contention.locks import Locks
from domain.contention.operation_rows import read_rows
from domain.contention.operations import SHIPPED, OperationTable
from domain.errors import FaultyInput
from domain.events import data_of, from_data
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.job.submission import Ids, counts, submit
from domain.recipe.events import RecipeNew
from domain.recipe_set.events import RecipeSetSubmitted
from tests.domain.job.specs import of, recipe
from tests.domain.recipe.samples import recipe_new

OWN = {"system": {"Exclusive": ["$system"]}}
EVERY_GUEST = {"guest": {"Exclusive": ["$guests", "other"]}}


def locks(**levels: Any) -> Locks:
    return locks_from_json(levels, "locks")


def submitted(*sets: RecipeSetSpec, operations: OperationTable = SHIPPED, **fields: Any) -> dict[str, Any]:
    """Return the events of job 1 by subject; sets have ids from 10, recipes from 20."""
    spec = JobSpec("", "ada", "qa", "scratch", None, sets, {}, **fields)
    _, recipe_count, task_count = counts(spec)
    ids = Ids(
        1,
        tuple(range(10, 10 + len(sets))),
        tuple(range(20, 20 + recipe_count)),
        tuple(range(30, 30 + task_count)),
    )
    return dict(submit(spec, ids, "bob", [None] * recipe_count, operations=operations))


TABLE = OperationTable(
    raising(
        lambda report: read_rows(
            [
                {"operation": "cut", "tasks": ["/cut"], "locks": {"network": {"Exclusive": ["{P}"]}}},
                {"operation": "watch", "tasks": ["/cut", "/watch"], "locks": {"pool": "AllShared"}},
                {"operation": "off", "tasks": ["/off"], "locks": {**OWN, **EVERY_GUEST}},
            ],
            (),
            report,
        )
    )
)

DECLARED: list[tuple[RecipeSpec, dict[str, Any], dict[str, Any]]] = [
    # Recipe, its locks, and the profile of its set.
    (recipe(), {}, {}),
    # Its own locks and those of its tasks are merged; a task may have several rows.
    (
        recipe("/cut a", locks=locks(network={"Shared": ["a", "b"]})),
        {"network": [{"Shared": ["b"]}, {"Exclusive": ["a"]}], "pool": "AllShared"},
        {"network": [{"Shared": ["b"]}, {"Exclusive": ["a"]}], "pool": "AllShared"},
    ),
    # A missing parameter makes the lock Unknown.
    (
        recipe("/cut"),
        {"network": "UnknownExclusive", "pool": "AllShared"},
        {"network": "UnknownExclusive", "pool": "AllShared"},
    ),
    # The own system stays a name until the recipe has a system; without guests `$guests` names nothing.
    (
        recipe("/off"),
        {**OWN, "guest": {"Exclusive": ["other"]}},
        {"system": "UnknownExclusive", "guest": {"Exclusive": ["other"]}},
    ),
    # Guests are named.
    (
        recipe("/off", guests=(recipe(guestname="g1"), recipe(guestname="g2"))),
        {**OWN, "guest": {"Exclusive": ["g1", "g2", "other"]}},
        {"system": "UnknownExclusive", "guest": {"Exclusive": ["g1", "g2", "other"]}},
    ),
    # A guest without a name is unknown.
    (
        recipe("/off", guests=(recipe(guestname="g1"), recipe())),
        {**OWN, "guest": "UnknownExclusive"},
        {"system": "UnknownExclusive", "guest": "UnknownExclusive"},
    ),
    # The locks of a guest and of its tasks are those of the host, too; the guest has no guests.
    (
        recipe(guests=(recipe("/off", guestname="g1", locks=Locks(whole_lab=True)),)),
        {**OWN, "guest": {"Exclusive": ["other"]}, "whole_lab": True},
        {"system": "UnknownExclusive", "guest": {"Exclusive": ["other"]}, "whole_lab": True},
    ),
]


@pytest.mark.parametrize(("host", "stored", "profile"), DECLARED)
def test_submit__declared_locks__merged_from_tasks_and_guests(
    host: RecipeSpec, stored: dict[str, Any], profile: dict[str, Any]
) -> None:
    events = submitted(of(host), operations=TABLE)
    assert events["recipe/20"].locks == stored
    assert events["recipe-set/10"].profile == profile


def test_submit__guest_with_locks__has_its_own() -> None:
    events = submitted(of(recipe("/cut a", guests=(recipe("/watch"),))), operations=TABLE)
    assert events["recipe/21"].locks == {"pool": "AllShared"}


def test_submit__several_recipes__profile_covers_all() -> None:
    named = recipe(locks=locks(network={"Exclusive": ["a"]}))
    events = submitted(of(named, recipe("/cut b"), recipe("/off")), operations=TABLE)
    assert events["recipe-set/10"].profile == {
        "pool": "AllShared",
        "guest": {"Exclusive": ["other"]},
        "system": "UnknownExclusive",
        "network": {"Exclusive": ["a", "b"]},
    }


def test_submit__later_table__changes_nothing() -> None:
    later = TABLE.merged_with(raising(lambda report: read_rows([{"operation": "cut"}], (), report)))
    stored = submitted(of(recipe("/cut a")), operations=TABLE)["recipe/20"]
    assert submitted(of(recipe("/cut a")), operations=later)["recipe/20"].locks == {"pool": "AllShared"}
    assert from_data("recipe.new", 3, data_of(stored)) == stored


def test_submit__unknown_operation__refused() -> None:
    task = TaskSpec("/plain", None, (("LABLEDGER_OPERATION", "fly"),))
    plain = recipe()
    with pytest.raises(FaultyInput, match='there is no operation "fly"'):
        submitted(of(RecipeSpec(**{**vars(plain), "tasks": (task,)})))


def test_submit__facts_for_admission__stand_in_each_set() -> None:
    after_job = Dependency(JOB, 7, ("completed",))
    first = of(recipe("/watch", "/cut a"), recipe("/cut b", guests=(recipe("/off"),)), reasons=("b", "a"))
    second = of(recipe(), depends_on=(Dependency(RECIPE_SET, -1), after_job, Dependency(RECIPE_SET, 4)))
    events = submitted(first, second, operations=TABLE, depends_on=(after_job,), reasons=("a",))
    one, two = events["recipe-set/10"], events["recipe-set/11"]
    assert (one.owner, one.submitter, one.group) == ("ada", "bob", "qa")
    assert one.tasks == ("/watch", "/cut", "/off")
    assert one.operations == ("watch", "cut", "off")
    assert (one.reasons, two.reasons) == (("a", "b"), ("a",))
    assert one.depends_on == ({"job": 7, "states": ["completed"]},)
    ended = ["completed", "aborted"]
    assert two.depends_on == (
        {"job": 7, "states": ["completed"]},
        {"recipe_set": 10, "states": ended},
        {"recipe_set": 4, "states": ended},
    )


def test_submit__job_after_others_of_its_submission__depends_on_their_ids() -> None:
    spec = JobSpec("", "ada", None, "scratch", None, (of(recipe()),), {}, (Dependency(JOB, -2),))
    ids = Ids(9, (10,), (20,), (30,))
    events = dict(submit(spec, ids, "bob", [None], preceding_jobs=(5, 6, 8)))
    assert events["recipe-set/10"].depends_on[0]["job"] == 6


def test_recipe_new__second_version__declares_no_locks() -> None:
    stored = {name: value for name, value in data_of(recipe_new(1)).items() if name != "locks"}
    event = from_data("recipe.new", 2, stored)
    assert isinstance(event, RecipeNew)
    assert (event, event.locks) == (recipe_new(1), {})


def test_recipe_set_submitted__first_version__has_no_facts() -> None:
    event = from_data("recipe-set.submitted", 1, {"job_id": 1, "priority": "Low", "recipe_ids": [2]})
    assert event == RecipeSetSubmitted(1, "Low", [2])
    assert isinstance(event, RecipeSetSubmitted)
    assert (event.owner, event.group, event.depends_on, event.profile) == ("", None, (), {})
