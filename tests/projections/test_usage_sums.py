"""Sums of usage, and the seconds of each state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from random import Random
from typing import Any

import orjson
import pytest

from api.rest.resources.shapes import seconds_document
from domain.directory.events import PoolRegistered, PoolSystemAdded
from domain.events import Recorded
from domain.recipe import events as recipe_events
from domain.system import events as system_events
from tests.projections.happened import (
    Happened,
    host,
    lab,
    of,
    queued,
    registered,
    scheduled,
    submitted,
    waiting,
)
from tests.projections.projected_log import ProjectedLog
from tests.projections.random_history import GROUPS, Plain, project_in_pages, write_history
from tests.projections.timed_commits import BEGINNING, commit_at

Sums = dict[tuple[str | None, str, str], float]


def sums(models: ProjectedLog, group_by: str, since: datetime, until: datetime, **at: int) -> Sums:
    rows = models.rows("system_usage", group_by=group_by, since=since, until=until, **at)
    return {(row["key"], row["condition"], row["usage"]): row["microseconds"] / 1e6 for row in rows}


def sums_of_each_system(models: ProjectedLog, until: datetime, at: int) -> Sums:
    pages = (orjson.loads(row["groups"]) for row in pages_of_each_system(models, until, at))
    return {
        (group["key"], condition, usage): seconds
        for group in chain.from_iterable(pages)
        for condition, usages in group["seconds"].items()
        for usage, seconds in usages.items()
    }


def pages_of_each_system(models: ProjectedLog, until: datetime, at: int) -> Iterator[dict[str, Any]]:
    """Yield pages of two systems."""
    page = {"number": 2, "last": ""}
    while page["number"] == 2:
        page = models.row("usage_of_each_system", until=until, at=at, after=page["last"], limit=2)
        yield page


def expected(log: Sequence[Recorded], group_by: str, since: datetime, until: datetime) -> Sums:
    """Compute the sums from event to event, with a plain fold."""
    found: Counter[tuple[str | None, str, str]] = Counter()
    plain = Plain()
    for recorded, following in zip(log, (*log[1:], None), strict=True):
        plain.apply(recorded)
        end = until if following is None else min(following.recorded_at, until)
        seconds = (end - max(recorded.recorded_at, since)) / timedelta(seconds=1)
        if seconds > 0:
            for key, condition, usage in plain.groups(group_by):
                found[key, condition, usage] += seconds  # type: ignore[assignment]
    return dict(found)


@pytest.mark.parametrize("seed", range(3))
def test_usage_sums__random_history__equal_a_plain_fold_between_any_two_moments(
    models: ProjectedLog, seed: int
) -> None:
    dice = Random(seed)
    write_history(models, dice)
    log = list(models.unread())
    project_in_pages(models, log, dice)
    commits = [recorded for recorded in log if recorded.position == recorded.commit_end]
    moments = [recorded.recorded_at for recorded in commits] + [BEGINNING, datetime.now(UTC)]
    for _ in range(40):
        last = dice.choice(commits)
        since, until = sorted(dice.choices(moments, k=2))
        group_by = dice.choice(GROUPS)
        # As of a position, later events do not count.
        until = min(until, last.recorded_at)
        events = [recorded for recorded in log if recorded.position <= last.position]
        found = sums(models, group_by, since, until, at=last.position)
        assert found == pytest.approx(expected(events, group_by, since, until), abs=1e-6)
        each = sums_of_each_system(models, until, at=last.position)
        assert each == pytest.approx(expected(events, "system", BEGINNING, until), abs=1e-6)


@pytest.mark.parametrize("group_by", ["system", "lab_controller"])
def test_usage_sums__all_groups_together__systems_times_the_length_of_the_interval(
    models: ProjectedLog, group_by: str
) -> None:
    dice = Random(7)
    write_history(models, dice)
    log = list(models.unread())
    project_in_pages(models, log, dice)
    arrived = sorted(
        recorded.recorded_at for recorded in log if isinstance(recorded.event, system_events.SystemRegistered)
    )
    since, until = arrived[2], log[-1].recorded_at
    there = sum((until - max(since, moment)) / timedelta(seconds=1) for moment in arrived)
    assert sum(sums(models, group_by, since, until).values()) == pytest.approx(there, abs=1e-6)


def test_usage_sums__system_moves_to_another_lab__each_has_its_part(models: ProjectedLog) -> None:
    models.commit(lab("lab-1"), lab("lab-2"), registered("a"))
    models.commit(*of("system", "a", system_events.SystemLabControllerChanged("lab-2")))
    models.commit(*of("system", "a", system_events.SystemPending()))
    arrived, moved, ended = (recorded.recorded_at for recorded in events_about(models, "system/a"))
    assert sums(models, "lab_controller", arrived, ended) == pytest.approx(
        {
            ("lab-1", "Automated", "idle"): (moved - arrived) / timedelta(seconds=1),
            ("lab-2", "Automated", "idle"): (ended - moved) / timedelta(seconds=1),
        }
    )


def test_usage_sums__in_two_pools_and_in_none__counts_in_both_and_under_null(models: ProjectedLog) -> None:
    models.commit(lab(), registered("a"), registered("b"))
    for pool in ("big", "small"):
        models.commit(*of("pool", pool, PoolRegistered(None), PoolSystemAdded("a")))
    since = events_about(models, "pool/small")[-1].recorded_at
    found = sums(models, "pool", since, since + timedelta(seconds=10))
    assert found == {(key, "Automated", "idle"): 10 for key in ("big", "small", None)}
    assert list(found)[-1][0] is None, "systems without a pool come last"


def test_usage_sums__intervals_that_end_after_the_position__are_open(models: ProjectedLog) -> None:
    (*_, at) = models.commit(lab(), registered("a"))
    (since,) = {recorded.recorded_at for recorded in events_about(models, "system/a")}
    models.commit(*of("system", "a", system_events.SystemPending(), system_events.SystemOwnerChanged("bob")))
    found = sums(models, "system", since, since + timedelta(seconds=10), at=at)
    assert found == {("a", "Automated", "idle"): 10}


def events_about(models: ProjectedLog, subject: str) -> list[Recorded]:
    return models.log.load({subject: 0})[subject]


# Recipe 1 loses its system once and keeps the second one; recipe 2 is never placed.
STORY: list[tuple[float, list[Happened]]] = [
    (0, submitted(host(1), host(2))),
    (1, queued(1, 2)),
    (10, scheduled("a", 1)),
    (12, waiting("a", 1)),
    (17, queued(1, reason="a is Broken")),
    (20, [*scheduled("b", 1), *waiting("b", 1)]),
    (30, of("recipe", 1, recipe_events.RecipeInstalling("b"))),
    (50, of("recipe", 1, recipe_events.RecipeRunning("b"))),
    (80, of("recipe", 1, recipe_events.RecipeReserved("b", 60))),
    (99, of("recipe", 1, recipe_events.RecipeCompleted())),
]


@pytest.fixture
def whole_story(models: ProjectedLog) -> ProjectedLog:
    commit_at(models, STORY)
    return models


def spent(models: ProjectedLog, at: int, seconds: float, **of: int) -> dict[str, object]:
    """Return the seconds by state and phase, as of a position and a time."""
    asked = {"job_id": None, "recipe_set_id": None, "recipe_id": None, **of}
    moment = BEGINNING + timedelta(seconds=seconds)
    return seconds_document(models.rows("seconds_in_states", at=at, moment=moment, **asked))


def end_of(models: ProjectedLog, commits: int) -> int:
    """Return the position after that many commits of the story."""
    return sum(len(events) for _, events in STORY[:commits])


def test_seconds__recipe_through_all_states__each_apart_and_the_phases(whole_story: ProjectedLog) -> None:
    unplaced = {"new": 1, "queued": 9 + 3, "scheduled": 2}
    placed = {"waiting": 5 + 10, "installing": 20, "running": 30, "reserved": 19}
    phases = {"queueing": 15, "locking": 0, "provisioning": 35, "execution": 30, "reserved": 19}
    found = spent(whole_story, whole_story.log.end(), 500, recipe_id=1)
    assert found == {"by_state": unplaced | placed, **phases}


def test_seconds__as_of_the_middle__open_states_last_until_then(whole_story: ProjectedLog) -> None:
    phases = {"queueing": 11.5, "locking": 0, "provisioning": 0, "execution": 0, "reserved": 0}
    found = spent(whole_story, end_of(whole_story, 3), 11.5, recipe_id=1)
    assert found == {"by_state": {"new": 1, "queued": 9, "scheduled": 1.5}, **phases}


def test_seconds__of_a_job_or_set__those_of_its_recipes_together(whole_story: ProjectedLog) -> None:
    end = whole_story.log.end()
    found = spent(whole_story, end, 500, job_id=1)
    assert found == spent(whole_story, end, 500, recipe_set_id=1)
    assert (found["queueing"], found["execution"]) == (15 + 500, 30)


def test_seconds__now__an_open_state_counts_up_to_the_clock(models: ProjectedLog) -> None:
    models.commit(*submitted(host(1)))
    asked = {"job_id": None, "recipe_set_id": None, "recipe_id": 1, "moment": None}
    first, second = (models.row("seconds_in_states", **asked)["seconds"] for _ in range(2))
    assert 0 <= first < second < 60
