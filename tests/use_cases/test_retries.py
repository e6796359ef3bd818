"""Retries after conflicts: those of one caller run one at a time, and wait for no other caller."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.caller_slots import CallerSlots
from api.quotas import Quotas
from api.use_cases import commit
from api.use_cases.ports import WriteParts
from runtime.locks import LockClass
from store.requests import AppendRequest, Committed, Conflict, Outcome
from tests.harness.appends import STAMP, append_to

pytestmark = pytest.mark.promise


class Conflicting:
    """Group commits that refuse the first request of each subject. `order` has the accepted subjects."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self._seen: set[str] = set()

    async def submit(self, request: AppendRequest) -> Outcome:
        (subject,) = request.subjects
        if subject not in self._seen:
            self._seen.add(subject)
            return Conflict(subject)
        self.order.append(subject)
        return Committed(1, 1, STAMP.at, repeated=False, digest=None, answer=None)


async def caught_up() -> None:
    pass


@pytest.fixture
def parts() -> Any:
    feed = SimpleNamespace(catch_up=caught_up)
    retries = CallerSlots(LockClass.RETRIES)
    return SimpleNamespace(commits=Conflicting(), quotas=Quotas(), feed=feed, retries=retries)


@pytest.mark.parametrize(("other", "order"), [("a", ["slow", "quick"]), ("b", ["quick", "slow"])])
def test_retry__another_one_is_under_way__only_that_of_the_same_caller_waits(
    parts: Any, other: str, order: list[str]
) -> None:
    """The slow request decides again for as long as the quick one may overtake it."""

    async def both() -> None:
        is_slow, may_end = asyncio.Event(), asyncio.Event()
        times = 0

        async def slow() -> AppendRequest:
            nonlocal times
            times += 1
            if times > 1:
                is_slow.set()
                await may_end.wait()
            return of("a", "slow")

        async def quick() -> AppendRequest:
            return of(other, "quick")

        first = asyncio.ensure_future(commit.commit(cast(WriteParts, parts), slow))
        await is_slow.wait()
        second = asyncio.ensure_future(commit.commit(cast(WriteParts, parts), quick))
        for _ in range(20):
            await asyncio.sleep(0)
        may_end.set()
        await asyncio.gather(first, second)

    asyncio.run(both())
    assert parts.commits.order == order


def test_retry__the_decision_takes_longer_than_retries_may__is_made_once(
    parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(commit, "time", SimpleNamespace(monotonic=lambda: now))

    async def slow() -> AppendRequest:
        nonlocal now
        now += 2 * commit.MAX_RETRY_SECONDS
        return of("a", "slow")

    assert asyncio.run(commit.commit(cast(WriteParts, parts), slow)) is not None
    assert parts.commits.order == ["slow"]


def test_retry__waited_for_another_one_longer_than_retries_may__is_made_once(
    parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(commit, "time", SimpleNamespace(monotonic=lambda: now))

    async def retry_of_another(may_end: asyncio.Event) -> None:
        async with parts.retries.hold("a", is_bounded=False):
            await may_end.wait()

    async def both() -> None:
        nonlocal now
        may_end = asyncio.Event()
        first = asyncio.ensure_future(retry_of_another(may_end))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(commit.commit(cast(WriteParts, parts), decide))
        for _ in range(20):
            await asyncio.sleep(0)
        now = 2 * commit.MAX_RETRY_SECONDS
        may_end.set()
        await asyncio.gather(first, second)

    async def decide() -> AppendRequest:
        return of("a", "late")

    asyncio.run(both())
    assert parts.commits.order == ["late"]


def of(caller: str, subject: str) -> AppendRequest:
    return replace(append_to(subject), caller=caller)
