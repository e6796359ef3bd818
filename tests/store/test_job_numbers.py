"""Tests of concurrent requests for job ids."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Event

import pytest

from domain.job.submission import Counts, Ids
from postgres.errors import DatabaseAway
from store.event_log import EventLog
from store.job_numbers import SPARE_SECONDS, JobNumberSource

WANTED: Sequence[Counts] = ((1, 1, 1), (2, 3, 4), (1, 2, 0), (1, 1, 5))


pytestmark = pytest.mark.promise


class CountedQueries:
    """Counts the jobs of each query for ids. If `away` is set, the first query fails."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self.queries: list[int] = []
        self.away = False
        self._take_ids = log.take_ids

    def take_ids(self, jobs: Sequence[Counts]) -> list[Ids]:
        self.queries.append(len(jobs))
        if self.away and len(self.queries) == 1:
            raise DatabaseAway("gone")
        return self._take_ids(jobs)


@pytest.fixture
def counted(log: EventLog, monkeypatch: pytest.MonkeyPatch) -> CountedQueries:
    counted = CountedQueries(log)
    monkeypatch.setattr(log, "take_ids", counted.take_ids)
    return counted


async def asked(counted: CountedQueries) -> list[Ids | BaseException]:
    """Ask for all others while the first is being answered."""
    numbers = JobNumberSource(counted.log)
    first = asyncio.create_task(numbers.take(WANTED[0]))
    await asyncio.sleep(0.01)
    others = [numbers.take(wanted) for wanted in WANTED[1:]]
    return await asyncio.gather(first, *others, return_exceptions=True)


def test_take__concurrent_calls__share_queries_and_ascend(counted: CountedQueries) -> None:
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


def test_take__database_away__waiting_call_fails_and_later_ones_succeed(counted: CountedQueries) -> None:
    counted.away = True

    first, *others = asyncio.run(asked(counted))

    assert isinstance(first, DatabaseAway)
    assert all(isinstance(ids, Ids) for ids in others)


def test_take__one_call_cancelled__others_are_answered(counted: CountedQueries) -> None:
    async def given_up() -> Ids:
        numbers = JobNumberSource(counted.log)
        hasty = asyncio.create_task(numbers.take((1, 1, 1)))
        patient = asyncio.create_task(numbers.take((1, 1, 1)))
        await asyncio.sleep(0)
        hasty.cancel()
        return await patient

    assert asyncio.run(given_up()).job == 2


async def three_at_once(numbers: JobNumberSource) -> list[Ids]:
    return list(await asyncio.gather(*(numbers.take((1, 2, 3)) for _ in range(3))))


def test_take__repeated_calls__ids_are_prefetched_and_ascend(counted: CountedQueries) -> None:
    async def again_and_again() -> list[Ids]:
        numbers = JobNumberSource(counted.log)
        found = [ids for _ in range(6) for ids in await three_at_once(numbers)]
        return [*found, await numbers.take((1, 1, 1)), *await three_at_once(numbers)]

    taken = asyncio.run(again_and_again())
    # The spares are for as many jobs as before: 3, and then 9, because 6 were answered meanwhile.
    assert counted.queries == [3 + 3, 3 + 9, 1, 3 + 3]
    for kind in (
        [ids.job for ids in taken],
        [recipe for ids in taken for recipe in ids.recipes],
        [task for ids in taken for task in ids.tasks],
    ):
        assert kind == sorted(set(kind))
    assert [len(ids.recipes) for ids in taken] == [2] * 18 + [1] + [2] * 3


def test_take__one_call_after_another__have_no_gaps(counted: CountedQueries) -> None:
    async def one_by_one() -> list[int]:
        numbers = JobNumberSource(counted.log)
        return [(await numbers.take((1, 2, 3))).job for _ in range(4)]

    assert asyncio.run(one_by_one()) == [1, 2, 3, 4]
    assert counted.queries == [1, 1, 1, 1]


def test_take_all__beside_spare_ids__ascend(counted: CountedQueries) -> None:
    async def beside_spares() -> list[Ids]:
        numbers = JobNumberSource(counted.log)
        before = await three_at_once(numbers)
        return [*before, *await numbers.take_all([(1, 2, 3), (1, 1, 1)]), await numbers.take((1, 2, 3))]

    taken = asyncio.run(beside_spares())
    assert [len(ids.recipes) for ids in taken] == [2, 2, 2, 2, 1, 2]
    jobs = [ids.job for ids in taken]
    assert jobs == sorted(set(jobs))


def test_take__prefetched_ids_unused_for_a_while__are_dropped(counted: CountedQueries) -> None:
    async def after_a_pause() -> int:
        numbers, other = JobNumberSource(counted.log), JobNumberSource(counted.log)
        await three_at_once(numbers)
        between = await other.take((1, 1, 1))
        await asyncio.sleep(2 * SPARE_SECONDS)
        return (await numbers.take((1, 2, 3))).job - between.job

    assert asyncio.run(after_a_pause()) == 1


def test_last__before_and_after_jobs__is_the_last_id_given_out_by_any_process(log: EventLog) -> None:
    async def before_and_after() -> list[int]:
        numbers, other = JobNumberSource(log), JobNumberSource(log)
        before = await numbers.last()
        taken = await numbers.take((1, 1, 1))
        await other.take((1, 2, 3))
        return [before, await numbers.last() - taken.job]

    assert asyncio.run(before_and_after()) == [0, 1]


def test_last__with_spare_ids__a_later_job_has_a_higher_id(log: EventLog) -> None:
    async def after_a_burst() -> int:
        numbers = JobNumberSource(log)
        await three_at_once(numbers)
        last = await numbers.last()
        return (await numbers.take((1, 2, 3))).job - last

    assert asyncio.run(after_a_burst()) == 1


def test_last__while_spare_ids_are_being_taken__a_later_job_has_a_higher_id(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, answered, take_ids = Event(), Event(), log.take_ids

    def take_slowly(jobs: Sequence[Counts]) -> list[Ids]:
        found = take_ids(jobs)
        taken.set()
        assert answered.wait(10)
        return found

    async def during_a_burst() -> int:
        numbers = JobNumberSource(log)
        burst = asyncio.create_task(three_at_once(numbers))
        await asyncio.to_thread(taken.wait, 10)
        last = await numbers.last()
        answered.set()
        await burst
        return (await numbers.take((1, 2, 3))).job - last

    monkeypatch.setattr(log, "take_ids", take_slowly)
    assert asyncio.run(during_a_burst()) == 1
