"""Several jobs in one document, `{"jobs": [...]}`: read one by one, with places in the whole document."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from api.intake import PartitionRules, ReadJobs, mentioned_in, read_jobs
from api.intake.limits import MAX_FAULTS, MAX_JOBS, MAX_RECIPES_IN_JOB
from domain.admission.dependencies import JOB, RECIPE_SET, Dependency
from domain.errors import FaultyInput
from tests.intake.jobs import NAMES, exists, job_document, job_xml, read_json, read_xml


def read(document: Any, **more: Any) -> ReadJobs:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    kind = "text/xml" if body.startswith(b"<") else "application/json"
    return read_jobs(body, kind, NAMES, "alice", False, exists=exists, **more)


def faults_in(document: Any, **more: Any) -> list[tuple[str, str]]:
    with pytest.raises(FaultyInput) as refused:
        read(document, **more)
    return [(fault.where.rpartition(": ")[2], fault.message) for fault in refused.value.faults]


def test_jobs__one_document__is_read_as_before() -> None:
    for document, spec in [(job_document(), read_json(job_document())), (job_xml(), read_xml(job_xml()))]:
        found = read(document)
        assert ([job.spec for job in found.jobs], found.is_list) == ([spec], False)


def test_jobs__several__each_may_depend_on_those_before_it() -> None:
    second = job_document(depends_on=[{"job": -1}, {"job": 1}], whiteboard="second")
    second["recipe_sets"] += [{**second["recipe_sets"][0], "depends_on": [{"recipe_set": -1}]}]
    found = read({"jobs": [job_document(), second]})
    one, two = (job.spec for job in found.jobs)
    assert found.is_list
    assert one == read_json(job_document())
    assert two.whiteboard == "second"
    assert two.depends_on == (Dependency(JOB, -1), Dependency(JOB, 1))
    assert two.recipe_sets[1].depends_on == (Dependency(RECIPE_SET, -1),)


def test_jobs__dependency_on_the_same_or_a_later_job__refused() -> None:
    document = {"jobs": [job_document(), job_document(depends_on=[{"job": -2}]), job_document()]}
    message = "counts back too far: 1 precede it in its submission"
    assert faults_in(document) == [("jobs[1].depends_on[0].job", message)]
    # Sets of another job of the submission are not counted.
    document = {"jobs": [job_document(), job_document(depends_on=[{"recipe_set": -1}])]}
    assert faults_in(document)[0][0] == "jobs[1].depends_on[0].recipe_set"


def test_jobs__faults__are_those_of_all_jobs_with_their_places() -> None:
    wrong = job_document(recipe={"host_requires_xml": "<hostRequires><memroy/></hostRequires>"})
    del wrong["recipe_sets"][0]["recipes"][0]["host_requires"]
    body = json.dumps({"jobs": [job_document(colour=1), job_document(), wrong]}).encode()
    with pytest.raises(FaultyInput) as refused:
        read(body)
    one, two = refused.value.faults
    assert one.where.endswith(": jobs[0].colour")
    assert "jobs[2].recipe_sets[0].recipes[0].host_requires_xml, line 1" in two.where
    assert "<memroy>" in two.message


LISTS: list[tuple[Any, str, str]] = [
    ({"jobs": {}}, "jobs", "must be a list"),
    ({"jobs": []}, "jobs", "must not be empty"),
    ({"jobs": [3]}, "jobs[0]", "must be an object, or the text of a job"),
    ({"jobs": [{}] * (MAX_JOBS + 1)}, "jobs", "must not have more than 100 members"),
    ({"jobs": [job_document()], "user": "bob"}, "user", 'unknown field "user" beside "jobs"'),
    ({"jobs": [], **job_document()}, "jobs", 'unknown field "jobs"'),
]


@pytest.mark.parametrize(("document", "where", "message"), LISTS)
def test_jobs__list_with_a_fault__refused(document: Any, where: str, message: str) -> None:
    assert faults_in(document) == [(where, message)]


def test_jobs__more_recipes_than_one_commit_may_have__refused() -> None:
    one = job_document()
    one["recipe_sets"][0]["recipes"] *= 200
    count = MAX_RECIPES_IN_JOB // 200 + 1
    assert read({"jobs": [one] * (count - 1)}).is_list
    ((where, message),) = faults_in({"jobs": [one] * count})
    assert (where, message) == ("jobs", "have 2200 recipes, guests included; 2000 are allowed")


def test_jobs__very_many_faults__are_cut_short() -> None:
    faults = faults_in({"jobs": [job_document(notify=["x"] * 60)] * 5})
    assert len(faults) == MAX_FAULTS + 1
    assert faults[-1] == ("document", "and more errors")


def test_mentioned__several_jobs__are_those_of_all() -> None:
    jobs = [job_document(depends_on=[{"job": 3}]), job_document(depends_on=[{"job": -1}, {"recipe_set": 4}])]
    body = json.dumps({"jobs": jobs}).encode()
    assert mentioned_in(body, "application/json") == {("job", 3), ("recipe-set", 4)}


def limited_to(max_placed: int | None) -> Callable[[str | None], PartitionRules]:
    return lambda _: PartitionRules(max_placed=max_placed)


def test_set__larger_than_the_maximum_of_placed_recipes__is_a_fault_of_each_such_set() -> None:
    (recipe_set,) = job_document()["recipe_sets"]
    (recipe,) = recipe_set["recipes"]
    host = {**recipe, "guests": [{**recipe, "guestargs": "x"}] * 3}
    job = job_document(recipe_sets=[{"recipes": [host] * count} for count in (2, 3, 4)])
    message = "systems; the maximum of placed recipes (limits.placed_recipes) is 2"
    assert faults_in(job, rules=limited_to(2)) == [
        ("recipe_sets[1]", f"needs 3 {message}"),
        ("recipe_sets[2]", f"needs 4 {message}"),
    ]
    assert read(job, rules=limited_to(4)) == read(job) == read(job, rules=limited_to(None))
    assert [message for _, message in faults_in(job_xml(), rules=limited_to(0))] == [
        "needs 1 system; the maximum of placed recipes (limits.placed_recipes) is 0"
    ]


@pytest.mark.parametrize("partition", [{}, [], 1, True])
def test_partition__of_another_type__is_a_fault(partition: Any) -> None:
    assert [where for where, _ in faults_in(job_document(partition=partition))] == ["partition"]
