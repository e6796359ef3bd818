"""Answers of explaining processes as additions to reads, which do without while a process reads the log."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from api.rest.ports import ExplainParts
from domain.partition_numbers import PartitionIdentity
from projections.reader import At
from runtime.processes.child import ChildFailed
from workers.explaining.explainer import StillReading

# Maximum wait for the explaining process, which may have to read the log first.
WAIT_SECONDS: Final = 5.0


async def ask(
    parts: ExplainParts, identity: PartitionIdentity, about: str, at: At, **question: Any
) -> dict[str, Any]:
    """Return an answer of the explaining process of a partition, empty if there is none in time."""
    # The present is the end of the log: an earlier position would cost a second state of the scheduler.
    position = None if at.moment is None else at.position
    try:
        asking = parts.explainers.ask(identity, about, at=position, **question)
        return await asyncio.wait_for(asking, WAIT_SECONDS)
    except (TimeoutError, StillReading, ChildFailed):
        return {}
