"""Metrics that take longer than a scrape may: judged estimates, and counts that may be missing."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from random import Random
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from api.metrics.slow_metrics import LATER, NO_ESTIMATE, WITHIN_P90, SlowMetrics
from api.rest import judged_estimates as judging
from api.rest.judged_estimates import MAX_JUDGED, judged_estimates
from api.rest.resources.estimates import estimate_of_recipe
from api.rest.slow_metrics_computation import (
    MAX_INTERVAL_SECONDS,
    MIN_INTERVAL_SECONDS,
    SlowMetricsComputation,
    interval,
)
from api.rest.views import View
from domain.directory.state import Directory
from projections.reader import At, Reader, ReadProgress
from store.datastore import SERVICE_ROLE
from store.event_log import EventLog
from store.slow_metric_turns import SlowMetricTurns, UnplacedCount
from tests.harness.databases import TestDatabase
from tests.harness.running import Running
from tests.harness.sessions import Owner, owner_session
from tests.harness.waiting import wait_until
from tests.projections.happened import Happened, host, queued, submitted, waiting
from tests.projections.happened import scheduled as granted
from tests.projections.projected_log import ProjectedLog, projected_log
from tests.projections.timed_commits import BEGINNING, commit_at
from tests.rest.actions import in_state, recipe_for, submit
from tests.rest.jobs.explaining_processes import explainers
from workers.explaining.explainer import StillReading

EARLIER = 40


@pytest.fixture
def models(database: TestDatabase) -> Iterator[ProjectedLog]:
    with projected_log(database) as models:
        yield models


def wait_of(number: int, begin: float, seconds: float) -> list[tuple[float, list[Happened]]]:
    """Return the commits of a recipe that waits from a moment on, and then starts."""
    new = submitted(host(1)) if number == 1 else [(f"recipe/{number}", host(number))]
    return [(begin, new), (begin + seconds, [*granted("a", number), *waiting("a", number)])]


def one_after_another(models: ProjectedLog, *seconds: float) -> None:
    """Let recipes wait for these times, each while no other one waits."""
    commits = [wait_of(n, n * 1_000.0, each) for n, each in enumerate(seconds, start=1)]
    commit_at(models, [commit for of_recipe in commits for commit in of_recipe])


def with_parts(database: TestDatabase, question: Callable[[Any], Awaitable[Any]]) -> Any:
    """Return the answer of a function of the parts of reads."""

    async def answer() -> Any:
        reader = Reader(database.service_url, SERVICE_ROLE, 1, ReadProgress())
        await reader.open()
        feed = SimpleNamespace(directory=Directory(), position=10**9)
        try:
            return await question(SimpleNamespace(reader=reader, feed=feed, clock=lambda: BEGINNING))
        finally:
            await reader.close()

    return asyncio.run(answer())


def outcomes(database: TestDatabase, after: int, upto: int) -> Counter[str]:
    found: Counter[str] = with_parts(database, lambda parts: judged_estimates(parts, after, upto))
    return found


@pytest.mark.parametrize(
    ("seconds", "outcome"),
    [(60.0, WITHIN_P90), (600.0, LATER)],
    ids=["as long as the others", "ten times as long"],
)
def test_judged_estimate__wait_of_one_more_recipe__is_within_its_p90_or_later(
    models: ProjectedLog, database: TestDatabase, seconds: float, outcome: str
) -> None:
    one_after_another(models, *[60.0] * EARLIER)
    before = models.log.end()
    commit_at(models, wait_of(EARLIER + 1, 100_000.0, seconds))
    assert outcomes(database, before, models.log.end()) == {outcome: 1}


def test_judged_estimate__first_recipe__had_none(models: ProjectedLog, database: TestDatabase) -> None:
    one_after_another(models, 60.0)
    assert outcomes(database, 0, models.log.end()) == {NO_ESTIMATE: 1}
    assert outcomes(database, models.log.end(), 10**9) == {}


def test_judged_estimate__still_waits_or_was_cancelled__is_not_judged(
    models: ProjectedLog, database: TestDatabase
) -> None:
    commit_at(models, [(0.0, submitted(host(1))), (1.0, queued(1))])
    assert outcomes(database, 0, models.log.end()) == {}


def test_judged_estimates__of_a_log__are_those_that_the_api_gave_then(
    models: ProjectedLog, database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = Random(19)
    commits = [
        commit
        for number in range(1, 81)
        for commit in wait_of(number, 400.0 * number, dice.expovariate(1 / 400))
    ]
    commit_at(models, sorted(commits, key=lambda commit: commit[0]))
    monkeypatch.setattr(judging, "MAX_JUDGED", 1_000)
    rows = models.rows(
        "sampled_starts",
        partitions=[1],
        arches=[""],
        after=0,
        newest=1_000,
        sample=1_000,
    )
    assert len(rows) == 80

    async def given(parts: Any) -> Counter[str]:
        found = Counter[str]()
        for row in rows:
            at = At(row["since_position"], row["began"])
            view = View(None, at, frozenset(), True, None)  # type: ignore[arg-type]
            p90 = (await estimate_of_recipe(parts, view, row["recipe_id"]))["p90_seconds"]
            within = p90 is not None and row["seconds"] <= p90
            found[NO_ESTIMATE if p90 is None else WITHIN_P90 if within else LATER] += 1
        return found

    judged = outcomes(database, 0, models.log.end())
    assert judged == with_parts(database, given)
    assert set(judged) == {WITHIN_P90, LATER, NO_ESTIMATE}, judged


def test_judged_estimates__many_starts__are_of_a_sample(models: ProjectedLog, database: TestDatabase) -> None:
    one_after_another(models, *[60.0] * EARLIER)
    assert sum(outcomes(database, 0, models.log.end()).values()) == MAX_JUDGED


def test_turn__explaining_process_reads_the_log__estimates_are_judged_once_and_counts_stay_absent(
    models: ProjectedLog, database: TestDatabase, owner: Owner
) -> None:
    one_after_another(models, 60.0)
    commit_at(models, [(5_000.0, [("recipe/2", host(2)), *queued(2)])])
    metrics, asked = SlowMetrics(), []

    async def ask(identity: Any, about: str, **question: Any) -> Any:
        asked.append(about)
        raise StillReading("still reading")

    async def turns(parts: Any) -> None:
        parts.reader._progress.update(models.log.end(), BEGINNING, 0)
        parts.explainers = SimpleNamespace(ask=ask)
        with closing(EventLog(database.service_url)) as log:
            computation = SlowMetricsComputation(parts, metrics, SlowMetricTurns(log))
            with pytest.raises(StillReading):
                await computation.take_turn()
            # Not due yet.
            await computation.take_turn()
            owner.execute("UPDATE live.slow_metrics SET next_at = now()")
            with pytest.raises(StillReading):
                await computation.take_turn()

    with_parts(database, turns)
    assert asked == ["reason_counts"] * 2
    assert metrics.outcomes == {NO_ESTIMATE: 1}
    assert models.rows("unplaced_by_reason") == []


def test_interval__long_count__is_longer_within_bounds() -> None:
    assert interval(0.001) == MIN_INTERVAL_SECONDS
    assert interval(1.0) == 100.0
    assert interval(20.0) == MAX_INTERVAL_SECONDS


def unplaced(client: httpx.Client) -> dict[str, float]:
    """Return the samples of unplaced recipes by their labels."""
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    prefix = "labledger_unplaced_recipes{"
    lines = [line.rpartition(" ") for line in answer.text.splitlines() if line.startswith(prefix)]
    return {labels.removeprefix(prefix): float(value) for labels, _, value in lines}


BROKEN = 'priority="Normal",reason="all-broken"}'
# Without a holder, a turn that has begun stores nothing.
ENDED = "UPDATE live.slow_metrics SET holder = '', counts_until = now(), next_at = %s"
TAKEN = "SELECT next_at > now() FROM live.slow_metrics"


@pytest.fixture
def waiting_recipe(client: httpx.Client, machines: Callable[..., str]) -> Iterator[None]:
    """Let a recipe wait for a broken system."""
    job = submit(client, recipe_for(machines(condition="Broken")))
    in_state(client, job["recipe_ids"][0], "queued")
    yield
    client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "the test is over"}).raise_for_status()


@pytest.mark.usefixtures("waiting_recipe")
def test_unplaced_recipes__not_counted_lately__are_absent_until_counted_again(
    client: httpx.Client, service: Running
) -> None:
    with owner_session(service.database.owner_url) as owner:
        owner.execute(ENDED, ["infinity"])
        assert unplaced(client) == {}
        owner.execute(ENDED, ["-infinity"])
    found = wait_until(lambda: unplaced(client), "the recipes to be counted")
    assert found[BROKEN] == 1
    assert sum(found.values()) == client.get("/queue/reasons").json()["recipes"]


@pytest.mark.usefixtures("waiting_recipe")
def test_scrape__explaining_process_hangs__is_answered_without_counts(
    client: httpx.Client, service: Running
) -> None:
    client.get("/queue/reasons").raise_for_status()
    stopped = explainers(service)
    assert stopped
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        with owner_session(service.database.owner_url) as owner:
            owner.execute(ENDED, ["-infinity"])
            assert unplaced(client) == {}
            wait_until(lambda: owner.execute(TAKEN).fetchone() == (True,), "the turn to be taken")
        assert unplaced(client) == {}
        assert client.get("/healthz").status_code == 200
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    wait_until(lambda: unplaced(client), "the recipes to be counted")


def test_saved_counts__of_no_recipes__are_not_missing(models: ProjectedLog, log: EventLog) -> None:
    turns = SlowMetricTurns(log)
    assert turns.take() == 0
    turns.save_counts([], 30.0)
    assert models.rows("unplaced_by_reason") == [{"reason": None, "priority": None, "recipes": None}]
    turns.save_counts([UnplacedCount("unsafe", "High", 3)], 30.0)
    assert models.rows("unplaced_by_reason") == [{"reason": "unsafe", "priority": "High", "recipes": 3}]
