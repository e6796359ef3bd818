"""A log of a million events, written as `log.append` would have written it, in one statement."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg

from tests.harness.databases import TestDatabase

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
