"""Fields of sets that depend on jobs and sets."""

from __future__ import annotations

from typing import Any

from domain.admission.dependencies import FINAL_STATES


def on(kind: str, number: int, *states: str) -> dict[str, Any]:
    """Return the field of an event of a set that depends on a job or set, in these states or in any."""
    return {"depends_on": [{kind: number, "states": states or FINAL_STATES}]}
