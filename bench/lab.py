"""A lab whose machines take no time: `python -m bench.lab FQDN...`, with URL and token from its settings.

Each lab controller takes its commands, and says in `/updates` that it has done them and what its machines do,
what is due at once in one message. A machine is said to install, to run, and to be done, one after the other:
three messages, as they would come from a real one.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any
from urllib.parse import quote

import orjson

from bench.raw_http import Wire, request
from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.machine import life
from replay.simulated_lab.steps import LabStep
from runtime.settings import Settings

# One tick of the lab for each of boot, installation and task.
TICK = (1.0, 1.0)
BEHAVIOUR = Behaviour(boot_seconds=TICK, install_seconds=TICK, result_seconds=TICK, max_results=1)
WAIT_SECONDS = 5
# What one message carries at most.
BATCH = 600


class LabController:
    """Each of its ticks is as long as it takes to say what is due in it."""

    def __init__(self, url: str, token: str, fqdn: str) -> None:
        self._url, self._token = url, token
        self._path = f"/lab-controllers/{quote(fqdn)}"
        self._agenda: list[tuple[float, int, LabStep]] = []
        self._numbers = count()
        self._tick = 0.0
        self._last_command = 0

    async def work(self) -> None:
        wire = await Wire.connected(self._url)
        while True:
            commands = await self._commands(wire)
            self._take(commands)
            due = [{"command": {"id": command["id"], "state": "completed"}} for command in commands]
            due += self._due()
            for first in range(0, len(due), BATCH):
                await self._say(wire, due[first : first + BATCH])

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

    def _due(self) -> Iterator[dict[str, Any]]:
        """What the machines say now."""
        self._tick += TICK[0]
        while self._agenda and self._agenda[0][0] <= self._tick:
            step = heapq.heappop(self._agenda)[-1]
            yield {"progress": {"recipe_id": step.recipe_id, **step.body}}

    async def _say(self, wire: Wire, items: Sequence[Mapping[str, Any]]) -> None:
        body = orjson.dumps({"items": items})
        path = f"{self._path}/updates"
        answer = await wire.ask(request("POST", path, self._token, body, "application/json"))
        refused = [one for one in orjson.loads(answer)["items"] if one["status"] != 200]
        assert not refused, refused[0]


async def _all(fqdns: Sequence[str]) -> None:
    settings = Settings.read()
    url, token = str(settings.url), str(settings.token)
    await asyncio.gather(*(LabController(url, token, fqdn).work() for fqdn in fqdns))


if __name__ == "__main__":
    asyncio.run(_all(sys.argv[1:]))
