"""The cost of pages of the events of one actor, which read few parts of the log."""

from __future__ import annotations

from typing import Any

from postgres.log_parts import PART_POSITIONS
from store.sql import BACKWARDS, BOUNDED, MAX_PAGE_BYTES
from tests.harness.databases import TestDatabase
from tests.harness.sessions import Owner, owner_session
from tests.projections.projected_log import ProjectedLog
from tests.projections.query_cost import MAX_GROWTH, Queries, pages

FILL = b"""
INSERT INTO log.events
    (originator_id, originator_version, topic, state, notification_id, commit_end, recorded_at, partition)
SELECT 'lab-controller/' || g, 1, 'lab-controller.' || CASE g %% 10 WHEN 0 THEN 'disabled' ELSE 'enabled' END,
       convert_to('{"version":1,"at":"2026-01-01T00:00:00Z","actor":"'
                  || CASE WHEN g %% 20000 = 7 THEN 'rare' ELSE 'lab-' || g %% 7 END
                  || '","cause":"request/1","data":{}}', 'UTF8'), g, g, now(), 1
FROM generate_series(%(first)s::integer, %(last)s::integer) AS g
"""
PARTS = b"""
INSERT INTO read.actor_parts
SELECT convert_from(state, 'UTF8')::json ->> 'actor', notification_id / %s::bigint, min(notification_id)
FROM log.events GROUP BY 1, 2 ON CONFLICT DO NOTHING
"""
MANY = 40_000


def fill(owner: Owner, first: int, last: int) -> None:
    owner.execute(FILL, {"first": first, "last": last})
    owner.execute(PARTS, (PART_POSITIONS,))
    owner.execute("UPDATE read.progress SET position = %s", (last - 10,))


def queries(end: int) -> Queries:
    """Return the queries for a page of a rare actor, of a common one, and of one without such events."""
    asked: dict[str, tuple[str, str, list[str]]] = {
        "rare": ("rare", "all_between", []),
        "common": ("lab-3", "all_between", []),
        "nobody": ("nobody", "all_between", []),
        "topics of a rare one": ("rare", "selected", ["lab-controller.enabled"]),
        "topics that an actor has not": ("lab-3", "selected", ["user.registered"]),
    }
    nothing: dict[str, Any] = {
        "subjects": [],
        "of_subject": None,
        "hidden": [],
        "unseen": [],
        "partition": None,
    }
    return {
        f"{title}, {way}": (
            statements[f"{name}_of_actor"],
            {
                **nothing,
                "actor": actor,
                "topics": topics,
                "after": 0,
                "upto": end,
                "limit": 20,
                "bytes": MAX_PAGE_BYTES,
                "pool_system_topics": [],
            },
        )
        for title, (actor, name, topics) in asked.items()
        for way, statements in (("forwards", BOUNDED), ("backwards", BACKWARDS))
    }


def test_cost__events_of_an_actor_in_a_log_four_times_as_long__pages_read_few_parts(
    models: ProjectedLog, database: TestDatabase
) -> None:
    with owner_session(database.owner_url) as owner:
        fill(owner, 1, MANY)
        before = pages(owner, queries(MANY))
        fill(owner, MANY + 1, 4 * MANY)
        after = pages(owner, queries(4 * MANY))
        (heap,) = next(iter(owner.execute("SELECT pg_relation_size('log.events') / 8192").fetchall()))
    parts = 4 * MANY // PART_POSITIONS
    for title, touched in after.items():
        if title.startswith("topics that"):
            # Only the index of topics is looked up, for each part.
            assert touched < 5 * parts, (title, touched)
        elif title.startswith(("rare", "topics of")):
            # It has four times as many events.
            assert touched < 4 * MAX_GROWTH * before[title] + 5 and touched < heap / 8, (title, touched)
        else:
            assert touched <= MAX_GROWTH * before[title] + 5, (title, touched, before[title])
