"""Watchers without a network or a database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import cast

from api.watching.broadcast import Broadcast
from api.watching.message import EventMessage
from api.watching.watcher import Watcher
from domain.directory.events import PoolSystemAdded
from domain.events import Event, Recorded, Stamp
from domain.partition_numbers import DEFAULT_NUMBER
from domain.recipe.events import RecipeQueued
from domain.system.events import SystemIdle
from store.event_log import EventLog
from store.selection import Selection

AT = datetime(2026, 1, 1, tzinfo=UTC)
STAMP = Stamp(AT, "tester", "request/test")
NAMES = {1: "default", 2: "other"}


def happened(
    position: int,
    subject: str = "recipe/1",
    reason: str = "busy",
    partition: int = DEFAULT_NUMBER,
    actor: str = STAMP.actor,
) -> Recorded:
    event: Event = RecipeQueued(reason) if subject.startswith("recipe/") else SystemIdle()
    if subject.startswith("pool/"):
        event = PoolSystemAdded(system="a")
    stamp = Stamp(AT, actor, STAMP.cause)
    return Recorded(position, position, AT, subject, position, event, stamp, partition)


class FakeLine:
    def __init__(self) -> None:
        self.is_aborted = False

    def abort(self) -> None:
        self.is_aborted = True


class FakeLog:
    """A log for queries only, which raises the next of its `faults` while there are any."""

    def __init__(self, *recorded: Recorded) -> None:
        self.recorded = recorded
        self.faults: list[Exception] = []

    def select(
        self, after: int, upto: int, limit: int, selection: Selection, size_bytes: int
    ) -> tuple[Sequence[Recorded], int]:
        if self.faults:
            raise self.faults.pop()
        found = [one for one in self.recorded if after < one.position <= upto][:limit]
        return found, found[-1].position if len(found) == limit else upto


class Audience:
    """A broadcast that starts after a position, with readers of what its watchers send."""

    def __init__(self, after: int = 0, log: FakeLog | None = None) -> None:
        self.broadcast = Broadcast(cast(EventLog, log or FakeLog()), NAMES)
        self.broadcast.begin(after)
        self.lines: list[FakeLine] = []

    def watch(
        self, selection: Selection, after: int, still_allowed: Callable[[], bool] = lambda: True
    ) -> Watcher:
        self.lines.append(FakeLine())
        return self.broadcast.watch(selection, after, self.lines[-1], still_allowed)

    def append(self, *recorded: Recorded) -> None:
        messages = [EventMessage.from_recorded(one, NAMES) for one in recorded]
        self.broadcast.take(messages, [100 for _ in recorded])


async def read(watcher: Watcher, chunks: list[bytes]) -> None:
    """Read everything, as a server whose network takes every piece."""
    try:
        async for chunk in watcher:
            chunks.append(chunk)  # noqa: PERF401  (seen as it comes)
    finally:
        await watcher.close()


async def reading(watcher: Watcher) -> tuple[asyncio.Task[None], list[bytes]]:
    """Start a reader, and return it when it has read everything."""
    chunks: list[bytes] = []
    task = asyncio.create_task(read(watcher, chunks))
    await settled()
    return task, chunks


async def settled() -> None:
    """Let all tasks run until they wait."""
    for _ in range(20):
        await asyncio.sleep(0.001)
