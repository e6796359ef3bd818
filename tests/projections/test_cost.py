"""Tests of the cost of queries, which must not grow with unrelated history.

The cost is the number of pages that PostgreSQL touches, which is the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

import projections
from domain.directory.events import PoolRegistered
from domain.roll_up import RESULT_ORDER
from postgres.named_sql import named_queries
from projections.filters import ANY_JOB, ANY_SYSTEM, job_ids_query
from projections.sql import QUERIES, SQL
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session
from tests.projections.happened import lab, registered
from tests.projections.projected_log import ProjectedLog
from tests.projections.random_history import LABS, POOLS, anything
from tests.projections.recipe_lives import lives

SYSTEMS = tuple(f"s{number:02}" for number in range(40))
RECIPES = 80
# Allows for another level of some indexes, and for rows on other pages.
MAX_GROWTH = 1.5

Queries = dict[str, tuple[bytes, dict[str, Any]]]
Moment = tuple[int, datetime]


def queries(at: int, moment: datetime) -> Queries:
    """Return the queries of the API, as of a position and its moment."""
    first_page = {"not_assigned": False, "minus_priority": -99, "submission": 0, "recipe_id": 0, "limit": 100}
    recipe: dict[str, Any] = {"job_id": None, "recipe_set_id": None, "recipe_id": 60}
    job = {**recipe, "job_id": 60, "recipe_id": None}
    short = {"since": moment - timedelta(milliseconds=50), "until": moment}
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "queue": ("queue", first_page),
        "idle pool": ("idle_pool", {"after": "", "limit": 100}),
        "systems": ("systems", {**ANY_SYSTEM, "after": "", "limit": 100}),
        "system": ("systems", {**ANY_SYSTEM, "after": "", "limit": 1, "fqdn": "s07"}),
        "systems of a lab": ("systems", {**ANY_SYSTEM, "after": "", "limit": 5, "lab_controller": "lab-1"}),
        "systems in a pool": ("systems", {**ANY_SYSTEM, "after": "", "limit": 5, "pool": "big"}),
        "usage in a moment": ("system_usage", {**short, "group_by": "lab_controller"}),
        "lab controller": ("document", {"kind": "lab-controller", "name": "lab-1"}),
        "recipe": ("recipe", recipe),
        "recipe sets of a job": ("recipe_sets", {**job, "result_order": list(RESULT_ORDER)}),
        "tasks": ("tasks", recipe),
        "history of a recipe": ("history_of_recipe", recipe),
        "seconds of a job": ("seconds_in_states", {**job, "moment": moment}),
        "recipe set": ("recipe_set", {"recipe_set_id": 60}),
        "job": ("job", job),
        "recipe in the document of its job": ("recipes_in_documents", {"recipe_ids": [60], "job_ids": [60]}),
    }
    for title, filters in {
        "jobs that wait": {"state": "queued"},
        "of one": {"owner": "eve", "state": "running"},
    }.items():
        jobs = {**ANY_JOB, "before": 2**31, "limit": 5, **filters}
        asked[title] = (job_ids_query(jobs), jobs)
    return {
        title: (QUERIES[name], {"at": at, "hidden": None, **params})
        for title, (name, params) in asked.items()
    }


FOLDING: Queries = {
    "members": (SQL["members"], {"recipes": [60, 61], "sets": [60]}),
    "states_of_jobs": (SQL["states_of_jobs"].replace(b"%s", b"%(jobs)s"), {"jobs": [60, 61]}),
}


@pytest.fixture
def planner(models: ProjectedLog, database: TestDatabase) -> Iterator[Owner]:
    """Make the planner use indexes, as for long tables; it would scan the short ones of a test."""
    with owner_session(database.owner_url) as owner:
        for way in ("seqscan", "hashjoin", "mergejoin"):
            owner.execute(f"SET enable_{way} = off".encode())
        owner.execute("SET jit = off; SET search_path = read")
        yield owner


def fill(models: ProjectedLog, dice: Random, first: int, recipes: int) -> None:
    """Commit lives of recipes, in commits of some hundred events."""
    commits = lives(dice, recipes, first)
    while part := list(islice(commits, 40)):
        models.commit(*(one for commit in part for one in commit))
        models.commit(*(one for _ in range(20) for one in anything(dice, SYSTEMS)))


def end_of(models: ProjectedLog) -> Moment:
    last = whole_log(models.log)[-1]
    return last.position, last.recorded_at


def pages(owner: Owner, asked: Queries) -> dict[str, int]:
    owner.execute("VACUUM ANALYZE")
    return {title: _pages(owner, *question) for title, question in asked.items()}


def _pages(owner: Owner, query: bytes, params: dict[str, Any]) -> int:
    plan = owner.execute(b"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) " + query, params).fetchall()
    touched = next((line for (line,) in plan if "Buffers:" in line), "")
    return sum(int(number) for number in re.findall(r"(?:hit|read)=(\d+)", touched))


@pytest.mark.soak
def test_cost__history_six_times_as_long__unrelated_history_is_free(
    models: ProjectedLog, planner: Owner
) -> None:
    dice = Random(3)
    models.commit(*(lab(name) for name in LABS), *((f"pool/{name}", PoolRegistered(None)) for name in POOLS))
    models.commit(*(registered(fqdn) for fqdn in SYSTEMS))
    fill(models, dice, 1, RECIPES)
    then = end_of(models)
    fill(models, dice, RECIPES + 1, RECIPES)
    before = cost(planner, then, end_of(models))
    fill(models, dice, 2 * RECIPES + 1, 10 * RECIPES)
    after = cost(planner, then, end_of(models))
    grown = {
        asked: (before[asked], after[asked])
        for asked in before
        if after[asked] > MAX_GROWTH * before[asked] + 5
    }
    assert not grown


def cost(owner: Owner, then: Moment, now: Moment) -> dict[str, int]:
    """Return the cost of each query as of both moments, and of folding a page."""
    found = {f"{title}, folding": touched for title, touched in pages(owner, FOLDING).items()}
    for name, moment in (("then", then), ("now", now)):
        found |= {f"{title}, {name}": count for title, count in pages(owner, queries(*moment)).items()}
    return found


def test_cost__lab_and_queue_six_times_as_large__a_page_and_each_metric_cost_no_more(planner: Owner) -> None:
    page = {"not_assigned": False, "minus_priority": -99, "submission": 0, "recipe_id": 0, "limit": 5}
    metrics = named_queries(Path(projections.__file__).with_name("metrics.sql"))
    asked: Queries = {
        "page": (QUERIES["queue"], {"at": 10_000, **page}),
        **{name: (query, {}) for name, query in metrics.items()},
    }
    put_in_queue(planner, 1, 1_000)
    before = pages(planner, asked)
    put_in_queue(planner, 1_001, 6_000)
    after = pages(planner, asked)
    assert {title: after[title] <= MAX_GROWTH * before[title] + 5 for title in asked} == dict.fromkeys(
        asked, True
    )


def put_in_queue(owner: Owner, first: int, last: int) -> None:
    rows = {
        "queue": "(recipe_id, state, assigned, priority, submission, since_position, since)"
        " SELECT n, 'queued', false, 1 + mod(n, 5), n, n, now()",
        "recipes": "(recipe_id, state, since_position, since) SELECT n, 'queued', n, now()",
        "recipe_details": "(recipe_id, recipe_set_id, job_id, owner, whiteboard,"
        " tasks, since_position, since) SELECT n, n, n, 'eve', '', '[]', n, now()",
        "system_usage": "(fqdn, condition, usage, since_position, since)"
        " SELECT 'many-' || n, 'Automated', 'idle', n, now()",
    }
    numbers = "generate_series(%s::integer, %s::integer) AS n"
    for table, made in rows.items():
        owner.execute(f"INSERT INTO read.{table} {made} FROM {numbers}".encode(), (first, last))


def test_cost__hidden_systems__looked_up_in_a_hash_table(planner: Owner) -> None:
    """A user who may see a few of ten thousand systems must not wait for a comparison of all pairs."""
    moment = datetime.fromisoformat("2026-01-01T00:00:00Z")
    page = {"after": "", "limit": 5}
    summed = {"since": moment, "until": moment, "group_by": "system"}
    asked: dict[str, dict[str, Any]] = {
        "systems": {**ANY_SYSTEM, **page},
        "idle_pool": page,
        "system_usage": summed,
        "usage_of_each_system": {**summed, **page},
    }
    assert asked.keys() == {name for name, query in QUERIES.items() if b"%(hidden)s" in query}
    for name, params in asked.items():
        plan = planner.execute(b"EXPLAIN " + QUERIES[name], {**params, "at": 1, "hidden": ["s01", "s02"]})
        assert any("hashed SubPlan" in line for (line,) in plan.fetchall()), name
