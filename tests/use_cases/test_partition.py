"""Changes of the configuration and the job filters of the partition."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from api.use_cases.change_partition import (
    configure_partition,
    move_partition,
    put_job_filter,
    remove_job_filter,
    would_configure,
    would_put_job_filter,
)
from api.use_cases.submit_job import submit_job
from domain.admission.configuration import Configuration, LimitSection
from domain.admission.job_filters import JobFilter
from domain.directory.partition_states import DRAIN, START, STOP
from domain.directory.partitions import DEFAULT, PARTITION
from domain.errors import NotPermitted, Refused, Stale, Unknown
from domain.job.spec import RecipeSetSpec
from domain.job.submission import counts
from domain.priority import Priority
from tests.random_histories.jobs import job, named, recipe
from tests.use_cases.town import Town, as_admin, by

STRICT = Configuration(limits=LimitSection(5))
RULE = JobFilter("rule", 0, 0, None, "PAUSE")

JOB = job([RecipeSetSpec(Priority.Normal, (recipe(named("a")),))])

CHANGES: list[tuple[Callable[..., Awaitable[Any]], Any]] = [
    (configure_partition, STRICT),
    (would_configure, STRICT),
    (put_job_filter, RULE),
    (would_put_job_filter, RULE),
    (move_partition, DRAIN),
    (remove_job_filter, "rule"),
]


@pytest.mark.parametrize(("use_case", "argument"), CHANGES)
def test_change__by_anybody_but_an_admin__not_permitted(town: Town, use_case: Any, argument: Any) -> None:
    before = town.log.end()
    with pytest.raises(NotPermitted):
        town.ask(use_case, by("ada"), DEFAULT, argument)
    assert town.log.end() == before


@pytest.mark.parametrize(("use_case", "argument"), CHANGES[:5])
def test_if_match__before_the_first_change__is_version_0(town: Town, use_case: Any, argument: Any) -> None:
    with pytest.raises(Stale):
        town.ask(use_case, as_admin(expected=frozenset({1})), DEFAULT, argument)
    assert town.ask(use_case, as_admin(expected=frozenset({0})), DEFAULT, argument)


def test_configure__defaults_before_the_first_change__nothing_changes(town: Town) -> None:
    before = town.log.end()
    assert town.ask(configure_partition, as_admin(), DEFAULT, Configuration()) is None
    assert town.ask(would_configure, as_admin(), DEFAULT, Configuration()) is False
    assert town.log.end() == before


def test_change__another_rule_is_put_meanwhile__both_are_in_force(town: Town) -> None:
    """The first attempt conflicts, because all rules of the partition have one version."""
    between = town.scene.apis[1].appended.preceded(
        lambda: town.ask(put_job_filter, as_admin(), DEFAULT, RULE)
    )
    before = town.log.end()
    with between:
        assert town.ask(configure_partition, as_admin(), DEFAULT, STRICT, process=1) is not None
    assert town.since(before) == [
        (PARTITION, "partition.job-filter-put"),
        (PARTITION, "partition.configured"),
    ]
    assert set(town.document_of("partition", "default")) == {"job_filters", "configuration"}


def test_submission__partition_is_drained_meanwhile__refused(town: Town) -> None:
    """The first attempt conflicts: no job of any process follows the event that ends the intake."""
    between = town.scene.apis[1].appended.preceded(
        lambda: town.ask(move_partition, as_admin(), DEFAULT, DRAIN)
    )
    before = town.log.end()
    with between, pytest.raises(Refused, match="draining"):
        town.ask(submit_job, by("eve"), JOB, process=1)
    assert town.since(before) == [(PARTITION, "partition.state-changed")]


def test_submission__filter_is_put_after_the_ids_were_taken__the_filter_concerns_the_job(town: Town) -> None:
    """The first attempt conflicts; the second one must not use the ids, which are below the watermark."""
    ids = town.services().log.take_ids([counts(JOB)])[0]
    between = town.scene.apis[1].appended.preceded(
        lambda: town.ask(put_job_filter, as_admin(), DEFAULT, RULE)
    )
    with between:
        done = town.ask(submit_job, by("eve"), JOB, process=1, ids=ids)
    (watermark,) = (
        each["watermark"] for each in town.document_of("partition", "default")["job_filters"].values()
    )
    assert orjson.loads(done.answer or b"")["job_id"] > watermark >= ids.job


def test_submission__with_ids_that_were_taken__has_them(town: Town) -> None:
    ids = town.services().log.take_ids([counts(JOB)])[0]
    done = town.ask(submit_job, by("eve"), JOB, ids=ids)
    assert orjson.loads(done.answer or b"")["job_id"] == ids.job


def test_submission__process_has_not_read_the_start__accepted(town: Town) -> None:
    town.ask(move_partition, as_admin(), DEFAULT, DRAIN)
    town.ask(move_partition, as_admin(), DEFAULT, START)
    before = town.log.end()
    assert town.ask(submit_job, by("eve"), JOB, process=1) is not None
    assert "job.submitted" in [topic for _, topic in town.since(before)]


def test_move__process_has_not_read_the_last_one__is_made_all_the_same(town: Town) -> None:
    town.ask(move_partition, as_admin(), DEFAULT, STOP)
    assert town.ask(move_partition, as_admin(), DEFAULT, STOP, process=1) is None
    town.ask(move_partition, as_admin(), DEFAULT, START)
    assert town.ask(move_partition, as_admin(), DEFAULT, DRAIN, process=1) is not None


def test_equal_rules__put_by_two_at_once__one_event(town: Town) -> None:
    between = town.scene.apis[1].appended.preceded(
        lambda: town.ask(put_job_filter, as_admin(), DEFAULT, RULE)
    )
    before = town.log.end()
    with between:
        change, done = town.ask(put_job_filter, as_admin(), DEFAULT, RULE, process=1)
    assert (change.existed, done) == (True, None)
    assert town.since(before) == [(PARTITION, "partition.job-filter-put")]


def test_remove__twice_and_never_put__the_second_changes_nothing_and_the_third_is_unknown(town: Town) -> None:
    town.ask(put_job_filter, as_admin(), DEFAULT, RULE)
    assert town.ask(remove_job_filter, as_admin(), DEFAULT, "rule") is not None
    assert town.ask(remove_job_filter, as_admin(), DEFAULT, "rule") is None
    with pytest.raises(Unknown, match="job filter other"):
        town.ask(remove_job_filter, as_admin(), DEFAULT, "other")
