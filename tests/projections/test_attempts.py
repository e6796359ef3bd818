"""Read models of recipes that begin another attempt after their set was preempted."""

from __future__ import annotations

import pytest

from domain.job.events import JobExtended
from domain.recipe import events as recipe_events
from domain.recipe_set.events import RecipeSetSubmitted
from domain.system import events as system_events
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections.copies import copies
from tests.projections.happened import (
    LAB,
    Happened,
    host,
    lab,
    of,
    placed,
    queued,
    registered,
    started,
    submitted,
)
from tests.projections.projected_log import ProjectedLog
from tests.workers.read_models import forget

SECOND = [
    *of("recipe-set", 2, RecipeSetSubmitted(1, "Normal", (2,))),
    *of("recipe", 2, host(2, recipe_set_id=2)),
]
PREEMPTED = recipe_events.RecipeQueued("preempted by recipe set 7", preempted_by=7)


def failed(number: int, fqdn: str) -> list[Happened]:
    """Return the events of a recipe that starts, and whose task fails."""
    task = of("recipe", number, recipe_events.TaskStarted(10 * number + 1), result(number, "Fail"))
    return [*started(fqdn, number), *task]


def result(number: int, kind: str) -> recipe_events.TaskResult:
    return recipe_events.TaskResult(10 * number + 1, kind, "", None, ())


@pytest.fixture
def runs(models: ProjectedLog) -> ProjectedLog:
    """Run recipe 1 of set 1 and recipe 2 of set 2; a task of each has failed."""
    models.commit(lab(), registered("a"), registered("b"), *submitted(host(1)))
    models.commit(*SECOND, *queued(1, 2))
    models.commit(*failed(1, "a"))
    models.commit(*failed(2, "b"))
    return models


def preempt(models: ProjectedLog, number: int, fqdn: str) -> range:
    return models.commit(*of("recipe", number, PREEMPTED), *of("system", fqdn, system_events.SystemPending()))


def test_preempted__started_recipe__begins_its_next_attempt_with_new_tasks(runs: ProjectedLog) -> None:
    before = preempt(runs, 1, "a")[0] - 1
    shown = runs.recipe(1)
    assert (shown["attempt"], shown["state"], shown["reason"]) == (2, "queued", PREEMPTED.reason)
    (task,) = runs.rows("tasks", recipe_id=1, bad_results=[])
    assert (task["state"], task["result"]) == ("new", "New")
    (then,) = runs.rows("tasks", recipe_id=1, bad_results=[], at=before)
    assert (runs.recipe(1, at=before)["attempt"], then["result"]) == (1, "Fail")


@pytest.mark.parametrize("restarts", [False, True])
def test_preempted__results__stay_under_their_attempt_and_count_for_nothing(
    runs: ProjectedLog, restarts: bool
) -> None:
    runs.commit(*of("recipe", 2, result(2, "Panic")))
    preempt(runs, 1, "a")
    assert results(runs) == ("New", "Panic", "Panic")
    if restarts:
        runs.begin_again()
    preempt(runs, 2, "b")
    assert results(runs) == ("New", "New", "New")
    runs.commit(*failed(1, "a"))
    assert [row["attempt"] for row in runs.rows("results", recipe_id=1, job_id=None)] == [1, 2]
    assert results(runs) == ("Fail", "New", "Fail")


def test_preempted__pages_that_begin_anywhere__give_the_rows_of_single_commits(
    models: ProjectedLog, database: TestDatabase
) -> None:
    """A recipe may be preempted on the page on which it is submitted, also as one of an added set."""
    models.commit(lab(), registered("a"), registered("b"), *submitted(host(1)), *queued(1))
    models.commit(*failed(1, "a"))
    models.commit(*of("job", 1, JobExtended((2,), {"recipe_sets": [{"recipes": []}]})), *SECOND, *queued(2))
    models.commit(*failed(2, "b"))
    preempt(models, 2, "b")
    preempt(models, 1, "a")
    with owner_session(database.owner_url) as owner:
        single = copies(owner)
        forget(owner)
        models.begin_again()
        log = list(models.unread())
        for begin in dict.fromkeys(each.commit_end for each in log):
            forget(owner)
            models.begin_again()
            models.project([each for each in log if each.commit_end <= begin])
            models.begin_again()
            if rest := models.unread():
                models.project(rest)
            assert copies(owner) == single


def results(models: ProjectedLog) -> tuple[str, str, str]:
    """Return the results of both sets and of their job."""
    sets = [models.row("recipe_set", recipe_set_id=number)["result"] for number in (1, 2)]
    return *sets, models.row("job", job_id=1)["result"]


def test_preempted__commands__name_the_attempt_that_they_are_about(runs: ProjectedLog) -> None:
    preempt(runs, 1, "a")
    runs.begin_again()
    runs.commit(*failed(1, "a"))
    shown = [(one["kind"], one["recipe_id"], one["attempt"]) for one in runs.commands(LAB)]
    assert shown == [("provision", 1, 1), ("provision", 2, 1), ("release", 1, 1), ("provision", 1, 2)]


def test_preempted__before_the_start__stays_at_its_attempt(models: ProjectedLog) -> None:
    models.commit(lab(), registered("a"), *submitted(host(1)), *queued(1))
    models.commit(*placed("a", 1))
    preempt(models, 1, "a")
    assert models.recipe(1)["attempt"] == 1


def test_occupied__stop__names_the_attempt_that_the_lab_controller_said(runs: ProjectedLog) -> None:
    runs.commit(*of("system", "a", system_events.SystemOccupied("recipe 2 runs there, but has b", 2, 3)))
    command = runs.commands(LAB)[-1]
    assert (command["kind"], command["recipe_id"], command["attempt"]) == ("stop", 2, 3)
