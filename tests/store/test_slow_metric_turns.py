"""The turns of serving processes to compute slow metrics: one keeps the turn until it misses one."""

from __future__ import annotations

from store.event_log import EventLog
from store.slow_metric_turns import SlowMetricTurns, UnplacedCount
from tests.harness.sessions import Owner

MISSED = "UPDATE live.slow_metrics SET next_at = now() - interval '61 seconds'"
COUNTS = "SELECT counts FROM live.slow_metrics"


def test_turn__taken_by_one_process__is_its_own_until_it_misses_one(log: EventLog, owner: Owner) -> None:
    first, second = SlowMetricTurns(log), SlowMetricTurns(log)
    assert first.take() == 0
    assert first.save_judged(17)
    assert (first.take(), second.take()) == (None, None)
    first.save_counts([], 0.0)
    assert (second.take(), first.take()) == (None, 17)
    owner.execute(MISSED)
    assert (second.take(), first.take()) == (17, None)


def test_turn__lost_meanwhile__saves_nothing(log: EventLog, owner: Owner) -> None:
    first, second = SlowMetricTurns(log), SlowMetricTurns(log)
    first.take()
    owner.execute(MISSED)
    assert second.take() == 0
    assert not first.save_judged(17)
    first.save_counts([UnplacedCount("unsafe", "High", 3)], 30.0)
    assert owner.execute(COUNTS).fetchone() == ([],)
    assert second.save_judged(18)
