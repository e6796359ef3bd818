"""The server as the `LabLink` of a lab controller calls it: `api.client.Client` without HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

from api.client import Client
from api.parts import Parts
from api.rest.context import Principal
from api.rest.problems import problem_of
from api.rest.resources.update_items import ItemReader
from api.use_cases.lab_updates import take_updates
from api.use_cases.ports import RequestContext
from api.use_cases.resolve import existing
from domain.directory.roles import LAB_CONTROLLER
from domain.errors import LabledgerError, Unknown
from tests.simulation.service.network import ANSWER_SECONDS, Asker, Network

# An idle lab controller polls more slowly, so that an idle day takes few steps.
POLL_STRETCH = 8


class LabClient:
    """Answers the requests of a lab controller by their paths."""

    def __init__(self, network: Network, fqdn: str) -> None:
        self.position: int | None = None
        self._asker = Asker(network, fqdn, "lab_controller")
        self._fqdn = fqdn
        self._keys = 0

    path = staticmethod(Client.path)

    def get(self, path: str, *, min_position: int | None = None, wait_seconds: int = 0, **asked: Any) -> Any:
        kind, name, *_ = path.strip("/").split("/")
        if kind == "lab-controllers":
            return self._commands(asked["after"], wait_seconds * POLL_STRETCH)
        query, params = {
            "recipes": ("recipe", {"recipe_id": int(name)} if kind == "recipes" else {}),
            "systems": ("system", {"fqdn": name}),
        }[kind]

        async def read(services: Parts, _: RequestContext) -> Any:
            await services.reader.reach(min_position or 0, services.max_waits.position_wait_seconds)
            row = await services.reader.row(query, params)
            if row is None:
                raise Unknown(path)
            return row

        return self._asker.ask(read)

    def _commands(self, after: int, wait_seconds: float) -> Any:
        asked = {"lab_controller": self._fqdn, "after": after}

        async def read(services: Parts, _: RequestContext) -> Any:
            await existing(services.feed, "lab-controller", self._fqdn)
            loop = asyncio.get_running_loop()
            deadline, reader = loop.time() + wait_seconds, services.reader
            at = reader.position
            rows = await reader.rows("commands", asked)
            while not rows and loop.time() < deadline:
                await reader.changed(at, deadline - loop.time())
                at = reader.position
                rows = await reader.rows("commands", asked)
            return {"commands": rows}

        return self._asker.ask(read, answer_seconds=ANSWER_SECONDS + wait_seconds)

    def post(self, path: str, body: Any) -> Any:
        """Process the items of one message and answer them as `/updates` does."""
        self._keys += 1

        async def update(services: Parts, request: RequestContext) -> Any:
            principal = Principal(request.actor, LAB_CONTROLLER, self._fqdn, "")
            reader = ItemReader(services, principal, self._fqdn)
            items = {number: reader.read(item, 1) for number, item in enumerate(body["items"])}
            answers = await take_updates(services, request, self._fqdn, items)
            end = await asyncio.to_thread(services.log.end)
            return end, [_shown(answers[number]) for number in items]

        end, shown = self._asker.ask(update, key=f"{self._fqdn}/{self._keys}")
        self.position = max(self.position or 0, end)
        return {"items": shown}


def _shown(answer: Any) -> dict[str, Any]:
    return problem_of(answer) if isinstance(answer, LabledgerError) else {"status": 200}
