"""The log as it happens: server-sent events for whoever watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from falcon.asgi import Request, Response, SSEvent

from api.services import Services
from domain.events import Recorded, data_of

PING_SECONDS = 15.0
BATCH = 100


@dataclass(frozen=True)
class Selection:
    """Which events somebody wants to see; None: all."""

    topics: tuple[str, ...] | None
    subject: str | None

    def has(self, recorded: Recorded) -> bool:
        if self.subject is not None and recorded.subject != self.subject:
            return False
        return self.topics is None or recorded.event.TOPIC in self.topics


class Watchers:
    def __init__(self, services: Services) -> None:
        self._services = services

    def watch(self, req: Request, resp: Response, after: int, selection: Selection) -> None:
        """Answer with everything after a position, and then with whatever comes."""
        resp.sse = self._stream(after, selection)

    async def _stream(self, after: int, selection: Selection) -> AsyncIterator[SSEvent | None]:
        """Everything after a position, then whatever comes; a ping keeps the line and finds the dead."""
        feed = self._services.feed
        position = after
        while not feed.closing:
            upto = feed.position
            while position < upto:
                batch = feed.recent(position, BATCH)
                if batch is None:
                    batch, position = await self._select(position, upto, selection)
                elif batch:
                    position = batch[-1].position
                for recorded in batch:
                    if selection.has(recorded):
                        yield _server_sent(recorded)
            if not await feed.moved_past(position, PING_SECONDS):
                yield None

    async def _select(self, after: int, upto: int, selection: Selection) -> tuple[Sequence[Recorded], int]:
        select = self._services.log.select
        return await asyncio.to_thread(select, after, upto, BATCH, selection.topics, selection.subject)


def shown(recorded: Recorded) -> dict[str, Any]:
    """An event as api.md has it."""
    stamp, basis = recorded.stamp, recorded.stamp.basis
    body: dict[str, Any] = {
        "position": recorded.position,
        "topic": recorded.event.TOPIC,
        "version": recorded.version,
        "subject": recorded.subject,
        "at": stamp.at,
        "recorded_at": recorded.recorded_at,
        "actor": stamp.actor,
        "cause": stamp.cause,
        "basis": basis.position if basis else None,
        "commit_end": recorded.commit_end,
        "data": data_of(recorded.event),
    }
    if basis is not None:
        body |= {
            "now": basis.now,
            "epoch": basis.epoch,
            "policy_version": basis.policy_version,
            "number": stamp.number,
        }
    return body


def _server_sent(recorded: Recorded) -> SSEvent:
    data = orjson.dumps(shown(recorded), option=orjson.OPT_UTC_Z)
    return SSEvent(data=data, event=recorded.event.TOPIC, event_id=str(recorded.position))
