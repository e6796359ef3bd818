"""Read models of waits: their rows, the waits that an estimate compares, and histograms."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from domain.directory.events import PoolSystemAdded
from domain.partition_numbers import DEFAULT_NUMBER
from domain.recipe import events as recipe_events
from domain.recipe_set.events import RecipeSetPriorityChanged
from projections.durations import BOUNDS
from projections.sql import QUERIES
from tests.harness.databases import TestDatabase
from tests.harness.sessions import owner_session
from tests.projections.happened import (
    guest,
    host,
    lab,
    locked,
    of,
    queued,
    registered,
    scheduled,
    submitted,
    waiting,
)
from tests.projections.projected_log import ProjectedLog
from tests.projections.query_cost import rows_read, scans_of
from tests.projections.timed_commits import BEGINNING, commit_at

ARM = '{"element":"arch","op":"==","value":"aarch64"}'
HIGH, NORMAL = 4, 3


def rows(models: ProjectedLog) -> list[tuple[Any, ...]]:
    """Return recipe, priority, architecture, recipes ahead, and whether the row is open."""
    found = models._connection.execute(
        b"SELECT recipe_id, priority, arch, ahead, until_position = 9223372036854775807"
        b" FROM read.waits ORDER BY recipe_id, since_position"
    )
    return found.fetchall()


def test_waits__recipes_of_two_architectures__are_ahead_of_their_own_kind(models: ProjectedLog) -> None:
    arm = replace(host(3), host_requires=ARM)
    models.commit(*submitted(host(1), host(2), arm, guest(4, host_id=1)))
    assert rows(models) == [
        (1, NORMAL, "", 0, True),
        (2, NORMAL, "", 1, True),
        (3, NORMAL, "aarch64", 0, True),
    ]


def test_wait__its_locks_come_later__ends_with_them(models: ProjectedLog) -> None:
    models.commit(*submitted(host(1)), *queued(1), *scheduled("a", 1))
    models.commit(*waiting("a", 1, locks=None))
    assert rows(models) == [(1, NORMAL, "", 0, True)]
    models.commit(locked(1))
    assert rows(models) == [(1, NORMAL, "", 0, False)]


def test_wait__cancelled__has_ended_and_is_not_ahead(models: ProjectedLog) -> None:
    models.commit(*submitted(host(1), host(2)))
    models.commit(*of("recipe", 1, recipe_events.RecipeCancelled("enough")))
    assert [row[4] for row in rows(models)] == [False, True]
    (row,) = models.rows("waiting_ahead", partitions=[DEFAULT_NUMBER], arches=[""], priorities=[NORMAL])
    assert row["ahead"] == 1


def test_wait__priority_changes__goes_on_in_another_row(models: ProjectedLog) -> None:
    models.commit(*submitted(host(1), host(2)))
    # Another projector counts the waiting recipes from the table.
    models.begin_again()
    models.commit(*of("recipe-set", 1, RecipeSetPriorityChanged("High")))
    assert rows(models) == [
        *((1, NORMAL, "", 0, False), (1, HIGH, "", 0, True)),
        *((2, NORMAL, "", 1, False), (2, HIGH, "", 1, True)),
    ]


def test_wait__requirement_changes__goes_on_in_another_row(models: ProjectedLog) -> None:
    models.commit(*submitted(host(1)))
    tasks = host(1).tasks
    for requirement in (ARM, ARM):
        changed = recipe_events.RecipeChanged(requirement, "", 1, None, tasks, {})
        models.commit(*of("recipe", 1, changed))
    assert rows(models) == [(1, NORMAL, "", 0, False), (1, NORMAL, "aarch64", 0, True)]


def test_wait__preempted__begins_again(models: ProjectedLog) -> None:
    models.commit(*submitted(host(1)), *scheduled("a", 1), *waiting("a", 1))
    models.begin_again()
    preempted = models.commit(*of("recipe", 1, recipe_events.RecipeQueued("preempted", preempted_by=7)))
    assert rows(models) == [(1, NORMAL, "", 0, False), (1, NORMAL, "", 0, True)]
    began = models.row("wait_of_recipe", recipe_id=1)["began"]
    assert began == models.recipe(1, at=preempted[-1])["since"]


def started_at(models: ProjectedLog, *seconds: float) -> None:
    """Start one recipe after each number of seconds; they are numbered from 1, one more recipe waits."""
    recipes = [host(number) for number in range(1, len(seconds) + 2)]
    starts = enumerate(seconds, start=1)
    commit_at(
        models,
        [
            (0.0, [lab(), registered("a"), *submitted(*recipes)]),
            *((second, [*scheduled("a", number), *waiting("a", number)]) for number, second in starts),
        ],
    )


KIND: dict[str, Any] = {
    "moment": BEGINNING + timedelta(seconds=1_000),
    "partitions": [DEFAULT_NUMBER],
    "requirements": [None],
    "arches": [""],
    "priorities": [NORMAL],
    "recipe_id": None,
    "limit": 100,
}


def compared(models: ProjectedLog, **params: Any) -> list[dict[str, Any]]:
    return models.rows("comparable_waits", **{**KIND, **params})


def test_comparable_waits__started_and_waiting__per_place(models: ProjectedLog) -> None:
    started_at(models, 30.0, 400.0)
    found = [(row["begin"], row["end"], row["outcome"], row["recipes"]) for row in compared(models)]
    # The places of the recipes are 1, 2 and 3.
    assert found == [(0, 30, "started", 1), (0, 200, "started", 1), (0, 1_000 / 3, "waits", 1)]
    assert compared(models, recipe_id=3) == compared(models)[:2]
    assert compared(models, priorities=[HIGH]) == compared(models, arches=["aarch64"]) == []


def test_comparable_waits__as_of_the_past__are_those_of_then(models: ProjectedLog) -> None:
    started_at(models, 30.0, 400.0)
    before = models.rows("wait_of_recipe", recipe_id=2)[0]
    assert (before["began"], before["state"]) == (None, "waiting")
    then = compared(models, at=ended(models, 2) - 1, moment=BEGINNING + timedelta(seconds=390))
    assert [row["outcome"] for row in then] == ["started", "waits", "waits"]


def test_comparable_waits__more_than_the_limit__count_from_the_first_one(
    models: ProjectedLog,
) -> None:
    started_at(models, 30.0, 400.0, 500.0)
    found = compared(models, limit=2)
    assert [(row["begin"], row["end"], row["outcome"]) for row in found] == [
        (pytest.approx(400 / 3), pytest.approx(500 / 3), "started"),
        (pytest.approx(400 / 4), pytest.approx(1_000 / 4), "waits"),
    ]
    assert {row["since"] for row in found} == {BEGINNING + timedelta(seconds=400)}


def test_comparable_waits__many_of_one_length__are_one_group(models: ProjectedLog) -> None:
    models.commit(*submitted(*(host(number) for number in range(1, 41))))
    found = compared(models)
    assert sum(row["recipes"] for row in found) == 40
    # Their places differ, but by less and less.
    assert len(found) < 35


def ended(models: ProjectedLog, recipe_id: int) -> int:
    """Return the position at which the wait of a recipe ended."""
    found = models._connection.execute(
        b"SELECT max(until_position) FROM read.waits WHERE recipe_id = %s", (recipe_id,)
    )
    (position,) = found.fetchone() or (0,)
    return int(position)


def recorded(models: ProjectedLog, recipe_id: int) -> datetime:
    """Return the time at which the log recorded the end of the wait of a recipe."""
    page, _ = models.log.select(ended(models, recipe_id) - 1, ended(models, recipe_id), 1)
    return page[0].recorded_at


def histogram(models: ProjectedLog, by: str, **params: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "since": BEGINNING,
        "until": BEGINNING + timedelta(days=10_000),
        "partitions": [DEFAULT_NUMBER],
        "arches": [""],
        "bounds": list(BOUNDS["wait"]),
        "minus_recipes": -(2**63),
        "key": "",
        "limit": 100,
    }
    found = models.rows("waits_by", by=by, **{**asked, **params})
    columns = "recipes", "seconds", "p50", "p90", "buckets"
    return {row["key"]: tuple(row[column] for column in columns) for row in found}


def test_waits_by__priority__counts_sums_and_buckets(models: ProjectedLog) -> None:
    started_at(models, 30.0, 400.0, 500.0)
    # 30 s is the inclusive bound of bucket 3; 400 s and 500 s are below 600 s.
    every = {"3": (3, 930.0, 400.0, 500.0, {"3": 1, "7": 2})}
    assert histogram(models, "priority") == every
    second = recorded(models, 2)
    assert histogram(models, "priority", until=recorded(models, 3)) == {
        "3": (2, 430.0, 30.0, 400.0, {"3": 1, "7": 1})
    }
    assert histogram(models, "priority", since=second)["3"][0] == 2
    assert histogram(models, "priority", at=ended(models, 2))["3"][0] == 2
    assert histogram(models, "priority", partitions=[2]) == {}
    assert histogram(models, "group") == {"": every["3"]}


def test_waits_by__pool__of_the_system_at_the_start(models: ProjectedLog) -> None:
    started_at(models, 30.0)
    commit_at(
        models,
        [
            (50.0, of("pool", "big", PoolSystemAdded("a"))),
            (60.0, [*scheduled("a", 2), *waiting("a", 2)]),
        ],
    )
    assert {key: row[0] for key, row in histogram(models, "pool").items()} == {"": 1, "big": 1}
    assert histogram(models, "pool", hidden=["a"]) == {}


MANY = """
INSERT INTO read.waits
SELECT n, 1, 1 + n % 5, 'r' || n % 300, CASE n % 10 WHEN 0 THEN 'aarch64' ELSE 'x86_64' END, NULL,
       now() - interval '1 s' * (200000 - n), n / 5, n, now() - interval '1 s' * (200000 - n),
       CASE WHEN n > 100000 THEN 9223372036854775807 ELSE 200000 + n END,
       CASE WHEN n > 100000 THEN 'infinity' ELSE now() - interval '1 s' * (100000 - n) END
FROM generate_series(1, 200000) AS n
"""


def test_comparable_waits__long_queue_and_history__rows_are_found_by_index(
    models: ProjectedLog, database: TestDatabase
) -> None:
    with owner_session(database.owner_url) as owner:
        owner.execute(MANY.encode())
        owner.execute(b"ANALYZE read.waits")
    query = QUERIES["comparable_waits"]
    for kind, max_rows in (({"requirements": ["r7"]}, 1_500), ({"arches": ["aarch64"]}, 25_000)):
        asked = {**KIND, "at": 10**6, "arches": [None], "priorities": [None], "limit": 1_000, **kind}
        cursor = models._connection.execute(b"EXPLAIN (ANALYZE, TIMING off, FORMAT json) " + query, asked)
        of_waits = scans_of((cursor.fetchone() or ())[0][0]["Plan"], "waits")
        assert of_waits
        assert all("Seq" not in scan["Node Type"] for scan in of_waits), kind
        assert sum(map(rows_read, of_waits)) <= max_rows, kind
