"""Open jobs, whose sets come later, and the keys of jobs and sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from domain.admission.dependencies import JOB, RECIPE_SET, Dependency
from domain.errors import Refused
from domain.events import Decided, Recorded
from domain.job.events import JobClosed, JobExtended, JobKeyUsed, JobOpened, JobSubmitted
from domain.job.spec import JobSpec
from domain.job.state import Job, close_job, folded
from domain.job.submission import Ids, counts, extend, submit
from domain.recipe_set.events import RecipeSetSubmitted
from tests.domain.job.specs import of, recipe
from tests.harness.appends import STAMP

COMPLETED = ("completed",)


def spec(*sets: Any, **fields: Any) -> JobSpec:
    document = {"recipe_sets": [{"key": each.key} if each.key else {} for each in sets]}
    if "reasons" in fields:
        document["reasons"] = list(fields["reasons"])
    return JobSpec("", "ada", "qa", "scratch", None, sets, document, **fields)


def ids(made: JobSpec, first: int) -> Ids:
    _, recipes, tasks = counts(made)
    sets = tuple(range(first, first + len(made.recipe_sets)))
    return Ids(1, sets, tuple(range(first, first + recipes)), tuple(range(first, first + tasks)))


def submitted(made: JobSpec) -> Decided:
    return submit(made, ids(made, 10), "bob", [None] * counts(made)[1], preceding_jobs=[5])


def as_job(*decided: tuple[str, Any]) -> Job:
    own = [event for subject, event in decided if subject == "job/1"]
    past = [Recorded(n, n, STAMP.at, "job/1", n, event, STAMP) for n, event in enumerate(own, start=1)]
    job = folded(1, past)
    assert job is not None
    return job


def added(job: Job, made: JobSpec) -> Decided:
    return extend(job, made, ids(made, 20), "eve", [None] * counts(made)[1])


def test_submit__open_job_with_a_key__is_opened_and_has_the_key() -> None:
    decided = submitted(spec(is_open=True, key="nightly", depends_on=(Dependency(JOB, -1, COMPLETED),)))
    assert [(subject, type(event)) for subject, event in decided] == [
        ("job/1", JobSubmitted),
        ("job/1", JobOpened),
        ("job-key/ada/nightly", JobKeyUsed),
    ]
    assert decided[1][1] == JobOpened(({"job": 5, "states": ["completed"]},))
    assert decided[2][1] == JobKeyUsed(1)


def test_extend__open_job__the_sets_have_what_the_job_has() -> None:
    first = spec(
        of(recipe()), is_open=True, depends_on=(Dependency(JOB, 5, COMPLETED),), reasons=("rate-limit:2:x",)
    )
    job = as_job(*submitted(first))
    own = (Dependency(RECIPE_SET, -1, COMPLETED), Dependency(JOB, 5, COMPLETED))
    decided = added(job, spec(of(recipe(), depends_on=own, reasons=("why",))))
    assert decided[0] == ("job/1", JobExtended((20,), {"recipe_sets": [{}]}))
    subject, event = decided[1]
    assert isinstance(event, RecipeSetSubmitted)
    assert (subject, event.job_id, event.owner, event.submitter, event.group) == (
        "recipe-set/20",
        1,
        "ada",
        "eve",
        "qa",
    )
    assert event.reasons == ("rate-limit:2:x", "why")
    # The set before it is the last one that the job had.
    assert event.depends_on == (
        {"job": 5, "states": ["completed"]},
        {"recipe_set": 10, "states": ["completed"]},
    )
    assert [subject for subject, _ in decided[2:]] == ["recipe/20"]


def test_folded__extended_job__has_all_sets_with_their_keys() -> None:
    first = submitted(spec(replace(of(recipe()), key="a"), of(recipe()), is_open=True))
    job = as_job(*first, *added(as_job(*first), spec(replace(of(recipe()), key="b"))))
    assert job.recipe_set_ids == (10, 11, 20)
    assert job.sets_by_key == {"a": 10, "b": 20}


def test_close__open_job__once_and_then_takes_no_sets() -> None:
    job = as_job(*submitted(spec(is_open=True)))
    closed = close_job(job)
    assert closed == [("job/1", JobClosed("closed"))]
    job = as_job(*submitted(spec(is_open=True)), *closed)
    assert close_job(job) == []
    with pytest.raises(Refused, match="job 1 is closed and takes no further recipe sets"):
        added(job, spec(of(recipe())))


def test_extend__job_that_was_never_open__is_refused() -> None:
    with pytest.raises(Refused, match="job 1 is closed"):
        added(as_job(*submitted(spec(of(recipe())))), spec(of(recipe())))
