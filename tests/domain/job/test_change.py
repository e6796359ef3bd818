"""Changes of a submitted job: whiteboard, retention tag and product."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain.errors import FaultyInput
from domain.events import Event, Recorded, Stamp
from domain.job.change import change_job
from domain.job.events import JobChanged, JobSubmitted
from domain.job.retention import RetentionTag, RetentionTags
from domain.job.state import Job, folded

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SUBMITTED = JobSubmitted(
    "ada", "bob", "qa", "smoke", (3, 4), {"retention_tag": "active", "product": "Linux", "notify": []}
)


def job_of(*events: Event) -> Job:
    past = [
        Recorded(version, version, NOW, "job/1", version, event, Stamp(NOW, "ada", "request/1"))
        for version, event in enumerate(events, 1)
    ]
    job = folded(1, past)
    assert job is not None
    return job


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
