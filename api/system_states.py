"""The states of systems, which a serving process takes from the snapshots of the schedulers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from itertools import islice
from typing import Final

from domain.directory.partitions import identities
from domain.directory.state import Directory
from domain.partition_numbers import PartitionIdentity
from store.aggregates import Aggregates
from store.event_log import EventLog
from store.snapshots import Snapshots, UnreadableSnapshot

logger = logging.getLogger(__name__)

# After an upgrade, the first snapshot of the new code may take minutes.
INTERVAL_SECONDS: Final = 30.0
SYSTEMS_AT_ONCE: Final = 200


class SystemStates:
    """The systems of all partitions, which are adopted once for each. Mutable; for one event loop."""

    def __init__(self, log: EventLog, directory: Directory, caches: Sequence[Aggregates]) -> None:
        self._log = log
        self._directory = directory
        self._caches = caches
        self._adopted: set[PartitionIdentity] = set()

    async def adopt(self) -> None:
        """Adopt the systems of each partition that has a snapshot. Raises DatabaseAway.

        An unreadable snapshot is read again the next time, when there may be a newer one.
        """
        for identity in identities(self._directory):
            if identity not in self._adopted:
                try:
                    is_adopted = await asyncio.to_thread(self._adopt, identity)
                except UnreadableSnapshot as error:
                    logger.debug("%s", error)
                else:
                    if is_adopted:
                        self._adopted.add(identity)

    def _adopt(self, identity: PartitionIdentity) -> bool:
        """Return whether there was a snapshot."""
        systems = Snapshots(self._log, identity).systems()
        if systems is None:
            return False
        while some := list(islice(systems, SYSTEMS_AT_ONCE)):
            for cache in self._caches:
                cache.adopt(some)
        return True
