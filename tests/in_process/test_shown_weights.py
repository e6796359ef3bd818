"""Weights and waits for locks in reads, with a read model and an explaining process of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from api.rest import explainer_answers
from api.rest.resources.locks import waits_of
from api.rest.shown_weights import NO_WEIGHT, weight_of_set, weights_of
from api.rest.waiting_sets import waiting_sets
from domain.directory.state import Directory
from domain.partition_numbers import DEFAULT_PARTITION, PartitionIdentity
from projections.reader import At
from runtime.processes.child import ChildFailed
from workers.explaining.explainer import StillReading

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
# Recipe 1 is of set 1, which declares locks; recipes 2 and 3 are of sets that declare none.
ROWS = [
    {"recipe_id": number, "recipe_set_id": number, "submitted_at": NOW - timedelta(seconds=age)}
    for number, age in ((1, 0), (2, 0), (3, 450))
]

PRESENT = At(7)

Ask = Callable[..., Awaitable[dict[str, Any]]]


class Parts:
    """Parts with these answers. `asked` has the questions to the explaining process."""

    def __init__(self, ask: Ask, configuration: dict[str, Any] | None = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self._ask = ask
        self._configuration = configuration
        self.clock = lambda: NOW
        self.reader = SimpleNamespace(together=self._together)
        self.feed = SimpleNamespace(directory=Directory())
        self.explainers = SimpleNamespace(ask=self._asked)

    async def _together(self, *queries: tuple[str, dict[str, Any]]) -> list[list[dict[str, Any]]]:
        documents = [{"document": {"configuration": self._configuration}}] if self._configuration else []
        declaring = [{"recipe_set_id": 1}] if 1 in queries[0][1]["recipe_set_ids"] else []
        assert [name for name, _ in queries] == ["declaring_sets", "conditional_sets", "document"]
        return [declaring, [], documents]

    async def _asked(self, identity: PartitionIdentity, about: str, **question: Any) -> dict[str, Any]:
        assert identity == DEFAULT_PARTITION
        self.asked.append({"about": about, **question})
        return await self._ask()


async def _weighs() -> dict[str, Any]:
    return {"position": 9, "weights": [4.0]}


async def _still_reads() -> dict[str, Any]:
    raise StillReading("no answer")


async def _fails() -> dict[str, Any]:
    raise ChildFailed("ended")


async def _hangs() -> dict[str, Any]:
    await asyncio.sleep(60)
    raise AssertionError("the caller waits for a minute")


def weighed(parts: Any, at: At = PRESENT) -> list[float | None]:
    async def weigh() -> list[float | None]:
        sets = await waiting_sets(parts, at, [row["recipe_set_id"] for row in ROWS])
        return await weights_of(parts, at, sets, ROWS)

    return asyncio.run(weigh())


def weighed_set(parts: Any, number: int) -> dict[str, Any]:
    async def weigh() -> dict[str, Any]:
        (waiting,) = await waiting_sets(parts, PRESENT, [number])
        return await weight_of_set(parts, PRESENT, waiting, NOW)

    return asyncio.run(weigh())


def test_weights__some_sets_declare_locks__only_these_are_asked_for() -> None:
    parts = Parts(_weighs)
    assert weighed(parts) == [4.0, 1.0, 0.5]
    assert parts.asked == [{"about": "weights", "at": None, "now": NOW, "recipe_ids": [1]}]


def test_weights__as_of_a_position__are_of_its_moment() -> None:
    parts = Parts(_weighs)
    assert weighed(parts, At(7, NOW - timedelta(seconds=450))) == [4.0, 1.0, 1.0]
    (question,) = parts.asked
    assert (question["at"], question["now"]) == (7, NOW - timedelta(seconds=450))


def test_weights__another_configuration__has_its_base_and_coefficient() -> None:
    parts = Parts(_weighs, {"weights": {"base": 3, "coefficient": 60}})
    assert weighed(parts) == [4.0, 3.0, 2.25]


def test_weights__switched_off__are_none() -> None:
    parts = Parts(_weighs, {"weights": {"enabled": False}})
    assert weighed(parts) == [None] * 3
    assert weighed_set(parts, 1) == NO_WEIGHT
    assert parts.asked == []


@pytest.mark.parametrize("ask", [_still_reads, _fails, _hangs])
def test_weights__explaining_process_has_no_answer__only_those_with_locks_are_none(
    monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    monkeypatch.setattr(explainer_answers, "WAIT_SECONDS", 0.01)
    assert weighed(Parts(ask)) == [None, 1.0, 0.5]
    assert weighed_set(Parts(ask), 1) == NO_WEIGHT
    assert weighed_set(Parts(ask), 2)["weight"] == 1


LOCK_ROWS = [{"recipe_set_id": number, "state": state} for number, state in ((1, "held"), (2, "awaited"))]


async def _waits() -> dict[str, Any]:
    return {"position": 9, "waits": [{"recipe_set_id": 2, "overtaken": 3}]}


def test_lock_waits__sets_that_wait__only_these_are_asked_for() -> None:
    parts: Any = Parts(_waits)
    assert asyncio.run(waits_of(parts, PRESENT, LOCK_ROWS)) == {2: {"overtaken": 3}}
    assert asyncio.run(waits_of(parts, At(7, NOW), LOCK_ROWS[:1])) == {}
    assert parts.asked == [{"about": "lock_waits", "at": None, "recipe_set_ids": [2]}]


@pytest.mark.parametrize("ask", [_still_reads, _fails, _hangs])
def test_lock_waits__explaining_process_has_no_answer__none(
    monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    monkeypatch.setattr(explainer_answers, "WAIT_SECONDS", 0.01)
    parts: Any = Parts(ask)
    assert asyncio.run(waits_of(parts, PRESENT, LOCK_ROWS)) == {}
