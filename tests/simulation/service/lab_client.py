"""The server as the `LabLink` of a lab controller calls it: `api.client.Client` without HTTP."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from typing import Any

import orjson

from api.client import Client, ServerProblem
from api.parts import Parts
from api.rest.context import Principal
from api.rest.contract.inputs.labs import Registration
from api.rest.problems import problem_of
from api.rest.resources.update_items import ItemReader
from api.rest.resources.updates import part_of, read_items
from api.use_cases.lab_updates import take_updates
from api.use_cases.ports import RequestContext
from api.use_cases.register_lab import take_part
from api.use_cases.resolve import existing
from domain.directory.partitions import number_of_lab
from domain.directory.roles import LAB_CONTROLLER
from domain.errors import LabledgerError, Unknown
from tests.simulation.service.network import ANSWER_SECONDS, Asker, Network

# An idle lab controller polls more slowly, so that an idle day takes few steps.
POLL_STRETCH = 8


class LabClient:
    """Answers the requests of a lab controller by their paths; `instance` is its start."""

    def __init__(self, network: Network, fqdn: str, instance: str) -> None:
        self.position: int | None = None
        self._instance = instance
        self._asker = Asker(network, fqdn, "lab_controller")
        self._fqdn = fqdn
        self._keys = 0

    path = staticmethod(Client.path)

    def get(self, path: str, *, min_position: int | None = None, wait_seconds: int = 0, **asked: Any) -> Any:
        kind, name, *below = path.strip("/").split("/")
        if kind == "lab-controllers":
            if below[:1] == ["power-settings"]:
                # No system of the simulation has any, and to ask for them would be a step of the story.
                raise ServerProblem(404, "Not found", path)
            return self._commands(asked["after"], wait_seconds * POLL_STRETCH) if below else self._own()
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

    def _own(self) -> Any:
        async def read(services: Parts, _: RequestContext) -> Any:
            directory = services.feed.directory
            number = number_of_lab(directory, self._fqdn)
            return {"partition": directory.partition_names.get(number)}

        return self._asker.ask(read)

    def post(self, path: str, body: Any) -> Any:
        """Process the items of one message and answer them as `/updates` or `/registration` does."""
        return self._register(body) if path.endswith("/registration") else self._update(body)

    def _register(self, body: Any) -> Any:
        self._keys += 1
        content = orjson.dumps(body)

        async def register(services: Parts, request: RequestContext) -> Any:
            principal = Principal(request.actor, LAB_CONTROLLER, self._fqdn, "")
            message = Registration.model_validate(body)
            documents = [{"running": document} for document in message.running]
            items, faulty = read_items(ItemReader(services, principal, self._fqdn), documents)
            part = part_of(message, items, faulty, sha256(content).digest())
            answers = await take_part(services, request, self._fqdn, self._fqdn, part)
            end = await asyncio.to_thread(services.log.end)
            return end, [_shown(answers[number]) for number in range(len(documents))]

        end, shown = self._asker.ask(register, key=f"{self._fqdn}/{self._instance}/{self._keys}")
        self.position = max(self.position or 0, end)
        return {"running": shown}

    def _update(self, body: Any) -> Any:
        self._keys += 1

        async def update(services: Parts, request: RequestContext) -> Any:
            principal = Principal(request.actor, LAB_CONTROLLER, self._fqdn, "")
            reader = ItemReader(services, principal, self._fqdn)
            items = {number: reader.read(item, 1) for number, item in enumerate(body["items"])}
            answers = await take_updates(services, request, self._fqdn, items)
            end = await asyncio.to_thread(services.log.end)
            return end, [_shown(answers[number]) for number in items]

        end, shown = self._asker.ask(update, key=f"{self._fqdn}/{self._instance}/{self._keys}")
        self.position = max(self.position or 0, end)
        return {"items": shown}


def _shown(answer: Any) -> dict[str, Any]:
    return problem_of(answer) if isinstance(answer, LabledgerError) else {"status": 200}
