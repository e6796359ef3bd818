"""Clients of the explaining processes of all partitions."""

from __future__ import annotations

import asyncio
from typing import Any

from domain.partition_numbers import PartitionIdentity
from workers.explaining.explainer import Explainer


class Explainers:
    """The clients of the explaining processes, one for each partition. Use it in one event loop."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._by_number: dict[int, Explainer] = {}

    async def ask(self, identity: PartitionIdentity, about: str, **request: Any) -> dict[str, Any]:
        """Return the answer of the process of a partition, as `Explainer.ask` does."""
        explainer = self._by_number.get(identity.number)
        if explainer is None:
            explainer = self._by_number[identity.number] = Explainer(self._url, identity)
        return await explainer.ask(about, **request)

    async def close(self) -> None:
        """Kill the processes. Requests in progress or in a queue fail."""
        await asyncio.gather(*(explainer.close() for explainer in self._by_number.values()))
