"""Watchers of the log: each gets the selected events once and in order, and does not delay the others."""

from __future__ import annotations

import asyncio
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from api.watching.capacity import RESERVED_FILES
from store.event_log import EventLog
from tests.harness.bulk import BulkEvents
from tests.harness.pool import ServerPool
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.harness.watching import Watch, Watching, expected_positions, serving, whole_log, worker_of

SELECTIONS: tuple[dict[str, str], ...] = (
    {},
    {"types": "recipe.queued"},
    {"types": "recipe.aborted,system.drained"},
    {"subject": "recipe/*"},
    {"subject": "recipe/2007"},
    # Topics of one kind of subject, and one of another kind.
    {"subject": "system/*,recipe/2007"},
    {"subject": "recipe/2007,recipe/2008,system/s2009.example.com"},
    {"subject": "recipe/*", "types": "recipe.queued,system.idle"},
    {"subject": "recipe/2007,recipe/2008", "types": "recipe.running"},
    # No event has this subject.
    {"subject": "recipe/999999"},
)


@pytest.fixture(scope="module")
def served(servers: ServerPool) -> Iterator[Running]:
    with servers.databases("embedded").fresh() as database, serving(database) as service:
        yield service


@pytest.fixture(scope="module")
def log(served: Running) -> Iterator[EventLog]:
    with closing(EventLog(served.database.service_url)) as log:
        yield log


@pytest.fixture(scope="module")
def busy(log: EventLog) -> BulkEvents:
    return BulkEvents(log)


def test_stream__nothing_happens__is_answered_at_once(served: Running, log: EventLog) -> None:
    async def asked() -> Watch:
        async with Watching(served) as watching:
            return await watching.watch(log.end())

    found = asyncio.run(asked())
    assert found.status == 200 and b"text/event-stream" in found.head and found.positions == []


def test_selections__missed_and_live__each_selected_event_once_in_order(
    served: Running, busy: BulkEvents
) -> None:
    async def watched() -> list[Watch]:
        middle = busy.append(2_500)
        async with Watching(served) as watching:
            # Start in the database, in memory, and at the end of the log.
            begun = [(after, filters) for after in (0, middle - 700, middle) for filters in SELECTIONS]
            watches = [await watching.watch(after, **filters) for after, filters in begun]
            await asyncio.to_thread(busy.append, 500)
            await _all_seen(served, watches)
            return watches

    _check(served, asyncio.run(watched()))


@pytest.mark.soak
def test_watchers__hundreds_while_the_log_grows__none_misses_or_doubles(
    served: Running, log: EventLog, busy: BulkEvents
) -> None:
    dice = random.Random(5)

    async def watched() -> list[Watch]:
        enough = threading.Event()
        growing = asyncio.create_task(asyncio.to_thread(_grow, busy, enough))
        watches: list[Watch] = []
        async with Watching(served) as watching:
            try:
                for _ in range(20):
                    asked = [(dice.randint(0, log.end()), dice.choice(SELECTIONS)) for _ in range(15)]
                    begun = [watching.watch(after, **filters) for after, filters in asked]
                    watches += await asyncio.gather(*begun)
            finally:
                enough.set()
                await growing
            await _all_seen(served, watches)
        return watches

    _check(served, asyncio.run(watched()))


@pytest.mark.soak
def test_watcher__never_reads__is_cut_while_others_read_on_and_memory_stays(
    served: Running, log: EventLog
) -> None:
    events, words = 3_000, 1_000
    flood, worker = BulkEvents(log, name=2, words=words), worker_of(served)
    before, start = worker.memory_bytes(), log.end()

    async def flooded() -> tuple[int, list[int], list[int]]:
        async with Watching(served) as watching:
            deaf = [await watching.watch(start, receive_bytes=4096) for _ in range(100)]
            for one in deaf:
                one.stop_reading()
            reader = await watching.watch(start)
            end = await asyncio.to_thread(flood.append, events)
            await reader.wait_seen(end)
            # A buffer for each watcher would need a hundred times the memory of the events.
            assert worker.memory_bytes() - before < len(deaf) * events * words / 4
            for one in deaf:
                await one.wait_cut()
            assert not reader.is_cut
            return end, reader.positions, await _after_the_cut(watching, deaf[0], end)

    end, read, resumed = asyncio.run(flooded())
    assert read == resumed == list(range(start + 1, end + 1))


def test_stream__maximum_number__the_next_gets_503(servers: ServerPool) -> None:
    async def crowded(service: Running) -> Watch:
        async with Watching(service) as watching:
            watches = [await watching.watch() for _ in range(20)]
            refused = await watching.watch()
            watches[0].close()
            # The place of a disconnected watcher becomes free when the server notices.
            while (await watching.watch()).status != 200:
                await asyncio.sleep(0.1)
            return refused

    with servers.databases("embedded").fresh() as database, serving(database) as service:
        worker_of(service).limit_files(RESERVED_FILES + 20)
        refused = asyncio.run(crowded(service))
    assert refused.status == 503 and b"application/problem+json" in refused.head
    assert b"retry-after: 5" in refused.head.lower()


def test_server__stops_while_a_client_does_not_read__other_streams_end_properly(
    servers: ServerPool,
) -> None:
    async def stopped(service: Running, log: EventLog) -> list[Watch]:
        async with Watching(service) as watching:
            watches = [await watching.watch() for _ in range(20)]
            deaf = await watching.watch(receive_bytes=4096)
            deaf.stop_reading()
            end = await asyncio.to_thread(BulkEvents(log, words=2_000).append, 1_000)
            await asyncio.gather(*(one.wait_seen(end) for one in watches))
            service.processes["serve"].send_signal(signal.SIGTERM)
            await asyncio.gather(deaf.wait_cut(), *(one.wait_over() for one in watches))
            return watches

    with servers.databases("embedded").fresh() as database, serving(database) as service:
        with closing(EventLog(database.service_url)) as log:
            assert all(one.is_complete for one in asyncio.run(stopped(service, log)))
        wait_until(lambda: service.processes["serve"].poll() is not None, "the server to stop")


def _grow(busy: BulkEvents, enough: threading.Event) -> None:
    while not enough.wait(0.02):
        busy.append(10)


async def _after_the_cut(watching: Watching, slow: Watch, end: int) -> list[int]:
    """Return the events that a client gets that reads the received ones and then resumes."""
    slow.go_on_reading()
    await slow.wait_over()
    assert slow.last_id < end
    again = await watching.watch(slow.last_id)
    await again.wait_seen(end)
    return slow.positions + again.positions


async def _all_seen(service: Running, watches: list[Watch]) -> None:
    whole = await asyncio.to_thread(whole_log, service)
    for one in watches:
        await one.wait_seen_all(expected_positions(whole, one))


def _check(service: Running, watches: list[Watch]) -> None:
    whole = whole_log(service)
    for one in watches:
        assert one.positions == expected_positions(whole, one), f"after {one.after}, {one.filters}"
