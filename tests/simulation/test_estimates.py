"""Estimates on logs of the simulated lab: nine of ten recipes start within the p90 that they were given."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from api.rest.resources.estimates import estimate_of_recipe
from api.rest.views import View
from domain.events import Recorded
from domain.partition_numbers import DEFAULT_PARTITION
from projections.projector import Projector
from projections.reader import At, Reader, ReadProgress
from replay.simulated_lab.behaviour import Behaviour
from replay.workload.generated_lab import generate_lab
from store.datastore import SERVICE_ROLE, connect
from tests.harness.databases import TestDatabase
from tests.harness.pool import ServerPool
from tests.simulation.checks.final_state import pages
from tests.simulation.people.seed_scene import SeedScene
from tests.simulation.seed import SeedOptions, run

LABS, SYSTEMS, HOURS = 2, 16, 24.0
# Lengths of wait at which a recipe that still waits gets an estimate.
AGES = (0, 60, 600, 3_600, 4 * 3_600)
RECIPES_OF_A_LOG = 200


class Given(NamedTuple):
    """The p90 that a recipe got, and the time until it started, or ended later without a start."""

    p90_seconds: float
    left_seconds: float


def lab_at_work(seed: int, jobs_per_hour: float) -> SeedScene:
    """Return a lab without outages, with some failing machines, and with people who cancel."""
    return SeedScene(
        lab=generate_lab(seed, LABS, SYSTEMS),
        partitions=(DEFAULT_PARTITION,),
        behaviour=Behaviour(seed=seed, fail_percent=3, break_percent=1, max_results=1),
        hours=HOURS,
        submitters=3,
        jobs_per_hour=jobs_per_hour,
        acts_per_hour=0.5,
        says_per_hour=0.0,
        with_policies=False,
        contended=False,
        keeps_open=False,
        moves_per_hour=0.0,
        faults_per_hour=0.0,
        pace=1.0,
    )


@pytest.mark.soak
def test_estimates__of_the_simulated_lab__nine_of_ten_start_within_their_p90(
    servers: ServerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The events are not on a log of the database, from which the sums of hours take the times of commits.
    monkeypatch.setattr(Projector, "_close_hours", lambda *_: None)
    # From half idle to always busy.
    given = []
    for seed, jobs_per_hour in ((1, 9.0), (2, 12.0), (3, 15.0)):
        log = run(SeedOptions(seed, HOURS), lab_at_work(seed, jobs_per_hour)).commit_checks.log
        with servers.databases("embedded").fresh() as database:
            given += estimates_in(database, log, Random(seed))
    within = sum(each.left_seconds <= each.p90_seconds for each in given)
    share = within / len(given)
    print(f"{within} of {len(given)} started within their p90: {share:.1%}")
    assert len(given) > 500
    assert 0.85 <= share <= 0.95


def estimates_in(database: TestDatabase, log: Sequence[Recorded], dice: Random) -> list[Given]:
    """Return the estimates that recipes of a log got while they waited, after the first fifth of the log."""
    with connect(database.service_url) as connection:
        projector = Projector(connection)
        for page in pages(log):
            projector.project(page)
        waits = connection.execute(WAITS).fetchall()
    settled = log[len(log) // 5].recorded_at
    waits = [wait for wait in waits if wait[1] >= settled]
    chosen = dice.sample(waits, min(RECIPES_OF_A_LOG, len(waits)))
    return asyncio.run(_estimates(database, log, chosen))


# The wait of each recipe, and whether it ended with a start.
WAITS = b"""
SELECT w.recipe_id, w.began, max(w.until), bool_or(r.state NOT IN ('completed', 'cancelled', 'aborted'))
FROM read.waits w
LEFT JOIN read.recipes r ON r.recipe_id = w.recipe_id AND r.since_position = w.until_position
GROUP BY w.recipe_id, w.began HAVING max(w.until) < 'infinity' ORDER BY w.recipe_id, w.began
"""


async def _estimates(database: TestDatabase, log: Sequence[Recorded], waits: Sequence[Any]) -> list[Given]:
    reader = Reader(database.service_url, SERVICE_ROLE, 1, ReadProgress())
    await reader.open()
    parts: Any = SimpleNamespace(reader=reader)
    found: list[Given] = []
    try:
        for recipe_id, began, ended, started in waits:
            for at in _moments(began, ended, log):
                view = View(None, at, frozenset(), True, at.moment)  # type: ignore[arg-type]
                answer = await estimate_of_recipe(parts, view, recipe_id)
                assert at.moment is not None
                left = (ended - at.moment).total_seconds()
                if answer["p90_seconds"] is None or (not started and left < answer["p90_seconds"]):
                    continue
                found.append(Given(answer["p90_seconds"], left))
    finally:
        await reader.close()
    return found


def _moments(began: datetime, ended: datetime, log: Sequence[Recorded]) -> Iterator[At]:
    """Yield the moments at which a recipe has waited for one of the ages."""
    for seconds in AGES:
        moment = began + timedelta(seconds=seconds)
        if moment < ended:
            last = log[bisect_right(log, moment, key=lambda recorded: recorded.recorded_at) - 1]
            yield At(last.commit_end, moment)
