"""A lab whose machines take no time: `python -m api.bench.lab FQDN...`, with URL and token from its settings.

Each lab controller takes its commands, reports on each, and says what its machines do in `/updates`, what is
due at once in one message. A machine is said to install, to run, and to be done, one after the other: three
messages, as they would come from a real one.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any
from urllib.parse import quote

import orjson

from api.bench.wire import Wire, request
from api.settings import Settings
from replay.behaviour import Behaviour
from replay.simulated_machine import life
from replay.steps import Step

# One tick of the lab for each of boot, installation and task.
TICK = (1.0, 1.0)
BEHAVIOUR = Behaviour(boot_seconds=TICK, install_seconds=TICK, result_seconds=TICK, most_results=1)
WAIT_SECONDS = 5
# What one message carries at most.
BATCH = 600
REPORTERS = 4


class LabController:
    """Each of its ticks is as long as it takes to say what is due in it."""

    def __init__(self, url: str, token: str, fqdn: str) -> None:
        self._url, self._token = url, token
        self._path = f"/lab-controllers/{quote(fqdn)}"
        self._agenda: list[tuple[float, int, Step]] = []
        self._numbers = count()
        self._tick = 0.0
        self._last_command = 0

    async def work(self) -> None:
        asking = await Wire.connected(self._url)
        reporters = [await Wire.connected(self._url) for _ in range(REPORTERS)]
        while True:
            commands = await self._commands(asking)
            self._take(commands)
            await asyncio.gather(
                self._say(asking),
                *(self._report(wire, commands[first::REPORTERS]) for first, wire in enumerate(reporters)),
            )

    async def _commands(self, wire: Wire) -> list[dict[str, Any]]:
        wait = 0 if self._agenda else WAIT_SECONDS
        path = f"{self._path}/commands?after={self._last_command}&wait_seconds={wait}"
        answer = orjson.loads(await wire.ask(request("GET", path, self._token)))
        commands: list[dict[str, Any]] = answer["commands"]
        return commands

    def _take(self, commands: Sequence[Mapping[str, Any]]) -> None:
        for command in commands:
            self._last_command = int(command["id"])
            if command["kind"] == "provision":
                for step in life(command, BEHAVIOUR, self._tick):
                    heapq.heappush(self._agenda, (step.due_seconds, next(self._numbers), step))

    async def _say(self, wire: Wire) -> None:
        """What is due now."""
        self._tick += TICK[0]
        while self._agenda and self._agenda[0][0] <= self._tick:
            due: list[Step] = []
            while self._agenda and self._agenda[0][0] <= self._tick and len(due) < BATCH:
                due.append(heapq.heappop(self._agenda)[-1])
            items = [{"progress": {"recipe_id": step.recipe_id, **step.body}} for step in due]
            body = orjson.dumps({"items": items})
            path = f"{self._path}/updates"
            answer = await wire.ask(request("POST", path, self._token, body, "application/json"))
            refused = [one for one in orjson.loads(answer)["items"] if one["status"] != 200]
            assert not refused, refused[0]

    async def _report(self, wire: Wire, commands: Sequence[Mapping[str, Any]]) -> None:
        for command in commands:
            path = f"{self._path}/commands/{command['id']}"
            body = b'{"state":"completed"}'
            await wire.ask(request("PATCH", path, self._token, body, "application/json"))


async def _all(fqdns: Sequence[str]) -> None:
    settings = Settings.read()
    url, token = str(settings.url), str(settings.token)
    await asyncio.gather(*(LabController(url, token, fqdn).work() for fqdn in fqdns))


if __name__ == "__main__":
    asyncio.run(_all(sys.argv[1:]))
