"""Quotas of users: they hold in every process of the API, also in one that has just started."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta
from typing import Any

import orjson
import pytest

from api.quotas import QuotaLimits, Quotas
from api.use_cases.change_job import cancel_job, change_job
from api.use_cases.log_in import log_in
from api.use_cases.passwords import set_password
from api.use_cases.submit_job import submit_job
from api.use_cases.tokens import create_token, revoke_token
from domain.errors import Refused, TooOften
from domain.job.spec import JobSpec, RecipeSetSpec
from domain.priority import Priority
from store.quota_counts import daily_log_usage, unfinished_count
from store.requests import Committed
from tests.harness.appends import append_to
from tests.random_histories.jobs import job, named, recipe
from tests.use_cases.town import LAB, Town, as_admin, by

EVE = by("eve", has_quota=True)
LONG_AGO = date(2000, 1, 1)


def of(recipe_count: int) -> JobSpec:
    sets = [RecipeSetSpec(Priority.Normal, (recipe(named("a")),)) for _ in range(recipe_count)]
    return job(sets)


@pytest.fixture
def limited(town: Town) -> Iterator[Town]:
    """Run two processes with small quotas and without cached counts."""
    for process in town.scene.apis:
        process.services.quotas.limits = QuotaLimits(100_000, 5, 3)
    yield town
    for process in town.scene.apis:
        process.services.quotas.limits = QuotaLimits()


def submitted(town: Town, count: int, process: int = 0) -> int:
    done = town.ask(submit_job, EVE, of(count), process=process)
    return int(orjson.loads(done.answer or b"")["job_id"])


def test_recipes__more_than_the_quota_in_all_processes__refused_until_some_end(limited: Town) -> None:
    job_id = submitted(limited, 3)
    # The other process has appended nothing for her before.
    with pytest.raises(
        Refused, match=r"eve has 3 unfinished recipes and the job has 3, the quota is 5; submit again"
    ):
        submitted(limited, 3, process=1)
    assert unfinished_count(limited.log, "eve") == 3
    submitted(limited, 2, process=1)
    # The first process has a cached count of three until its next commit.
    last_id = submitted(limited, 1)
    for process in (0, 1):
        with pytest.raises(Refused, match="eve has 6 unfinished recipes and the job has 1, the quota is 5"):
            submitted(limited, 1, process=process)
    assert isinstance(limited.ask(submit_job, by("bob", has_quota=True), of(5)), Committed)
    for ended_id in (job_id, last_id):
        limited.ask(cancel_job, EVE, ended_id, "enough", process=1)
    # The first process has a cached count of six, and reads the present count before it refuses.
    assert submitted(limited, 3)
    assert unfinished_count(limited.log, "eve") == 5


def test_recipes__many_jobs_at_once__never_more_than_the_quota(limited: Town) -> None:
    submitted(limited, 1)

    async def all_at_once(*given: Any) -> list[Committed | BaseException]:
        return await asyncio.gather(*[submit_job(*given) for _ in range(9)], return_exceptions=True)

    outcomes = limited.ask(all_at_once, EVE, of(1))
    refused = [str(outcome) for outcome in outcomes if isinstance(outcome, Refused)]
    assert len(refused) == 5 and sum(isinstance(outcome, Committed) for outcome in outcomes) == 4
    assert "more are being submitted and the job has 1, the quota is 5" in refused[0]
    assert unfinished_count(limited.log, "eve") == 5


def test_recipes__of_a_job_that_another_quota_refuses__are_free_again(limited: Town) -> None:
    submitted(limited, 1)
    quotas = limited.scene.apis[0].services.quotas
    for log_bytes in (1, 0):
        quotas.limits = QuotaLimits(log_bytes, unfinished_recipes=5)
        with pytest.raises(TooOften) if log_bytes else nullcontext():
            submitted(limited, 4)
    assert unfinished_count(limited.log, "eve") == 5


def test_recipes__submitted_by_an_admin__are_counted_and_not_refused(limited: Town) -> None:
    limited.ask(submit_job, as_admin(), of(9))
    assert unfinished_count(limited.log, "root") == 9


def test_log_bytes__quota_written__no_more_in_any_process_until_the_day_is_over(limited: Town) -> None:
    for process in limited.scene.apis:
        process.services.quotas.limits = QuotaLimits(log_bytes_per_day=20_000)
    large, job_id = of(100), submitted(limited, 1, process=1)
    limited.ask(submit_job, EVE, large)
    with pytest.raises(
        TooOften, match=r"eve has written [0-9,]+ bytes of log today, the quota is 20,000 b"
    ) as r:
        limited.ask(submit_job, EVE, large)
    assert 0 < r.value.retry_after_seconds <= timedelta(days=1).total_seconds()
    # The other process learns the count with her next commit.
    submitted(limited, 1, process=1)
    with pytest.raises(TooOften):
        limited.ask(change_job, EVE, job_id, {"whiteboard": "fire"}, process=1)
    # Requests that end something have no quota.
    assert limited.ask(cancel_job, by("eve"), job_id, "enough", process=1)
    assert limited.ask(submit_job, by("bob", has_quota=True), of(1), process=1)


def test_log_bytes__next_day__free_again() -> None:
    now = 0.0
    quotas = Quotas(QuotaLimits(log_bytes_per_day=10), lambda: now)
    _write(quotas, 10)
    with pytest.raises(TooOften) as refused:
        quotas.require_log_bytes("tester")
    assert refused.value.retry_after_seconds == 60
    now = 60.0
    quotas.require_log_bytes("tester")
    _write(quotas, 9, day=2)
    quotas.require_log_bytes("tester")


def _write(quotas: Quotas, size_bytes: int, day: int = 1) -> None:
    at = datetime(2026, 1, day, 23, 59, tzinfo=UTC)
    quotas.store_counts(append_to("a"), Committed(1, 1, at, False, None, None, author_bytes=size_bytes))


def test_written__by_actor__adds_up_to_the_log(limited: Town) -> None:
    submitted(limited, 2)
    limited.ask(submit_job, by("bob"), of(1), process=1)
    limited.scene.scheduler.begin()
    limited.scene.scheduler.settle()
    limited.scene.scheduler.die()
    found = daily_log_usage(limited.log, LONG_AGO, 100)
    ((events, size),) = limited.log.rows(b"SELECT count(*), sum(length(state)) FROM log.events", ())
    assert (sum(one.events for one in found), sum(one.bytes for one in found)) == (events, size)
    assert {one.actor for one in found} == {"admin", "eve", "bob", "scheduler"}
    (alone,) = daily_log_usage(limited.log, LONG_AGO, 100, "bob")
    assert alone.events == 3


def test_tokens__as_many_as_the_quota__no_more_until_one_ends(limited: Town) -> None:
    limited.ask(set_password, as_admin(), "eve", "correct horse")
    end = limited.services().clock() + timedelta(hours=1)
    made = [limited.ask(create_token, EVE, "eve", "submitter", None, end)[1] for _ in range(3)]
    limited.scene.apis[1].catch_up()
    for process in (0, 1):
        with pytest.raises(
            Refused, match=r"eve has 3 live tokens, the quota is 3; a new one is possible at 2026-01-01T01:0"
        ):
            limited.ask(create_token, EVE, "eve", "submitter", None, end, process=process)

    def logs_in(services: object, _: object) -> object:
        return log_in(services, "test", "eve", "correct horse")  # type: ignore[arg-type]

    with pytest.raises(Refused, match="3 live tokens"):
        limited.scene.api.ask(logs_in)  # type: ignore[arg-type]
    limited.ask(revoke_token, EVE, made[0])
    assert limited.scene.api.ask(logs_in)  # type: ignore[arg-type]


def test_tokens__of_lab_controllers__do_not_count(limited: Town) -> None:
    for _ in range(9):
        limited.ask(create_token, as_admin(), "eve", "lab-controller", LAB)
    assert limited.ask(create_token, as_admin(), "eve", "submitter", None)
