"""What is to be reached, with 10,000 systems and 100,000 queued recipes of 2,000 distinct filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.outcome import Sizes

SYSTEMS, QUEUED, FILTERS, EVENTS = 10_000, 100_000, 2_000, 1_000_000
# Endings a second.
RATE = 50.0


@dataclass(frozen=True)
class Target:
    """`bound` is the least that a figure may be, or the most."""

    case: str
    figure: str
    bound: float
    at_most: bool = False

    def is_met(self, value: float) -> bool:
        return value <= self.bound if self.at_most else value >= self.bound

    def __str__(self) -> str:
        return f"{'at most' if self.at_most else 'at least'} {self.bound:,g}"


def _most(case: str, figure: str, bound: float) -> Target:
    return Target(case, figure, bound, at_most=True)


TARGETS: Mapping[tuple[str, str], Target] = {
    (target.case, target.figure): target
    for target in (
        _most("pending", "p50_ms", 5),
        _most("pending", "p99_ms", 20),
        Target("saturated", "allocations_per_second", 5_000),
        Target("saturated", "of_raw_insert", 0.25),
        _most("saturated", "projectors_behind_seconds", 10),
        Target("submit", "jobs_per_second", 1_000),
        _most("submit", "p99_ms", 50),
        Target("lifecycle", "recipes_per_second", 300),
        _most("multihost", "held_longer_than_needed_max_ms", 0),
        _most("multihost", "systems_held_for_ever", 0),
        _most("multihost", "times_slower_than_single", 3),
        _most("start", "cold_seconds", 30),
        _most("start", "from_snapshot_seconds", 2),
        _most("start", "peak_mb", 1_000),
        Target("rebuild", "events_per_second", 50_000),
        Target("verify", "decisions_per_second", 5_000),
        _most("verify", "different", 0),
        _most("verify", "rules_broken", 0),
        _most("query", "p99_ms", 100),
        _most("query", "worst_resource_p99_ms", 100),
        _most("explanation", "p99_ms", 200),
        _most("change", "policy_seconds", 1),
        _most("change", "inventory_seconds", 1),
        _most("recovery", "scheduler_next_allocation_seconds", 2),
        _most("recovery", "api_next_answer_seconds", 2),
        _most("recovery", "api_worker_next_answer_seconds", 2),
        _most("recovery", "postgresql_next_answer_seconds", 10),
        _most("recovery", "postgresql_next_allocation_seconds", 10),
        _most("recovery", "systems_with_two_recipes", 0),
    )
}
# The p99 of the deepest queue, in times that of the shallowest.
PENDING_GROWTH = 2.0


def are_said_of(sizes: Sizes) -> bool:
    """Whether figures of these sizes may be held against them."""
    asked = (sizes.systems, sizes.queued, sizes.filters, sizes.events)
    return asked == (SYSTEMS, QUEUED, FILTERS, EVENTS) and sizes.sets is None and sizes.rate >= RATE
