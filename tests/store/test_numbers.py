"""JobNumberSource of jobs that are asked for at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from domain.job.submission import Counts, Ids
from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.job_numbers import PREFETCHED, SPARE_SECONDS, JobNumberSource
from tests.harness.databases import TestDatabase

WANTED: Sequence[Counts] = ((1, 1, 1), (2, 3, 4), (1, 2, 0), (1, 1, 5))


class CountedLog(EventLog):
    """How many jobs each query was for; the first of them fails while the database is away."""

    queries: list[int]
    away = False

    def take_ids(self, jobs: Sequence[Counts]) -> list[Ids]:
        self.queries.append(len(jobs))
        if self.away and len(self.queries) == 1:
            raise DatabaseAway("gone")
        return super().take_ids(jobs)


@pytest.fixture
def counted(database: TestDatabase) -> Iterator[CountedLog]:
    log = CountedLog(database.service_url)
    log.queries = []
    yield log
    log.close()


async def asked(log: CountedLog) -> list[Ids | BaseException]:
    """One is being answered when all others ask."""
    numbers = JobNumberSource(log)
    first = asyncio.create_task(numbers.take(WANTED[0]))
    await asyncio.sleep(0.01)
    others = [numbers.take(wanted) for wanted in WANTED[1:]]
    return await asyncio.gather(first, *others, return_exceptions=True)


def test_numbers__asked_for_at_once__are_taken_together_and_ascend(counted: CountedLog) -> None:
    found = asyncio.run(asked(counted))

    assert all(isinstance(ids, Ids) for ids in found)
    taken = [ids for ids in found if isinstance(ids, Ids)]
    assert [(len(ids.recipe_sets), len(ids.recipes), len(ids.tasks)) for ids in taken] == list(WANTED)
    jobs = [ids.job for ids in taken]
    tasks = [task for ids in taken for task in ids.tasks]
    recipes = [recipe for ids in taken for recipe in ids.recipes]
    for numbers in (jobs, recipes, tasks):
        assert numbers == sorted(set(numbers))
    assert sum(counted.queries) == len(WANTED)
    assert len(counted.queries) < len(WANTED)


def test_numbers__database_away__who_waited_hears_it_and_who_comes_later_is_answered(
    counted: CountedLog,
) -> None:
    counted.away = True

    first, *others = asyncio.run(asked(counted))

    assert isinstance(first, DatabaseAway)
    assert all(isinstance(ids, Ids) for ids in others)


def test_numbers__somebody_gives_up__others_are_answered(counted: CountedLog) -> None:
    async def given_up() -> Ids:
        numbers = JobNumberSource(counted)
        hasty = asyncio.create_task(numbers.take((1, 1, 1)))
        patient = asyncio.create_task(numbers.take((1, 1, 1)))
        await asyncio.sleep(0)
        hasty.cancel()
        return await patient

    assert asyncio.run(given_up()).job == 2


async def three_at_once(numbers: JobNumberSource) -> list[Ids]:
    return list(await asyncio.gather(*(numbers.take((1, 2, 3)) for _ in range(3))))


def test_numbers__asked_for_again_and_again__are_taken_ahead_and_ascend(counted: CountedLog) -> None:
    async def again_and_again() -> list[Ids]:
        numbers = JobNumberSource(counted)
        found = [ids for _ in range(PREFETCHED + 1) for ids in await three_at_once(numbers)]
        return [*found, await numbers.take((1, 1, 1)), *await three_at_once(numbers)]

    taken = asyncio.run(again_and_again())
    assert counted.queries == [3 * (PREFETCHED + 1), 1, 3 * (PREFETCHED + 1)]
    for kind in (
        [ids.job for ids in taken],
        [recipe for ids in taken for recipe in ids.recipes],
        [task for ids in taken for task in ids.tasks],
    ):
        assert kind == sorted(set(kind))
    assert [len(ids.recipes) for ids in taken] == [2] * 3 * (PREFETCHED + 1) + [1] + [2] * 3


def test_numbers__taken_ahead_and_not_asked_for_soon__are_nobodys(counted: CountedLog) -> None:
    async def after_a_pause() -> int:
        numbers, other = JobNumberSource(counted), JobNumberSource(counted)
        await three_at_once(numbers)
        between = await other.take((1, 1, 1))
        await asyncio.sleep(2 * SPARE_SECONDS)
        return (await numbers.take((1, 2, 3))).job - between.job

    assert asyncio.run(after_a_pause()) == 1
