"""The number of examples: fixed in a normal test run, new ones from a seed in a soak."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings

STEPS = 30


def bounds(examples: int, steps: int = STEPS, **more: Any) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        # The health checks assume fast examples, but these need a database.
        suppress_health_check=list(HealthCheck),
        **more,
    )
