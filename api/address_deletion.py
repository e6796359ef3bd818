"""The deletion of addresses of clients after their time, which a serving process repeats."""

from __future__ import annotations

import asyncio
from typing import Final

from store.addresses import DELETED_AT_ONCE, delete_old_addresses
from store.event_log import EventLog

INTERVAL_SECONDS: Final = 600.0
# Between two batches, so that appends are not delayed.
PAUSE_SECONDS: Final = 0.1


async def delete_addresses(log: EventLog, days: int) -> None:
    """Delete all old addresses, in batches. With 0 `days` these are what an earlier setting has kept."""
    while await asyncio.to_thread(delete_old_addresses, log, days) == DELETED_AT_ONCE:
        await asyncio.sleep(PAUSE_SECONDS)
