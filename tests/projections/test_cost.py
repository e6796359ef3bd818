"""What a question costs does not grow with the history that it is not about, before it or since.

Counted in pages that PostgreSQL touches, which are the same on every machine.
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
from tests.projections.random_history import LABS, POOLS, anything
from tests.projections.recipe_lives import lives
from tests.projections.telling import Told

SYSTEMS = tuple(f"s{number:02}" for number in range(40))
RECIPES = 80
# A level more of an index here and there, and rows that lie on other pages.
MORE = 1.5

Questions = dict[str, tuple[bytes, dict[str, Any]]]
Moment = tuple[int, datetime]


def questions(at: int, moment: datetime) -> Questions:
    """Each as a door asks it, as of a position and its moment."""
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


FOLDING: Questions = {
    "members": (SQL["members"], {"recipes": [60, 61], "sets": [60]}),
    "states_of_jobs": (SQL["states_of_jobs"].replace(b"%s", b"%(jobs)s"), {"jobs": [60, 61]}),
}


@pytest.fixture
def planner(told: Told, database: TestDatabase) -> Iterator[Owner]:
    """Plans as for the tables of a lab: those of a test are so short that they are best read as a whole."""
    with owner_session(database.owner_url) as owner:
        for way in ("seqscan", "hashjoin", "mergejoin"):
            owner.execute(f"SET enable_{way} = off".encode())
        owner.execute("SET jit = off; SET search_path = read")
        yield owner


def tell(told: Told, dice: Random, first: int, recipes: int) -> None:
    """In commits of some hundred events."""
    commits = lives(dice, recipes, first)
    while part := list(islice(commits, 40)):
        told.tell(*(one for commit in part for one in commit))
        told.tell(*(one for _ in range(20) for one in anything(dice, SYSTEMS)))


def end_of(told: Told) -> Moment:
    last = whole_log(told.log)[-1]
    return last.position, last.recorded_at


def pages(owner: Owner, asked: Questions) -> dict[str, int]:
    owner.execute("VACUUM ANALYZE")
    return {title: _pages(owner, *question) for title, question in asked.items()}


def _pages(owner: Owner, query: bytes, params: dict[str, Any]) -> int:
    plan = owner.execute(b"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) " + query, params).fetchall()
    touched = next((line for (line,) in plan if "Buffers:" in line), "")
    return sum(int(number) for number in re.findall(r"(?:hit|read)=(\d+)", touched))


@pytest.mark.soak
def test_cost__history_six_times_as_long__no_more_for_what_is_not_about_it(
    told: Told, planner: Owner
) -> None:
    dice = Random(3)
    told.tell(*(lab(name) for name in LABS), *((f"pool/{name}", PoolRegistered(None)) for name in POOLS))
    told.tell(*(registered(fqdn) for fqdn in SYSTEMS))
    tell(told, dice, 1, RECIPES)
    then = end_of(told)
    tell(told, dice, RECIPES + 1, RECIPES)
    before = cost(planner, then, end_of(told))
    tell(told, dice, 2 * RECIPES + 1, 10 * RECIPES)
    after = cost(planner, then, end_of(told))
    grown = {
        asked: (before[asked], after[asked]) for asked in before if after[asked] > MORE * before[asked] + 5
    }
    assert not grown


def cost(owner: Owner, then: Moment, now: Moment) -> dict[str, int]:
    """Of every question as of then and as of now, and of folding a page."""
    found = {f"{title}, folding": touched for title, touched in pages(owner, FOLDING).items()}
    for name, moment in (("then", then), ("now", now)):
        found |= {f"{title}, {name}": count for title, count in pages(owner, questions(*moment)).items()}
    return found


def test_cost__lab_and_queue_six_times_as_large__a_page_and_each_metric_cost_no_more(planner: Owner) -> None:
    page = {"not_assigned": False, "minus_priority": -99, "submission": 0, "recipe_id": 0, "limit": 5}
    metrics = named_queries(Path(projections.__file__).with_name("metrics.sql"))
    asked: Questions = {
        "page": (QUERIES["queue"], {"at": 10_000, **page}),
        **{name: (query, {}) for name, query in metrics.items()},
    }
    put_in_queue(planner, 1, 1_000)
    before = pages(planner, asked)
    put_in_queue(planner, 1_001, 6_000)
    after = pages(planner, asked)
    assert {title: after[title] <= MORE * before[title] + 5 for title in asked} == dict.fromkeys(asked, True)


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


def test_cost__systems_are_hidden__each_row_is_looked_up_among_them(planner: Owner) -> None:
    """Who may view a few of ten thousand systems does not wait for each to be compared with all others."""
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
