"""The items of each lab controller are taken at a pace, and those of others do not wait for them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import httpx
import pytest

from api.application import Lifespan, application
from api.item_pace import BURST_SECONDS, MAX_WAIT_SECONDS, MAX_WAITING, ItemPace
from api.use_cases.tokens import digest_of
from domain.directory import events as directory_events
from domain.errors import TooOften
from tests.in_process.environment import Environment

LABS = ("east.lab", "west.lab")
EAST, WEST = LABS
PER_SECOND = 10
BURST = int(BURST_SECONDS * PER_SECOND)
# With these, the next message would wait longer than it may.
TOO_MANY = int((MAX_WAIT_SECONDS + 1) * PER_SECOND)


class SetClock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_pace__a_burst_and_more__the_rest_waits_for_its_turn() -> None:
    clock = SetClock()
    pace = ItemPace(PER_SECOND, clock)
    assert [pace.admit(EAST, each) for each in (BURST - 5, 5, 10, 1)] == [0, 0, 0, 1]
    assert pace.admit(WEST, 1) == 0
    clock.now += 1
    assert pace.admit(EAST, 1) == pytest.approx(0.1)


def test_pace__after_silence__has_no_more_than_a_burst() -> None:
    clock = SetClock()
    pace = ItemPace(PER_SECOND, clock)
    pace.admit(EAST, 1)
    clock.now += 3_600
    assert [pace.admit(EAST, each) for each in (BURST + 10, 1)] == [0, 1]


def test_pace__longer_than_a_message_may_wait__refused_without_counting() -> None:
    clock = SetClock()
    pace = ItemPace(PER_SECOND, clock)
    pace.admit(EAST, BURST + TOO_MANY)
    for _ in range(3):
        with pytest.raises(TooOften, match=f"{EAST} may report 10 items a second") as refused:
            pace.admit(EAST, 1)
        assert refused.value.retry_after_seconds == 1
    clock.now += refused.value.retry_after_seconds
    assert pace.admit(EAST, 1) == MAX_WAIT_SECONDS


def test_pace__many_messages_wait__the_next_is_refused_and_a_cancelled_one_leaves() -> None:
    pace = ItemPace(PER_SECOND)

    async def flood() -> None:
        pace.admit(EAST, BURST + PER_SECOND // 2)
        waiting = [asyncio.create_task(pace.wait_turn(EAST, 0)) for _ in range(MAX_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(TooOften):
            pace.require_room(EAST)
        pace.require_room(WEST)
        waiting[0].cancel()
        await asyncio.gather(waiting[0], return_exceptions=True)
        pace.require_room(EAST)
        began = time.monotonic()
        await asyncio.gather(*waiting[1:])
        # Half a second of items was before these messages.
        assert time.monotonic() - began > 0.3

    asyncio.run(flood())


def test_pace__none__never_waits() -> None:
    pace = ItemPace(0)
    assert [pace.admit(EAST, 1_000_000) for _ in range(3)] == [0, 0, 0]


async def nothing() -> None:
    """Do nothing: the services are open already."""


def test_messages__more_than_the_pace__429_with_retry_after_but_not_for_other_labs(
    environment: Environment,
) -> None:
    with environment.scene() as scene:
        scene.put([("user/ops", directory_events.UserRegistered(roles=["lab-controller"]))])
        for lab in LABS:
            token = directory_events.TokenCreated("ops", "lab-controller", lab, digest_of(f"ll_{lab}"))
            registered = directory_events.LabControllerRegistered(True)
            scene.put([(f"lab-controller/{lab}", registered), (f"token/{lab}", token)])
        services = replace(scene.api.services, item_pace=ItemPace(PER_SECOND))
        transport = httpx.ASGITransport(application(services, Lifespan(nothing, nothing)))

        async def post(lab: str, path: str, document: dict[str, Any]) -> httpx.Response:
            headers = {"Authorization": f"Bearer ll_{lab}"}
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.post(f"/lab-controllers/{lab}/{path}", json=document, headers=headers)

        def sent(lab: str, path: str, document: dict[str, Any]) -> httpx.Response:
            answer: httpx.Response = scene.api.ask(lambda *_: post(lab, path, document))
            return answer

        registration = {"instance": "1", "partition": "default", "running": [{}], "last": False}
        first = sent(EAST, "updates", {"items": [{}] * (BURST + TOO_MANY)})
        assert (first.status_code, len(first.json()["items"])) == (200, BURST + TOO_MANY)
        for path, document in (("updates", {"items": [{}]}), ("registration", registration)):
            refused = sent(EAST, path, document)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
            assert "lab-controller/east.lab may report 10 items a second" in refused.json()["detail"]
            assert sent(WEST, path, document).status_code == 200
