"""The state and result of a set or job: the least finished state and the worst result of its members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from domain.recipe.lifecycle import BAD_RESULTS as BAD_RESULTS
from domain.recipe.lifecycle import GIVEN_UP

# Least finished first: one running recipe makes its job running. The final states are ordered worst first.
STATE_ORDER = (
    "running",
    "installing",
    "waiting",
    "new",
    "assigned",
    "queued",
    "scheduled",
    "reserved",
    "aborted",
    "cancelled",
    "completed",
)
RESULT_ORDER = ("New", "None", "Skip", "Pass", "Warn", "Fail", "Panic")
# The best possible result of a cancelled or aborted task or recipe, and therefore of its set and job.
GIVEN_UP_RESULT = "Warn"

_STATE_RANK = {state: rank for rank, state in enumerate(STATE_ORDER)}
_RESULT_RANK = {result: rank for rank, result in enumerate(RESULT_ORDER)}


def state_of(states: Iterable[str]) -> str:
    return min(states, key=_STATE_RANK.__getitem__)


def result_of(results: Iterable[str]) -> str:
    """Return the worst result, or `New` without results."""
    return max(results, key=_RESULT_RANK.__getitem__, default="New")


def failures_first(results: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return reported results with the failures first, otherwise in their order."""
    return sorted(results, key=lambda each: each["result"] not in BAD_RESULTS)


def result_in(state: str, result: str) -> str:
    """Return the result of a task or recipe in a state: at least Warn once it is cancelled or aborted."""
    return result_of((result, GIVEN_UP_RESULT)) if state in GIVEN_UP else result
