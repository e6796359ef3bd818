"""Answers of explaining processes as additions to reads, which do without while a process reads the log."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Final, TypeVar

from api.rest.ports import ExplainParts
from domain.partition_numbers import PartitionIdentity
from projections.reader import At
from runtime.processes.child import ChildFailed
from workers.explaining.explainer import StillReading

# Maximum wait for the explaining process, which may have to read the log first.
WAIT_SECONDS: Final = 5.0

T = TypeVar("T")


async def ask(
    parts: ExplainParts, identity: PartitionIdentity, about: str, at: At, **question: Any
) -> dict[str, Any]:
    """Return an answer of the explaining process of a partition, empty if there is none in time."""
    # The present is the end of the log: an earlier position would cost a second state of the scheduler.
    position = None if at.moment is None else at.position
    return await in_time(parts.explainers.ask(identity, about, at=position, **question)) or {}


async def in_time(answering: Awaitable[T]) -> T | None:
    """Return an answer for which an explaining process is asked, None if there is none in time."""
    try:
        return await asyncio.wait_for(answering, WAIT_SECONDS)
    except (TimeoutError, StillReading, ChildFailed):
        return None
