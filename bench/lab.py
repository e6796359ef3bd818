"""A lab whose machines take no time: `python -m bench.lab FQDN...`, with URL and token from the settings.

Each lab controller fetches its commands, and reports their completion and the progress of its machines to
`/updates`; all due reports share a message. A machine reports installation, run and completion in separate
messages, as a real one would.
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

from bench.raw_http import BenchConnection, request
from replay.simulated_lab.behaviour import Behaviour
from replay.simulated_lab.machine import life
from replay.simulated_lab.steps import LabStep
from runtime.settings import Settings

# One tick of the lab for each of boot, installation and task.
TICK = (1.0, 1.0)
BEHAVIOUR = Behaviour(boot_seconds=TICK, install_seconds=TICK, result_seconds=TICK, max_results=1)
WAIT_SECONDS = 5
# Maximum number of reports in one message.
BATCH = 600


class InstantLabController:
    """A lab controller. Each tick lasts as long as the sending of its due reports."""

    def __init__(self, url: str, token: str, fqdn: str) -> None:
        self._url, self._token = url, token
        self._path = f"/lab-controllers/{quote(fqdn)}"
        self._agenda: list[tuple[float, int, LabStep]] = []
        self._numbers = count()
        self._tick = 0.0
        self._last_command = 0

    async def work(self) -> None:
        connection = await BenchConnection.connected(self._url)
        while True:
            commands = await self._commands(connection)
            self._take(commands)
            due = [{"command": {"id": command["id"], "state": "completed"}} for command in commands]
            due += self._due()
            for first in range(0, len(due), BATCH):
                await self._report(connection, due[first : first + BATCH])

    async def _commands(self, connection: BenchConnection) -> list[dict[str, Any]]:
        wait = 0 if self._agenda else WAIT_SECONDS
        path = f"{self._path}/commands?after={self._last_command}&wait_seconds={wait}"
        answer = orjson.loads(await connection.send(request("GET", path, self._token)))
        commands: list[dict[str, Any]] = answer["commands"]
        return commands

    def _take(self, commands: Sequence[Mapping[str, Any]]) -> None:
        for command in commands:
            self._last_command = int(command["id"])
            if command["kind"] == "provision":
                for step in life(command, BEHAVIOUR, self._tick):
                    heapq.heappush(self._agenda, (step.due_seconds, next(self._numbers), step))

    def _due(self) -> Iterator[dict[str, Any]]:
        self._tick += TICK[0]
        while self._agenda and self._agenda[0][0] <= self._tick:
            step = heapq.heappop(self._agenda)[-1]
            yield {"progress": {"recipe_id": step.recipe_id, **step.body}}

    async def _report(self, connection: BenchConnection, items: Sequence[Mapping[str, Any]]) -> None:
        body = orjson.dumps({"items": items})
        path = f"{self._path}/updates"
        answer = await connection.send(request("POST", path, self._token, body, "application/json"))
        refused = [item for item in orjson.loads(answer)["items"] if item["status"] != 200]
        assert not refused, refused[0]


async def _all(fqdns: Sequence[str]) -> None:
    settings = Settings.read()
    url, token = str(settings.url), str(settings.token)
    await asyncio.gather(*(InstantLabController(url, token, fqdn).work() for fqdn in fqdns))


if __name__ == "__main__":
    asyncio.run(_all(sys.argv[1:]))
