"""/events: the log, by pages or as it happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from falcon.asgi import Request, Response, SSEvent

from api.intake.limits import WORDS_LENGTH
from api.rest import reading
from api.services import Services
from domain.errors import Fault
from domain.events import TOPICS, Recorded, data_of

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


class Events:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def on_get(self, req: Request, resp: Response) -> None:
        faults = reading.unknown_params(req, "after", "limit", "types", "subject", "min_position")
        last_id = req.get_header("Last-Event-ID")
        after = reading.integer(req, "after", 0, reading.MAX_POSITION, 0, faults)
        limit = reading.integer(req, "limit", 1, reading.MAX_LIMIT, reading.DEFAULT_LIMIT, faults)
        if last_id is not None and last_id.isascii() and last_id.isdigit() and len(last_id) < 19:
            after = int(last_id)
        elif last_id is not None:
            faults.append(Fault("Last-Event-ID", f"{last_id!r} is no position"))
        topics = req.get_param_as_list("types", delimiter=",") or ()
        faults += [
            Fault("types", f"{topic[:WORDS_LENGTH]!r} is no topic") for topic in topics if topic not in TOPICS
        ]
        reading.check_params(faults)
        selection = Selection(tuple(topics) or None, req.get_param("subject"))
        if "text/event-stream" in (req.accept or ""):
            resp.sse = self._stream(after, selection)
            return
        await self._page(req, resp, after, limit, selection)

    async def _page(self, req: Request, resp: Response, after: int, limit: int, selection: Selection) -> None:
        upto = await asyncio.to_thread(self._services.log.end)
        found, through = await self._select(after, upto, limit, selection)
        following = through if through < upto else None
        reading.answer(resp, through, {"events": [shown(one) for one in found], "next": following})

    async def _stream(self, after: int, selection: Selection) -> AsyncIterator[SSEvent | None]:
        """Everything after a position, then whatever comes; a ping keeps the line and finds the dead."""
        feed = self._services.feed
        position = after
        while not feed.closing:
            upto = feed.position
            while position < upto:
                batch = feed.recent(position, BATCH)
                if batch is None:
                    batch, position = await self._select(position, upto, BATCH, selection)
                elif batch:
                    position = batch[-1].position
                for recorded in batch:
                    if selection.has(recorded):
                        yield _server_sent(recorded)
            if not await feed.moved_past(position, PING_SECONDS):
                yield None

    async def _select(
        self, after: int, upto: int, limit: int, selection: Selection
    ) -> tuple[Sequence[Recorded], int]:
        select = self._services.log.select
        return await asyncio.to_thread(select, after, upto, limit, selection.topics, selection.subject)


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
