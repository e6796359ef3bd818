"""A long log of copies: whole, and read by the services like the decided events that were copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from bench import run
from bench.cases import long_log
from bench.cluster_fixture import BenchCluster, bench_cluster
from bench.copied_past import CannotCopy, copy_past
from bench.history import grow_past
from bench.outcome import Sizes, no_progress
from tests.harness.sessions import owner_session

SIZES = Sizes(systems=40, queued=200, filters=150, sets=None, rate=20, seconds=0.5, seed=1, events=3_000)
WHOLE = b"""
SELECT count(*), max(notification_id),
    bool_and(commit_end >= notification_id AND position_before = notification_id - 1 AND version_before =
        originator_version - 1 AND time_before <= recorded_at)
FROM (
    SELECT *, lag(notification_id, 1, 0::bigint) OVER everything AS position_before,
        lag(recorded_at, 1, recorded_at) OVER everything AS time_before,
        lag(originator_version, 1, 0::bigint) OVER (PARTITION BY originator_id ORDER BY notification_id)
            AS version_before
    FROM log.events WINDOW everything AS (ORDER BY notification_id)
) AS events
"""
LIVES = b"""
SELECT lives, count(*) FROM (
    SELECT originator_id, string_agg(topic || ' ' || coalesce(
        convert_from(state, 'UTF8')::jsonb #>> '{data,system}', ''), ',' ORDER BY originator_version) AS lives
    FROM log.events WHERE originator_id LIKE 'recipe/%' AND notification_id > %s GROUP BY 1
) AS recipes GROUP BY 1 ORDER BY 1
"""
NAMED_TWICE = b"""
SELECT count(*) FROM log.events n JOIN log.events e
    ON e.topic = 'recipe-set.submitted'
    AND convert_from(e.state, 'UTF8')::jsonb #> '{data,recipe_ids}'
        @> to_jsonb(split_part(n.originator_id, '/', 2)::int)
    AND e.commit_end = n.commit_end
WHERE n.topic = 'recipe.new'
"""
READ = b"SELECT state, count(*) FROM read.recipes WHERE until_position = 9223372036854775807 GROUP BY 1"


@pytest.fixture
def cluster() -> Iterator[BenchCluster]:
    with bench_cluster() as made:
        yield made


@pytest.mark.soak
def test_copies__of_a_past__fold_like_the_original_and_other_events_are_refused(
    cluster: BenchCluster,
) -> None:
    past = grow_past(cluster, SIZES, 500, no_progress)
    with pytest.raises(CannotCopy, match="an event of user/admin at position 1"):
        copy_past(cluster.owner_url, 0, 100, no_progress)
    original, end = lives(cluster, past.begin), cluster.log.end()
    copy_past(cluster.owner_url, past.begin, end + 1, no_progress)
    with owner_session(cluster.owner_url) as owner:
        length = end - past.begin
        assert owner.execute(WHOLE).fetchone() == (end + length, end + length, True)
        recipes = sum(count for _, count in original)
        assert lives(cluster, past.begin) == [(life, 2 * count) for life, count in original]
        assert owner.execute(NAMED_TWICE).fetchone() == (2 * recipes,)
        # A new id is one that no copy has.
        (ids,) = cluster.log.take_ids([(1, 1, 1)])
        assert ids.recipes == (2 * recipes + 1,)
        cluster.command("replay", "rebuild")
        assert owner.execute(READ).fetchall() == [("completed", 2 * recipes)]


def lives(cluster: BenchCluster, after: int) -> list[tuple[str, int]]:
    """Return the topics and systems of recipes, and how often each sequence of them occurs."""
    with owner_session(cluster.owner_url) as owner:
        return owner.execute(LIVES.replace(b"%'", b"%%'"), (after,)).fetchall()


@pytest.mark.soak
def test_long_log__small_lab__both_logs_are_measured_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "limits", lambda *_: {})
    monkeypatch.setattr(long_log, "SHORT_EVENTS", 4_000)
    (outcome,) = run.run_together(["long_log"], replace(SIZES, events=12_000))
    figures = outcome.figures
    assert 4_000 <= figures["short_events"] < figures["events"] >= 12_000
    for name in long_log.COMPARED:
        assert figures[name] > 0 and figures[f"short_{name}"] > 0 and figures[f"{name}_times"] > 0
    assert figures["log_events_bytes_per_event"] > 100
