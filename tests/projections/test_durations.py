"""Tests of durations: waits, provisioning and execution, each counted once when it ends."""

from __future__ import annotations

import pytest

from domain.events import Event
from domain.job.events import JobSubmitted
from domain.recipe import events as recipe_events
from domain.recipe_set.events import RecipeSetSubmitted
from projections.durations import BOUNDS, bucket_of
from tests.domain.recipe.samples import recipe_new
from tests.projections.happened import (
    Happened,
    guest,
    host,
    of,
    queued,
    running,
    scheduled,
    submitted,
    waiting,
)
from tests.projections.projected_log import ProjectedLog
from tests.projections.timed_commits import commit_at

HOUR, DAY = 3_600, 86_400
Commits = list[tuple[float, list[Happened]]]

PLACED: Commits = [
    (0, submitted(host(1))),
    (1, queued(1)),
    (2 * HOUR, scheduled("a", 1)),
    (2 * HOUR + 30, waiting("a", 1)),
]
RUNS: Commits = [
    *PLACED,
    (3 * HOUR, of("recipe", 1, recipe_events.RecipeInstalling("a"))),
    (4 * HOUR, of("recipe", 1, recipe_events.RecipeRunning("a"))),
]
COMPLETED: Commits = [*RUNS, (20 * DAY, of("recipe", 1, recipe_events.RecipeCompleted()))]


def counted(models: ProjectedLog) -> dict[str, list[tuple[int, int, float]]]:
    """Return measure -> (bucket, count, seconds)."""
    found: dict[str, list[tuple[int, int, float]]] = {}
    for row in models.rows("durations"):
        found.setdefault(row["measure"], []).append((row["bucket"], row["count"], row["seconds"]))
    return found


def in_bucket(measure: str, *seconds: float) -> list[tuple[int, int, float]]:
    return [(bucket_of(measure, seconds[0]), len(seconds), sum(seconds))]


def test_bucket_of__bound_itself__is_inside() -> None:
    assert [bucket_of("wait", seconds) for seconds in (0, 1, 1.001, 14 * DAY, 15 * DAY)] == [0, 0, 1, 18, 19]


@pytest.mark.parametrize("measure", BOUNDS)
def test_bounds__of_a_measure__ascend(measure: str) -> None:
    assert list(BOUNDS[measure]) == sorted(set(BOUNDS[measure]))


@pytest.mark.parametrize("page", [1, 2, 99])
def test_durations__recipe_completed__each_has_one_entry(models: ProjectedLog, page: int) -> None:
    commit_at(models, COMPLETED, page)
    assert counted(models) == {
        "wait": in_bucket("wait", 2 * HOUR + 30),
        "provisioning": in_bucket("provisioning", 2 * HOUR - 30),
        "execution": in_bucket("execution", 20 * DAY - 4 * HOUR),
    }
    assert counted(models)["execution"][0][0] == len(BOUNDS["execution"]), "longer than any bound"


@pytest.mark.parametrize("page", [1, 99])
def test_wait__withdrawn_while_waiting__is_one_wait_until_the_final_placement(
    models: ProjectedLog, page: int
) -> None:
    again: Commits = [
        (3 * HOUR, queued(1, reason="a is Broken")),
        (5 * HOUR, [*scheduled("b", 1), *waiting("b", 1)]),
    ]
    commit_at(models, PLACED + again, page)
    assert counted(models) == {}
    commit_at(models, [(6 * HOUR, of("recipe", 1, recipe_events.RecipeInstalling("b")))], page)
    assert counted(models) == {"wait": in_bucket("wait", 5 * HOUR)}


# Commits, the event that ends the recipe, and the measures that are counted.
ENDED = [
    # The recipe never had a system.
    (PLACED[:2], recipe_events.RecipeCancelled("enough"), set()),
    # The system was placed for good.
    (PLACED, recipe_events.RecipeAborted("watchdog"), {"wait"}),
    # The provisioning was not finished.
    (RUNS[:-1], recipe_events.RecipeAborted("watchdog"), {"wait"}),
    (RUNS, recipe_events.RecipeAborted("watchdog"), {"wait", "provisioning", "execution"}),
    # Reserved time is no execution.
    (RUNS, recipe_events.RecipeReserved("a", 60), {"wait", "provisioning", "execution"}),
    # Preempted, without execution.
    (RUNS, recipe_events.RecipeQueued("preempted"), {"wait", "provisioning"}),
]


@pytest.mark.parametrize(("commits", "event", "measures"), ENDED)
def test_durations__recipe_ends__complete_phases_are_counted(
    models: ProjectedLog, commits: Commits, event: Event, measures: set[str]
) -> None:
    commit_at(models, [*commits, (5 * HOUR, of("recipe", 1, event))])
    assert set(counted(models)) == measures


def test_execution__kept_and_returned__is_counted_once(models: ProjectedLog) -> None:
    kept: Commits = [
        (5 * HOUR, of("recipe", 1, recipe_events.RecipeReserved("a", 60))),
        (9 * HOUR, of("recipe", 1, recipe_events.RecipeCompleted())),
    ]
    commit_at(models, RUNS + kept)
    assert counted(models)["execution"] == in_bucket("execution", HOUR)


def test_durations__guest__adds_nothing_to_those_of_its_host(models: ProjectedLog) -> None:
    both: Commits = [
        (0, [*submitted(host(1), guest(2, host_id=1)), *queued(1, 2)]),
        (60, [*scheduled("a", 1, 2), *waiting("a", 1, 2)]),
    ]
    commit_at(models, both)
    for number in (2, 1):
        moves = (
            recipe_events.RecipeInstalling("a"),
            recipe_events.RecipeRunning("a"),
            recipe_events.RecipeCompleted(),
        )
        commit_at(models, [(180, of("recipe", number, *moves))])
    assert {measure: rows[0][1] for measure, rows in counted(models).items()} == dict.fromkeys(BOUNDS, 1)


def test_durations__several_in_a_bucket__are_counted_and_summed(models: ProjectedLog) -> None:
    every = (1, 2, 3)
    hosts = [host(number) for number in every]
    commit_at(models, [(0, submitted(*hosts)), (10, [*scheduled("a", *every), *waiting("a", *every)])])
    commit_at(models, [(20, [(f"recipe/{number}", recipe_events.RecipeInstalling("a")) for number in every])])
    assert counted(models) == {"wait": in_bucket("wait", 10, 10, 10)}


def test_durations__whole_life_in_one_page__adds_to_stored_counts(models: ProjectedLog) -> None:
    """The page changes no stored row except the count."""
    for number in (1, 2):
        models.commit(*whole_life(number))
    assert [row["count"] for row in models.rows("durations")] == [2, 2, 2]


def whole_life(number: int) -> list[Happened]:
    return [
        (f"job/{number}", JobSubmitted("ada", "ada", None, "", (number,), {})),
        (f"recipe-set/{number}", RecipeSetSubmitted(number, "Normal", (number,))),
        (f"recipe/{number}", recipe_new(number)),
        *(*scheduled("a", number), *waiting("a", number), *running("a", number)),
        *of("recipe", number, recipe_events.RecipeCompleted()),
    ]
