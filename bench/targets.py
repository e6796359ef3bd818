"""Performance targets, with 10,000 systems and 100,000 queued recipes of 2,000 distinct filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.outcome import Sizes

SYSTEMS, QUEUED, FILTERS, EVENTS = 10_000, 100_000, 2_000, 1_000_000
# Number of recipes that end per second.
RATE = 50.0


@dataclass(frozen=True)
class Target:
    """A bound of a figure: its minimum, or with `is_maximum` its maximum."""

    case: str
    figure: str
    bound: float
    is_maximum: bool = False

    def is_met(self, value: float) -> bool:
        return value <= self.bound if self.is_maximum else value >= self.bound

    def __str__(self) -> str:
        return f"{'at most' if self.is_maximum else 'at least'} {self.bound:,g}"


def _maximum(case: str, figure: str, bound: float) -> Target:
    return Target(case, figure, bound, is_maximum=True)


TARGETS: Mapping[tuple[str, str], Target] = {
    (target.case, target.figure): target
    for target in (
        _maximum("pending", "p50_ms", 5),
        _maximum("pending", "p99_ms", 20),
        Target("saturated", "allocations_per_second", 10_000),
        Target("saturated", "of_raw_insert", 0.25),
        _maximum("saturated", "projectors_behind_seconds", 10),
        _maximum("partitions", "reread_percent", 1),
        _maximum("flood", "times_slower", 2),
        _maximum("flood", "removal_folded_ms", 1_000),
        Target("submit", "jobs_per_second", 2_500),
        _maximum("submit", "p99_ms", 25),
        Target("lifecycle", "recipes_per_second", 1_000),
        _maximum("multihost", "held_longer_than_needed_max_ms", 0),
        _maximum("multihost", "systems_held_for_ever", 0),
        _maximum("multihost", "times_slower_than_single", 3),
        _maximum("start", "cold_seconds", 30),
        _maximum("start", "from_snapshot_seconds", 2),
        _maximum("start", "peak_mb", 1_000),
        Target("rebuild", "events_per_second", 50_000),
        Target("verify", "decisions_per_second", 5_000),
        _maximum("verify", "different", 0),
        _maximum("verify", "rules_broken", 0),
        _maximum("query", "p99_ms", 100),
        _maximum("query", "worst_resource_p99_ms", 100),
        _maximum("search", "p99_ms", 100),
        _maximum("search", "worst_search_p99_ms", 100),
        _maximum("query", "results_of_200_p99_ms", 200),
        _maximum("explanation", "p99_ms", 200),
        _maximum("change", "policy_seconds", 1),
        _maximum("change", "inventory_seconds", 1),
        _maximum("change", "limit_raised_seconds", 1),
        _maximum("change", "filter_put_seconds", 1),
        _maximum("change", "filter_removed_seconds", 1),
        _maximum("change", "registration_seconds", 10),
        _maximum("locks", "p99_ms", 20),
        _maximum("pages", "other_pages_p99_ms", 150),
        _maximum("pages", "why_p99_ms", 400),
        _maximum("pages", "queue_p99_ms", 300),
        _maximum("pages", "results_p99_ms", 200),
        _maximum("pages", "lab_p99_ms", 200),
        _maximum("pages", "usage_p99_ms", 300),
        _maximum("pages", "p50_times", 1.25),
        _maximum("pages", "p99_times", 1.25),
        _maximum("pages", "healthz_p99_ms", 50),
        _maximum("pages", "seen_p99_ms", 2_000),
        # Only where Chromium is.
        _maximum("pages", "largest_paint_ms", 1_000),
        _maximum("pages", "layout_shift", 0.05),
        _maximum("recovery", "scheduler_next_allocation_seconds", 2),
        _maximum("recovery", "api_next_answer_seconds", 2),
        _maximum("recovery", "api_worker_next_answer_seconds", 2),
        _maximum("recovery", "postgresql_next_answer_seconds", 10),
        _maximum("recovery", "postgresql_next_allocation_seconds", 10),
        _maximum("recovery", "systems_with_two_recipes", 0),
    )
}
# Maximum ratio of the p99 of the deepest queue to that of the shallowest.
PENDING_GROWTH = 2.0


def apply_to(sizes: Sizes) -> bool:
    """Return whether the targets apply to figures of these sizes."""
    given = (sizes.systems, sizes.queued, sizes.filters, sizes.events)
    return given == (SYSTEMS, QUEUED, FILTERS, EVENTS) and sizes.sets is None and sizes.rate >= RATE
