"""A log of a million events, paged, filtered and resumed without a full scan."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import orjson
import psycopg
import pytest

from store.sql import BOUNDED
from tests.harness.databases import TestDatabase
from tests.harness.pool import ServerPool
from tests.harness.running import Running
from tests.harness.watching import Watch, Watching, plain_client, serving

EVENTS = 1_000_000
RECIPES = 50_000
# Two systems have an event at these intervals, each with a topic of its own. Neither topic requires that the
# system is registered.
RARE_EVERY = 50_000
BUSIEST_EVERY = 10

FILL = """
WITH numbered AS (
    SELECT base.position + n AS position, n,
           CASE WHEN n %% %(rare)s = 0 THEN 'system/rare.example.com'
                WHEN n %% %(busiest)s = 0 THEN 'system/busiest.example.com'
                ELSE 'recipe/' || n %% %(recipes)s END AS subject,
           CASE WHEN n %% %(rare)s = 0 THEN 'system.scheduled'
                WHEN n %% %(busiest)s = 0 THEN 'system.idle'
                ELSE 'recipe.queued' END AS topic,
           least(n + (4 - n %% 4) %% 4, %(events)s) + base.position AS commit_end
    FROM generate_series(1, %(events)s) AS n,
         (SELECT max(notification_id) AS position FROM log.events) AS base
), filled AS (
    INSERT INTO log.events
        (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at)
    SELECT subject, row_number() OVER (PARTITION BY subject ORDER BY n), topic,
           convert_to(jsonb_build_object(
               'version', 1, 'at', '2026-01-01T00:00:00Z', 'actor', 'tester', 'cause', 'request/test',
               'data', CASE topic WHEN 'system.idle' THEN '{}'::jsonb
                       WHEN 'system.scheduled' THEN jsonb_build_object('recipe_id', n)
                       ELSE jsonb_build_object('reason', 'filled in ' || n) END)::text, 'UTF8'),
           position, commit_end, now()
    FROM numbered
    ORDER BY position
)
INSERT INTO log.commits (command_id, first_position, last_position, recorded_at)
SELECT 'filled/' || commit_end, min(position), commit_end, now() FROM numbered GROUP BY commit_end
"""


@dataclass(frozen=True)
class LongLog:
    first: int
    last: int
    rare: list[int]


def fill(database: TestDatabase) -> LongLog:
    """Append the events to the log; `rare` are the positions of the few system.scheduled."""
    asked = {"events": EVENTS, "recipes": RECIPES, "rare": RARE_EVERY, "busiest": BUSIEST_EVERY}
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        base = owner.execute("SELECT max(notification_id) FROM log.events").fetchone()
        assert base is not None
        owner.execute(FILL, asked)
        # Autovacuum would do this later.
        owner.execute("VACUUM ANALYZE log.events")
        owner.execute("SELECT pg_notify('labledger_log', '')")
    first = base[0] + 1
    rare = [base[0] + number for number in range(RARE_EVERY, EVENTS + 1, RARE_EVERY)]
    return LongLog(first, base[0] + EVENTS, rare)


pytestmark = pytest.mark.soak

Filled = tuple[Running, LongLog]
# The maximum number of 8 kB pages that a query for one page of events may read.
MAX_BLOCKS = 2_000


@pytest.fixture(scope="module")
def filled(servers: ServerPool) -> Iterator[Filled]:
    with servers.databases("embedded").fresh() as database, serving(database) as service:
        yield service, fill(database)


@pytest.fixture
def client(filled: Filled) -> Iterator[httpx.Client]:
    with plain_client(filled[0]) as client:
        yield client


def test_log__a_million_events_by_cursor__each_once_and_in_order(
    client: httpx.Client, filled: Filled
) -> None:
    after: int | None = 0
    expected = 1
    while after is not None:
        answer = client.get("/events", params={"after": after, "limit": 1000})
        page = orjson.loads(answer.content)
        positions = [event["position"] for event in page["events"]]
        assert positions == list(range(expected, expected + len(positions)))
        expected, after = expected + len(positions), page["next"]
    assert expected == filled[1].last + 1


@pytest.mark.parametrize(
    "selected",
    [
        {"types": "system.scheduled"},
        {"subject": "system/rare.example.com"},
        {"subject": "system/*,recipe/77"},
    ],
    ids=str,
)
def test_log__selected_by_cursor__only_and_all_of_those(
    client: httpx.Client, filled: Filled, selected: dict[str, str]
) -> None:
    positions, after = [], 0
    while after is not None:
        page = client.get("/events", params={"after": after, "limit": 1000, **selected}).json()
        positions += [event["position"] for event in page["events"]]
        after = page["next"]
    rare, first = filled[1].rare, filled[1].first
    if "*" in selected.get("subject", ""):
        of_systems = range(first - 1 + BUSIEST_EVERY, filled[1].last + 1, BUSIEST_EVERY)
        of_recipe = range(first - 1 + 77, filled[1].last + 1, RECIPES)
        assert positions == sorted({*of_systems, *of_recipe})
    else:
        assert positions == rare


@pytest.mark.parametrize("planned", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize(
    ("topics", "subjects"),
    [
        # No plan may scan the log for rare events.
        pytest.param(["system.scheduled"], [], id="rare"),
        pytest.param(["system.idle", "system.scheduled", "system.pending"], [], id="rare beside common"),
        pytest.param([], ["system/rare.example.com"], id="subject"),
        # Added near the end of the log.
        pytest.param([], ["system/busiest.example.com"], id="long history"),
        pytest.param(["system.scheduled"], [f"recipe/{number}" for number in range(1, 20)], id="many"),
    ],
)
def test_selection__of_a_million__reads_little_more_than_it_gives(
    filled: Filled, planned: str, topics: list[str], subjects: list[str]
) -> None:
    service, log = filled
    asked = {
        "after": log.first + 900_000,
        "upto": log.last,
        "limit": 1000,
        "bytes": 4 << 20,
        "topics": topics,
        "subjects": subjects,
        "of_subject": None,
        "hidden": ["token.created", "token.revoked"],
        "partition": None,
    }
    with psycopg.connect(service.database.owner_url, autocommit=True) as owner:
        owner.execute(f"SET plan_cache_mode = {planned}")  # type: ignore[arg-type]
        plan = _explained(owner, BOUNDED["selected"].decode(), asked)
    scans = [node for node in _nodes(plan["Plan"]) if node.get("Relation Name") == "events"]
    assert {node["Node Type"] for node in scans} == {"Index Scan"}
    assert sum(node.get("Rows Removed by Filter", 0) for node in scans) == 0
    assert plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"] < MAX_BLOCKS


def test_stream__resumed_far_back__all_that_was_missed_then_live(filled: Filled) -> None:
    service, log = filled

    async def resumed() -> tuple[Watch, Watch]:
        async with Watching(service) as watching:
            rare = await watching.watch(0, types="system.scheduled,user.registered")
            everything = await watching.watch(log.last - 100_000)
            await asyncio.gather(rare.wait_seen(log.rare[-1]), everything.wait_seen(log.last))
            with service.client() as client:
                client.put("/users/late", json={}).raise_for_status()
            await asyncio.gather(rare.wait_seen(log.last + 1), everything.wait_seen(log.last + 1))
            return rare, everything

    rare, everything = asyncio.run(resumed())
    # The first user came with the first token.
    assert rare.positions[-len(log.rare) - 1 :] == [*log.rare, log.last + 1]
    assert everything.positions == list(range(log.last - 100_000 + 1, log.last + 2))


def _explained(owner: psycopg.Connection[Any], query: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the plan of a prepared statement, and the number of pages that it read."""
    names = list(asked)
    numbered = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", query)
    types = {"topics": "text[]", "subjects": "text[]", "of_subject": "text[]", "hidden": "text[]"}
    declared = ", ".join(types.get(name, "bigint") for name in names)
    owner.execute(f"PREPARE planned ({declared}) AS {numbered}".encode())
    values = psycopg.sql.SQL(", ").join(
        psycopg.sql.SQL("{}::" + types.get(name, "bigint")).format(value) for name, value in asked.items()
    )
    execute = psycopg.sql.SQL("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE planned ({})")
    row = owner.execute(execute.format(values)).fetchone()
    assert row is not None
    plan: dict[str, Any] = row[0][0]
    return plan


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)
