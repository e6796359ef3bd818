"""One caller's requests, waits and bodies are bounded, and another caller does not notice them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import httpx
import pytest

from api import faulty_logins, parsing
from api.parsing import Parsing
from api.rest.app import Lifespan, application
from api.services import Bounds
from api.under_way import MaxUnderWay, Overloaded, Share, UnderWay
from api.use_cases.tokens import digest_of
from domain.directory import events as directory
from domain.errors import TooOften
from domain.events import Event
from tests.inside.bench import Bench

T = TypeVar("T")


async def nothing() -> None:
    """The services are open already."""


class Site:
    """The application without a server around it, with two submitters."""

    def __init__(self, bench_door: Any) -> None:
        self._door = bench_door
        self.services = replace(bench_door.services, bounds=Bounds(2.0, 2.0))
        self.limit(MaxUnderWay())

    def limit(self, most: MaxUnderWay) -> None:
        """Begin anew with these bounds."""
        self.services = replace(self.services, under_way=UnderWay(most))
        self._app = application(self.services, Lifespan(nothing, nothing))

    def client(self, name: str | None) -> httpx.AsyncClient:
        headers = {} if name is None else {"Authorization": f"Bearer ll_{name}"}
        transport = httpx.ASGITransport(self._app)
        return httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)

    def do(self, ask: Callable[[], Awaitable[T]]) -> T:
        made: T = self._door.ask(lambda *_: ask())
        return made


def _token(user: str) -> tuple[str, Event]:
    return f"token/{user}", directory.TokenCreated(user, "submitter", None, digest_of(f"ll_{user}"))


@pytest.fixture
def site(bench: Bench) -> Iterator[Site]:
    with bench.scene() as scene:
        scene.put(
            [
                ("user/root", directory.UserRegistered(roles=["admin"])),
                *((f"user/{name}", directory.UserRegistered()) for name in ("ada", "bob")),
                *(
                    (
                        f"token/{name}",
                        directory.TokenCreated(name, "submitter", None, digest_of(f"ll_{name}")),
                    )
                    for name in ("ada", "bob")
                ),
            ]
        )
        yield Site(scene.door)


def test_reads__many_wait_for_a_position__the_next_of_the_user_is_refused(site: Site) -> None:
    site.limit(MaxUnderWay(waiting_reads=2))

    async def attack() -> tuple[list[int], int]:
        async with site.client("ada") as ada, site.client("bob") as bob:
            ahead = [asyncio.create_task(ada.get("/events?min_position=1000000")) for _ in range(5)]
            await asyncio.sleep(0.1)
            other = await bob.get("/events?min_position=1000000")
            return [answer.status_code for answer in await asyncio.gather(*ahead)], other.status_code

    statuses, other = site.do(attack)
    assert Counter(statuses) == {504: 2, 429: 3}
    assert other == 504
    assert not site.services.under_way.waiting_reads


def test_requests__many_under_way__the_next_of_the_user_is_refused(site: Site) -> None:
    site.limit(MaxUnderWay(requests=2))

    async def attack() -> tuple[list[int], int]:
        async with site.client("ada") as ada, site.client("bob") as bob:
            ahead = [asyncio.create_task(ada.get("/events?min_position=1000000")) for _ in range(2)]
            await asyncio.sleep(0.1)
            refused = await ada.get("/whoami")
            other = await bob.get("/whoami")
            await asyncio.gather(*ahead)
            after = await ada.get("/whoami")
            return [refused.status_code, after.status_code], other.status_code

    assert site.do(attack) == ([429, 200], 200)
    assert not site.services.under_way.requests


def test_login__garbage__is_refused_by_address_before_it_is_read(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(faulty_logins, "MAX_FAULTY", 3)
    site.services = replace(site.services, faulty_logins=faulty_logins.FaultyLogins())
    site._app = application(site.services, Lifespan(nothing, nothing))
    taken = 0

    async def body() -> Any:
        nonlocal taken
        taken += 1
        yield b'{"garbage": 1}'

    async def attack() -> list[int]:
        async with site.client(None) as client:
            headers = {"Content-Type": "application/json"}
            sound = {"user": "ada", "password": "wrong, and long enough"}
            answers = [await client.post("/login", json=sound)]
            answers += [await client.post("/login", content=body(), headers=headers) for _ in range(5)]
            return [answer.status_code for answer in answers]

    assert site.do(attack) == [401, 422, 422, 422, 429, 429]


def test_bodies__bytes_of_a_caller_and_of_all__are_bounded_until_released() -> None:
    everything = UnderWay(MaxUnderWay(user_body_bytes=10, body_bytes=15))
    first, second, third = (Share(everything) for _ in range(3))
    first.enter("user/ada")
    first.hold(10, "address")
    with pytest.raises(TooOften):
        first.hold(1, "address")
    second.hold(5, "10.0.0.1")
    with pytest.raises(Overloaded):
        third.hold(1, "10.0.0.2")
    first.release()
    third.hold(1, "10.0.0.2")
    second.release()
    third.release()
    assert not everything.body_bytes and not everything.requests


def test_stream__that_has_begun__leaves_its_place() -> None:
    everything = UnderWay(MaxUnderWay(requests=1))
    for _ in range(3):
        share = Share(everything)
        share.enter("user/ada")
        share.leave_place()
    share.release()
    assert not everything.requests


def test_parsing__many_long_bodies_of_one_caller__leave_a_thread_to_others() -> None:
    order: list[str] = []

    async def attack() -> None:
        pool = Parsing()
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def slow() -> None:
            asyncio.run_coroutine_threadsafe(ended.wait(), loop).result()
            order.append("ada")

        bodies = [asyncio.create_task(pool.run("ada", parsing.MIN_LONG_BYTES, slow)) for _ in range(4)]
        await asyncio.sleep(0)
        await pool.run("bob", parsing.MIN_LONG_BYTES, lambda: order.append("bob"))
        ended.set()
        await asyncio.gather(*bodies)

    asyncio.run(attack())
    assert order == ["bob", "ada", "ada", "ada", "ada"]
