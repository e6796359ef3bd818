"""Clients of the explaining processes of all partitions."""

from __future__ import annotations

import asyncio
from typing import Any

from domain.partition_numbers import PartitionIdentity
from workers.explaining.explainer import Explainer
from workers.explaining.follower import PAST, PRESENT, InThePast


class Explainers:
    """The clients of the explaining processes: two for each partition. Use it in one event loop.

    One process of a partition answers about the present, the other one about the past, for which it may read
    the log for seconds. Each caches one state of the scheduler.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._clients: dict[tuple[int, str], Explainer] = {}

    async def ask(
        self, identity: PartitionIdentity, about: str, *, is_past: bool = False, **request: Any
    ) -> dict[str, Any]:
        """Return the answer of a process of a partition, as `Explainer.ask` does.

        A question with a position, `at`, is about the past. So are some without, such as why a recipe got its
        system: the process of the present then refuses. A caller that finds it out before says `is_past`, and
        does not wait for the start of the other process.
        """
        if request.get("at") is None and not is_past:
            try:
                return await self._client(identity, PRESENT).ask(about, **request)
            except InThePast:
                pass
        return await self._client(identity, PAST).ask(about, **request)

    def _client(self, identity: PartitionIdentity, moment: str) -> Explainer:
        client = self._clients.get((identity.number, moment))
        if client is None:
            client = self._clients[identity.number, moment] = Explainer(self._url, identity, moment)
        return client

    async def close(self) -> None:
        """Kill the processes. Requests in progress or in a queue fail."""
        await asyncio.gather(*(client.close() for client in self._clients.values()))
