"""Two thousand watchers of one process, with measurements: `pytest -s` shows them."""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from store.event_log import EventLog
from tests.harness.bulk import SUBJECTS, BulkEvents
from tests.harness.pool import ServerPool
from tests.harness.running import Running
from tests.harness.watching import (
    PATIENCE_SECONDS,
    Watch,
    Watching,
    expected_positions,
    serving,
    whole_log,
    worker_of,
)

pytestmark = pytest.mark.soak

WATCHERS = 2_000
AT_ONCE = 100
DEAF = 50
# The planned memory for all watchers, including those that do not read.
MAX_MEMORY_BYTES = 400 << 20


@pytest.fixture
def served(servers: ServerPool) -> Iterator[Running]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with servers.databases("embedded").fresh() as database, serving(database) as service:
            yield service
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_watchers__two_thousand__each_sees_its_own_and_all_come_back(served: Running) -> None:
    with closing(EventLog(served.database.service_url)) as log:
        asyncio.run(_watched(served, log, BulkEvents(log, words=200)))


async def _watched(service: Running, log: EventLog, busy: BulkEvents) -> None:
    worker, start = worker_of(service), log.end()
    said = [f"before: {_megabytes(worker.memory_bytes())}"]
    async with Watching(service) as watching:
        began = time.monotonic()
        watches = await _all_of(watching, [(start, _filters(number)) for number in range(WATCHERS)])
        said.append(f"{WATCHERS} connected: {time.monotonic() - began:.1f} s")
        said.append(f"then: {_megabytes(worker.memory_bytes())}")
        delays = [await _delay(busy, watches) for _ in range(5)]
        said.append(f"one event, until the last one has it: {statistics.median(delays):.2f} s")
        for one in watches[:DEAF]:
            one.stop_reading()
        used, began = worker.cpu_seconds(), time.monotonic()
        for _ in range(50):
            await asyncio.to_thread(busy.append, 4)
            await asyncio.sleep(0.1)
        await _check(service, watches[DEAF:])
        said.append(
            f"200 more in {time.monotonic() - began:.1f} s: {worker.cpu_seconds() - used:.1f} s of CPU"
        )
        for one in watches:
            one.close()
        await asyncio.to_thread(busy.append, 500)
        began = time.monotonic()
        again = await _all_of(watching, [(one.last_id, one.filters) for one in watches])
        await _check(service, again)
        said.append(f"all back, with 500 events missed: {time.monotonic() - began:.1f} s")
        said.append(f"then: {_megabytes(worker.memory_bytes())}")
        assert worker.memory_bytes() < MAX_MEMORY_BYTES
    print("", *said, sep="\n")


def _filters(number: int) -> dict[str, str]:
    """Return the filters of a watcher: half of them take all events, the others a recipe or a topic."""
    if number % 2 == 0:
        return {}
    return {"subject": f"recipe/{SUBJECTS + number}"} if number % 4 == 1 else {"types": "system.drained"}


async def _all_of(watching: Watching, asked: list[tuple[int, dict[str, str]]]) -> list[Watch]:
    watches: list[Watch] = []
    for first in range(0, len(asked), AT_ONCE):
        begun = [_admitted(watching, after, filters) for after, filters in asked[first : first + AT_ONCE]]
        watches += await asyncio.gather(*begun)
    assert {one.status for one in watches} == {200}
    return watches


async def _admitted(watching: Watching, after: int, filters: dict[str, str]) -> Watch:
    """Start a watcher, and retry while it is refused: the places of closed watchers become free late."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (one := await watching.watch(after, **filters)).status == 503:
            await asyncio.sleep(one.retry_after_seconds)
    return one


async def _delay(busy: BulkEvents, watches: list[Watch]) -> float:
    end = await asyncio.to_thread(busy.append, 1)
    began = time.monotonic()
    await asyncio.gather(*(one.wait_seen(end) for one in watches if not one.filters))
    return time.monotonic() - began


async def _check(service: Running, watches: list[Watch]) -> None:
    whole = await asyncio.to_thread(whole_log, service)
    for one in watches:
        expected = expected_positions(whole, one)
        await one.wait_seen_all(expected)
        assert one.positions == expected, f"after {one.after}, {one.filters}"


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.0f} MB of memory"
