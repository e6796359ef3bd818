"""How much is tried: the same every time where people wait for it, something new from a seed in a soak."""

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
        # A database takes its time, and labs with nothing to do are thrown away by nobody.
        suppress_health_check=list(HealthCheck),
        **more,
    )
