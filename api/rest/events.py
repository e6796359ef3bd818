"""/events: the log, by pages or as it happens."""

from __future__ import annotations

import asyncio

from falcon.asgi import Request, Response

from api.intake.limits import WORDS_LENGTH
from api.rest import reading
from api.rest.watchers import Selection, Watchers, shown
from api.services import Services
from domain.errors import Fault
from domain.events import TOPICS


class Events:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._watchers = Watchers(services)

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
            self._watchers.watch(req, resp, after, selection)
            return
        await self._page(req, resp, after, limit, selection)

    async def _page(self, req: Request, resp: Response, after: int, limit: int, selection: Selection) -> None:
        upto = await asyncio.to_thread(self._services.log.end)
        select = self._services.log.select
        found, through = await asyncio.to_thread(
            select, after, upto, limit, selection.topics, selection.subject
        )
        following = through if through < upto else None
        reading.answer(resp, through, {"events": [shown(one) for one in found], "next": following})
