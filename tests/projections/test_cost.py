"""The cost of queries, and read models of commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

import projections
from domain.directory.events import DistroTreeRemoved, PoolRegistered
from domain.lab_commands.events import CommandCompleted, CommandRunning
from domain.recipe import events as recipe_events
from domain.recipe.lifecycle import UNFINISHED
from domain.roll_up import BAD_RESULTS, RESULT_ORDER
from domain.system import events as system_events
from postgres.named_sql import named_queries
from projections.job_search import ANY_JOB, MAX_BLOCKS
from projections.job_terms import BLOCK_JOBS
from projections.sql import ANY_CLAIM, ANY_LAB, ANY_LOCK, ANY_SYSTEM, QUERIES, SQL
from tests.harness.appends import whole_log
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session
from tests.projections.happened import (
    LAB,
    guest,
    host,
    lab,
    of,
    registered,
    scheduled,
    submitted,
    tree,
    waiting,
)
from tests.projections.projected_log import ProjectedLog
from tests.projections.query_cost import ANY_TIMELINE, MAX_GROWTH, Queries, pages
from tests.projections.random_history import LABS, POOLS, anything
from tests.projections.recipe_lives import lives

SYSTEMS = tuple(f"s{number:02}" for number in range(40))
RECIPES = 80

Moment = tuple[int, datetime]


OF_ANY_KIND = {
    "partitions": [1],
    "requirements": [None],
    "arches": [None],
    "priorities": [None],
    "limit": 20,
}
ALL_WAITS = {
    "partitions": [1],
    "arches": [""],
    "bounds": [60.0],
    "minus_recipes": -(2**63),
    "key": "",
    "limit": 100,
}
FIRST_LOCKS = {"after_level": "", "after_name": "", "after_recipe_id": 0, "after_mode": "", "limit": 100}


def queries(at: int, moment: datetime) -> Queries:
    """Return the queries of the API, as of a position and its moment."""
    first_page = {"not_assigned": False, "minus_priority": -99, "submission": 0, "recipe_id": 0, "limit": 100}
    recipe: dict[str, Any] = {"job_id": None, "recipe_set_id": None, "recipe_id": 60}
    job = {**recipe, "job_id": 60, "recipe_id": None}
    results = {"result_order": list(RESULT_ORDER), "bad_results": sorted(BAD_RESULTS)}
    short = {"since": moment - timedelta(milliseconds=50), "until": moment, "fqdns": None, "step": None}
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "queue": ("queue", {**first_page, "partitions": [1, 2]}),
        "claims": ("claims", {**ANY_CLAIM, "after": 0, "limit": 100}),
        "locks": ("locks", {**ANY_LOCK, **FIRST_LOCKS}),
        "locks of a level": ("locks", {**ANY_LOCK, **FIRST_LOCKS, "level": "system", "state": "awaited"}),
        "held locks": ("held_locks", recipe),
        "idle pool": ("idle_pool", {"after": "", "limit": 100}),
        "systems": ("systems", {**ANY_SYSTEM, "after": "", "limit": 100}),
        "system": ("systems", {**ANY_SYSTEM, "after": "", "limit": 1, "fqdn": "s07"}),
        "systems of a lab": ("systems", {**ANY_SYSTEM, "after": "", "limit": 5, "lab_controller": "lab-1"}),
        "systems in a pool": ("systems", {**ANY_SYSTEM, "after": "", "limit": 5, "pool": "big"}),
        "usage in a moment": ("system_usage", {**short, "group_by": "lab_controller"}),
        "usage of a system in a moment": (
            "usage_of_system",
            {**short, "fqdn": "s07", "after": 0, "limit": 5},
        ),
        "time line of a moment": ("timeline", {**ANY_TIMELINE, **short, "limit": 5}),
        "queues with jobs": (
            "queues_with_jobs",
            {"partition": 1, "queues": ["root.a", "root.b"], "unfinished": list(UNFINISHED)},
        ),
        "usage of queues": ("usage_of_queues", {"partition": 1}),
        "count of systems": ("count_systems", ANY_LAB),
        "systems by activity": ("systems_by_activity", {}),
        "states of labs": ("states_of_labs", {}),
        "broken systems": ("broken_systems", {"user": "alice", "limit": 5}),
        "systems of a user": ("systems_of_user", {"user": "alice", "limit": 5}),
        "queue by priority": ("queue_by_priority", {}),
        "oldest waits": ("oldest_waits", {"partitions": [1, 2], "limit": 5}),
        "placed recipes": ("placed_recipes", {"recipe_ids": [60, 61]}),
        "jobs of a user": ("job_ids_of_user", {"user": "eve", "searched": 10, "limit": 5}),
        "lab controller": ("document", {"kind": "lab-controller", "name": "lab-1"}),
        "recipe": ("recipe", recipe),
        "declaring sets": ("declaring_sets", {"recipe_set_ids": list(range(1, 40))}),
        "declared locks of a set": ("declared_locks_of_set", {**recipe, "recipe_set_id": 60}),
        "held locks of a set": ("held_locks_of_set", {**recipe, "recipe_set_id": 60}),
        "recipe sets of a job": ("recipe_sets", {**job, **results}),
        "reviews of a job": ("reviews", job),
        "tasks of a job": ("tasks_worst_first", {**job, **results}),
        "results of a job": ("results", job),
        "tasks": ("tasks", {**recipe, **results}),
        "wait of a recipe": ("wait_of_recipe", recipe),
        "waiting recipes": ("waiting_ahead", {"partitions": [1], "arches": [""], "priorities": [3]}),
        "waits of recipes": ("waits_of_recipes", {"recipe_ids": [60, 61]}),
        "architectures of waits": ("arches_of_waits", {"partitions": [1]}),
        "comparable waits": ("comparable_waits", {**OF_ANY_KIND, "moment": moment, **recipe}),
        "history of a recipe": ("history_of_recipe", recipe),
        "seconds of a job": ("seconds_in_states", {**job, "moment": moment}),
        "recipe set": ("recipe_set", {"recipe_set_id": 60}),
        "job": ("job", job),
        "recipe in the document of its job": ("recipes_in_documents", {"recipe_ids": [60], "job_ids": [60]}),
    }
    filters = {"owner": "eve", "group": None, "partition": 2, "whiteboard": "kernel"}
    listed: dict[str, Any] = {**ANY_JOB, "first": 0, "before": 2**31, "count": 5}
    span = {"after_position": 0, "upto_position": at}
    terms = {"terms": ["owner eve", "nig"], "first": 0, "before": MAX_BLOCKS * BLOCK_JOBS, "count": 2_000}
    asked |= {
        "bounds of a search": ("bounds_of_job_search", {"since": moment, "until": moment, "before": 2**31}),
        "jobs that wait": ("jobs_in_state", {**listed, "state": "queued"}),
        "jobs of a system": ("jobs_of_system", {**listed, "system": "a"}),
        "jobs without terms": ("jobs_without_terms", {**listed, **filters, **span, "before": 60}),
        "blocks with terms": ("blocks_with_terms", terms),
        "jobs with terms": ("jobs_with_terms", {**terms, "job_ids": [60, 61]}),
        "matching jobs": (
            "matching_jobs",
            {**ANY_JOB, **filters, **span, "task": "/check", "system": "a", "job_ids": [60, 61], "limit": 5},
        ),
    }
    return {
        title: (QUERIES[name], {"at": at, "hidden": None, **ANY_LAB, **params})
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
        "page": (QUERIES["queue"], {"at": 10_000, "partitions": [1], **page}),
        **{name: (query, {}) for name, query in metrics.items()},
    }
    put_in_queue(planner, 1, 1_000)
    before = pages(planner, asked)
    put_in_queue(planner, 1_001, 6_000)
    after = pages(planner, asked)
    assert {title: after[title] <= MAX_GROWTH * before[title] + 5 for title in asked} == dict.fromkeys(
        asked, True
    )


def test_cost__few_jobs_of_a_partition_among_many__a_page_reads_few_rows_of_others(planner: Owner) -> None:
    start = {"not_assigned": False, "minus_priority": -99, "submission": 0, "recipe_id": 0}
    asked: Queries = {
        "queue": (QUERIES["queue"], {"at": 10_000, "limit": 5, "partitions": [2], **start}),
    }
    put_in_queue(planner, 1, 5, partition=2)
    before = pages(planner, asked)
    put_in_queue(planner, 6, 6_000)
    after = pages(planner, asked)
    assert {title: after[title] <= MAX_GROWTH * before[title] + 5 for title in asked} == dict.fromkeys(
        asked, True
    )
    position = {"at": 10_000, "limit": 5, "partitions": [1, 2], **start}
    both = [row[0] for row in planner.execute(QUERIES["queue"], position).fetchall()]
    first = "SELECT recipe_id FROM read.queue ORDER BY -priority, submission LIMIT 5"
    assert both == [number for (number,) in planner.execute(first.encode()).fetchall()]


def test_cost__history_four_times_as_long__a_search_of_its_end_reads_no_more(planner: Owner) -> None:
    terms, moment = ["", "owner eve", "nig", "igh"], datetime.fromisoformat("2026-01-01T00:00:00Z")
    costs = []
    for first, last in ((0, MAX_BLOCKS + 8), (MAX_BLOCKS + 9, 4 * MAX_BLOCKS)):
        planner.execute(
            b"INSERT INTO read.job_terms"
            b" SELECT term, block, ~repeat('0', 2048)::bit(2048), 20 * block, 20 * block"
            b" FROM unnest(%s::text[]) AS term, generate_series(%s::integer, %s::integer) AS block",
            (terms, first, last),
        )
        before = (last + 1) * BLOCK_JOBS
        window = {"terms": terms, "first": before - MAX_BLOCKS * BLOCK_JOBS, "before": before}
        asked: Queries = {
            "bounds": (
                QUERIES["bounds_of_job_search"],
                {"at": 10 * last, "since": moment, "until": None, "before": 2**31},
            ),
            "blocks": (QUERIES["blocks_with_terms"], {**window, "count": 2_000}),
            "some jobs": (
                QUERIES["jobs_with_terms"],
                {**window, "job_ids": [before - 1, before - 99]},
            ),
        }
        costs.append(pages(planner, asked))
    assert costs[0]["blocks"] > MAX_BLOCKS / 10, "all terms are read"
    grown = {title: costs[1][title] > MAX_GROWTH * count + 5 for title, count in costs[0].items()}
    assert grown == dict.fromkeys(grown, False)


def put_in_queue(owner: Owner, first: int, last: int, partition: int = 1) -> None:
    rows = {
        "queue": "(recipe_id, state, assigned, priority, submission, since_position, since, partition)"
        f" SELECT n, 'queued', false, 1 + mod(n, 5), n, n, now(), {partition}",
        "jobs": "(job_id, state, result, since_position, since) SELECT n, 'queued', 'New', n, now()",
        "job_documents": "(job_id, owner, submitter, whiteboard, document, since_position, since, partition)"
        f" SELECT n, 'eve', 'eve', '', '{{}}', n, now(), {partition}",
        "recipes": "(recipe_id, state, since_position, since) SELECT n, 'queued', n, now()",
        "recipe_details": "(recipe_id, recipe_set_id, job_id, owner, whiteboard,"
        " tasks, since_position, since) SELECT n, n, n, 'eve', '', '[]', n, now()",
        "system_usage": "(fqdn, condition, usage, since_position, since)"
        " SELECT 'many-' || n, 'Automated', 'idle', n, now()",
    }
    numbers = "generate_series(%s::integer, %s::integer) AS n"
    for table, made in rows.items():
        owner.execute(f"INSERT INTO read.{table} {made} FROM {numbers}".encode(), (first, last))


def test_cost__long_history_of_a_system_before_and_after__a_page_of_its_usage_costs_no_more(
    planner: Owner,
) -> None:
    page: dict[str, Any] = {"at": 70_000, "fqdn": "a", "since": None, "until": None, "limit": 20}
    asked: Queries = {
        f"after {after}": (QUERIES["usage_of_system"], {**page, "after": after})
        for after in (30_500, 30_990, 31_000)
    }
    use_system(planner, 30_000, 31_100)
    before = pages(planner, asked)
    found = {title: planner.execute(*question).fetchall() for title, question in asked.items()}
    assert {title: len(rows) for title, rows in found.items()} == dict.fromkeys(asked, 20)
    use_system(planner, 1, 29_999)
    use_system(planner, 31_101, 60_000)
    after = pages(planner, asked)
    assert {title: planner.execute(*question).fetchall() for title, question in asked.items()} == found
    grown = {title for title in asked if after[title] > MAX_GROWTH * before[title] + 5}
    assert not grown, (before, after)


def use_system(owner: Owner, first: int, last: int) -> None:
    """Change the usage of `a` at each third position, the borrower at each tenth, the rest at each one."""
    rows = {
        "recipe_details": "(recipe_id, recipe_set_id, job_id, owner, whiteboard, tasks,"
        " since_position, since) SELECT n, n, n, 'eve', '', '[]', n, to_timestamp(n)",
        "system_usage": "(fqdn, condition, usage, recipe_id, since_position, since, until_position, until)"
        " SELECT 'a', 'Automated', 'running', n, n, to_timestamp(n), n + 3, to_timestamp(n + 3)",
        "system_persons": "(fqdn, loaned_to, loaned_position, since_position, since, until_position, until)"
        " SELECT 'a', 'bob', n, n, to_timestamp(n), n + 10, to_timestamp(n + 10)",
        "systems": "(fqdn, lab_controller, owner, condition, draining, pools, inventory,"
        " since_position, since, until_position, until) SELECT 'a', 'lab', 'eve', 'Automated', false, '[]',"
        " '{}', n, to_timestamp(n), n + 1, to_timestamp(n + 1)",
    }
    every = {"system_usage": 3, "system_persons": 10}
    for table, made in rows.items():
        statement = f"INSERT INTO read.{table} {made} FROM generate_series(%s::integer, %s::integer) AS n"
        chosen = f"{statement} WHERE mod(n, %s) = 0"
        owner.execute(chosen.encode(), (first, last, every.get(table, 1)))


WINDOW_LISTS: dict[str, dict[str, Any]] = {
    "newest": {},
    "next page": {"after": 1_040},
    "ended": {"state": "ended"},
    "unended": {"unended": True},
    "open": {"state": "open", "unended": True},
    "of a system": {"system": "a"},
    "of a system, unended": {"system": "a", "unended": True},
}


def windows_at(at: int) -> Queries:
    """Return the queries for lists of windows as of a position and its moment, which is its second."""
    page = {"system": None, "state": None, "unended": False, "after": 2**31 - 1, "limit": 5}
    moment = {"at": at, "moment": datetime.fromtimestamp(at, UTC)}
    return {
        title: (QUERIES["maintenance_windows"], {**page, **moment, **asked})
        for title, asked in WINDOW_LISTS.items()
    }


def test_cost__many_windows_before_and_after__lists_of_windows_read_no_more(planner: Owner) -> None:
    put_windows(planner, 1_000, 1_100)
    planner.execute(
        b"INSERT INTO read.systems (fqdn, lab_controller, owner, condition, draining, pools, inventory,"
        b" since_position, since)"
        b" VALUES ('a', 'lab', 'eve', 'Automated', false, '[\"p1050\"]', '{}', 1, to_timestamp(1))"
    )
    then, now = windows_at(10_509), windows_at(11_010)
    before = {"then": pages(planner, then), "now": pages(planner, now)}
    found = {title: [row[0] for row in planner.execute(*asked).fetchall()] for title, asked in then.items()}
    assert found == {
        "newest": [1_050, 1_049, 1_048, 1_047, 1_046],
        "next page": [1_039, 1_038, 1_037, 1_036, 1_035],
        "ended": [1_050, 1_048, 1_047, 1_046, 1_045],
        "unended": [1_049],
        "open": [1_049],
        "of a system": [1_050, 1_040, 1_020],
        "of a system, unended": [],
    }
    put_windows(planner, 1, 999)
    put_windows(planner, 1_101, 6_000)
    after = {"then": pages(planner, then), "now": pages(planner, windows_at(60_010))}
    assert found == {
        title: [row[0] for row in planner.execute(*asked).fetchall()] for title, asked in then.items()
    }
    grown = {
        (when, title): (before[when][title], count)
        for when, counts in after.items()
        for title, count in counts.items()
        if count > MAX_GROWTH * before[when][title] + 5
    }
    assert not grown


def put_windows(owner: Owner, first: int, last: int) -> None:
    """Add windows, one at each tenth position, each moved five positions later."""
    owner.execute(
        b"INSERT INTO read.documents"
        b" (kind, name, version, document, since_position, since, until_position, until)"
        b" SELECT 'maintenance-window', n::text, version, jsonb_build_object("
        b"   'starts_at', to_timestamp(10 * n - 5), 'lead_seconds', 0,"
        b"   'ends_at', to_timestamp(10 * n + 8 + 11 * (n %% 3)),"
        b"   'pool', CASE WHEN NOT lists_it THEN 'p' || n END,"
        b"   'systems', CASE WHEN lists_it THEN '[\"a\"]'::jsonb END,"
        b"   'lab_controller', NULL, 'location', NULL),"
        b" 10 * n + 5 * (version - 1), to_timestamp(10 * n + 5 * (version - 1)),"
        b" CASE version WHEN 1 THEN 10 * n + 5 ELSE 9223372036854775807 END,"
        b" CASE version WHEN 1 THEN to_timestamp(10 * n + 5) ELSE 'infinity' END"
        b" FROM generate_series(%s::integer, %s::integer) AS n, generate_series(1, 2) AS version,"
        b"   LATERAL (SELECT n IN (1020, 1040)) AS listed (lists_it)",
        (first, last),
    )


def test_cost__hidden_systems__looked_up_in_a_hash_table(planner: Owner) -> None:
    """A user who may see a few of ten thousand systems must not wait for a comparison of all pairs."""
    moment = datetime.fromisoformat("2026-01-01T00:00:00Z")
    page = {"after": "", "limit": 5}
    summed = {"since": moment, "until": moment, "group_by": "system"}
    asked: dict[str, dict[str, Any]] = {
        "systems": {**ANY_SYSTEM, **page},
        "idle_pool": {**ANY_LAB, **page},
        "locks": {**ANY_LOCK, **FIRST_LOCKS},
        "systems_with_usage": {**ANY_LAB, **summed, **page},
        "usage_of_each_system": {**summed, **page},
        "unused_systems": {"since": moment, "limit": 5},
        "timeline": {**ANY_TIMELINE, "since": moment, "until": moment},
        "reconciliations": {"lab_controller": None, "after": 0, "limit": 5},
        "claims": {**ANY_CLAIM, "after": 0, "limit": 5},
        "rejected_items": {"lab_controller": None},
        "waits_by": {**ALL_WAITS, "since": moment, "until": moment, "by": "pool"},
        "systems_by_activity": {},
        "broken_systems": {"user": "alice", "limit": 5},
        "systems_of_user": {"user": "alice", "limit": 5},
        "covered_systems": dict.fromkeys(("systems", "pool", "lab_controller", "location")),
    }
    assert asked.keys() == {name for name, query in QUERIES.items() if b"%(hidden)s" in query}
    for name, params in asked.items():
        plan = planner.execute(
            b"EXPLAIN (VERBOSE) " + QUERIES[name], {**params, "at": 1, "hidden": ["s01", "s02"]}
        )
        assert any("hashed SubPlan" in line for (line,) in plan.fetchall()), name


def test_results__statistics_from_before_other_jobs_had_any__no_whole_table_is_read(owner: Owner) -> None:
    """A plan for them would read the results of all jobs until the tables are analysed again."""
    # Within a transaction, so that nothing else analyses the tables meanwhile.
    owner.execute(b"BEGIN")
    owner.execute(b"SET LOCAL random_page_cost = 1.1")
    put_recipes(owner, 1, 2_000)
    owner.execute(
        b"INSERT INTO read.task_results"
        b" (task_id, recipe_id, result, message, log_urls, since_position, since)"
        b" SELECT n / 20, n / 20, 'Pass', '', '[]', n, now() FROM generate_series(20, 4_000) AS n"
    )
    owner.execute(
        b"ANALYZE read.recipe_details, read.recipe_sets, read.recipes, read.tasks, read.task_results"
    )
    put_recipes(owner, 2_001, 20_000)
    job = {"job_id": 1, "recipe_id": None, "result_order": list(RESULT_ORDER), "bad_results": ["Fail"]}
    # These joins read whole tables or indexes.
    found = {}
    for name in ("tasks_worst_first", "results"):
        plan = owner.execute(b"EXPLAIN " + QUERIES[name], {"at": 30_000, **job}).fetchall()
        found[name] = re.findall(r"Hash Join|Merge Join|Seq Scan", "\n".join(line for (line,) in plan))
    assert found == {"tasks_worst_first": [], "results": []}


def put_recipes(owner: Owner, first: int, last: int) -> None:
    """Add jobs of 200 recipes, each with a set and a task of its own."""
    rows = {
        "recipe_details": "(recipe_id, recipe_set_id, job_id, owner, whiteboard, tasks,"
        " since_position, since) SELECT n, n, 1 + n / 200, 'eve', '', '[]', n, now()",
        "recipe_sets": "(recipe_set_id, job_id, priority, state, result, since_position, since)"
        " SELECT n, 1 + n / 200, 'Normal', 'running', 'Pass', n, now()",
        "recipes": "(recipe_id, state, since_position, since) SELECT n, 'running', n, now()",
        "tasks": "(task_id, recipe_id, state, result, since_position, since)"
        " SELECT n, n, 'running', 'Pass', n, now()",
    }
    for table, made in rows.items():
        statement = f"INSERT INTO read.{table} {made} FROM generate_series(%s::integer, %s::integer) AS n"
        owner.execute(statement.encode(), (first, last))


def test_last_change__in_a_query__is_part_of_its_plan(planner: Owner) -> None:
    """A function of its own plan would cost a call for each recipe, and would be read in full."""
    at: dict[str, Any] = {"at": 1, "recipe_id": 1, "bad_results": []}
    for name in ("recipe", "tasks", "tree_of_recipe"):
        plan = "\n".join(line for (line,) in planner.execute(b"EXPLAIN " + QUERIES[name], at).fetchall())
        assert "recipe_changes_recipe" in plan and "last_change" not in plan, name


@pytest.fixture
def started(models: ProjectedLog) -> ProjectedLog:
    """Add recipe 1 with its guest 2 on `a`, to be provisioned with tree 1; `b` is Manual."""
    models.commit(lab(), tree(1, **{LAB: ["http://one/"]}), registered("a"), registered("b", "Manual"))
    models.commit(*submitted(host(1), guest(2, host_id=1)), *scheduled("a", 1, 2))
    models.commit(*waiting("a", 1, 2))
    return models


def kinds(models: ProjectedLog, *, unfinished: bool = False) -> list[tuple[str, str, int | None]]:
    found = models.commands(LAB, unfinished=unfinished)
    return [(row["kind"], row["system"], row["recipe_id"]) for row in found]


def test_provision__host_with_a_guest__is_one_command_with_all_of_both(started: ProjectedLog) -> None:
    (command,) = started.commands(LAB)
    (riding,) = command["guests"]
    assert (command["kind"], command["recipe_id"]) == ("provision", 1)
    assert [member["recipe_id"] for member in command["members"]] == [1, 2]
    assert [task["task_id"] for task in command["tasks"]] == [11]
    assert command["tree"]["urls"] == riding["tree"]["urls"] == {LAB: ["http://one/"]}
    assert (riding["recipe_id"], riding["guestname"], riding["guestargs"]) == (2, "g2", "--ram=1024")
    assert [task["task_id"] for task in riding["tasks"]] == [21]


def test_provision__tree_removed_since__a_repeated_query_has_the_same_answer(started: ProjectedLog) -> None:
    before = started.commands(LAB)
    started.commit(("distro-tree/1", DistroTreeRemoved()))
    assert started.commands(LAB) == before


def test_guest__aborted_while_its_host_runs__is_to_be_stopped(started: ProjectedLog) -> None:
    (at,) = started.commit(*of("recipe", 2, recipe_events.RecipeAborted("watchdog")))
    command = started.commands(LAB)[-1]
    shown = ("command_id", "kind", "system", "recipe_id", "guests")
    assert [command[name] for name in shown] == [at, "stop", "a", 2, []]


def test_host__ends_and_its_guest_with_it__gives_the_system_back_and_no_more(started: ProjectedLog) -> None:
    aborted = recipe_events.RecipeAborted("broken")
    started.commit(("recipe/1", aborted), ("recipe/2", aborted))
    assert kinds(started) == [("provision", "a", 1), ("release", "a", 1)]


def test_reservation__with_a_tree__is_provisioned_and_given_back(started: ProjectedLog) -> None:
    begun = system_events.SystemReservationBegun("bob", None, 1)
    (_, at) = started.commit(*of("system", "b", begun, system_events.SystemWaiting(None)))
    command = started.commands(LAB)[-1]
    shown = ("command_id", "kind", "system", "recipe_id", "tasks", "guests", "distro_tree_id")
    assert [command[name] for name in shown] == [at, "provision", "b", None, None, [], 1]
    assert command["tree"]["urls"] == {LAB: ["http://one/"]}

    started.commit(
        *of("system", "b", system_events.SystemReservationEnded("returned"), system_events.SystemIdle())
    )
    assert kinds(started)[-1] == ("release", "b", None)


def test_commands__unfinished_asked__are_those_the_lab_has_not_done(started: ProjectedLog) -> None:
    (first,) = started.commands(LAB)
    command = f"command/{first['command_id']}"
    started.commit((command, CommandRunning()))
    assert [row["state"] for row in started.commands(LAB, unfinished=True)] == ["running"]
    started.commit((command, CommandCompleted()), *of("recipe", 1, recipe_events.RecipeCancelled("enough")))
    assert kinds(started, unfinished=True) == [("release", "a", 1)]
    assert kinds(started) == [("provision", "a", 1), ("release", "a", 1)]
