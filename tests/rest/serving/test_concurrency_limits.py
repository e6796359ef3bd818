"""The requests, waiting reads and bodies of one caller are bounded, and do not affect other callers."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import httpx
import pytest

from api import caller_slots, concurrency_limits, password_attempts
from api.application import Lifespan, application
from api.concurrency_limits import ActiveRequests, ConcurrencyLimits, MaxWaits, Overloaded, Parsing, Share
from api.use_cases import choose_trees
from api.use_cases.tokens import digest_of
from domain.directory import events as directory_events
from domain.errors import TooOften
from domain.events import Event
from tests.in_process.environment import Environment

T = TypeVar("T")
# More recipes than the event loop chooses distro trees for.
RECIPE = {"distro_requires": {"and": []}, "host_requires": {"and": []}, "tasks": [{"name": "/any"}]}
LONG = {"recipe_sets": [{"recipes": [RECIPE] * 30}]}


async def nothing() -> None:
    """Do nothing: the services are open already."""


class LimitedApi:
    """The application without a server, with two submitters."""

    def __init__(self, api_process: Any) -> None:
        self._api_process = api_process
        self.services = replace(api_process.services, max_waits=MaxWaits(2.0, 2.0))
        self.limit(ConcurrencyLimits())

    def limit(self, limits: ConcurrencyLimits) -> None:
        """Start again with these limits."""
        self.services = replace(self.services, active_requests=ActiveRequests(limits))
        self._app = application(self.services, Lifespan(nothing, nothing))

    def client(self, name: str | None) -> httpx.AsyncClient:
        headers = {} if name is None else {"Authorization": f"Bearer ll_{name}"}
        transport = httpx.ASGITransport(self._app)
        return httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)

    def do(self, ask: Callable[[], Awaitable[T]]) -> T:
        made: T = self._api_process.ask(lambda *_: ask())
        return made


def _token(user: str) -> tuple[str, Event]:
    return f"token/{user}", directory_events.TokenCreated(user, "submitter", None, digest_of(f"ll_{user}"))


@pytest.fixture
def site(environment: Environment) -> Iterator[LimitedApi]:
    with environment.scene() as scene:
        scene.put(
            [
                ("user/root", directory_events.UserRegistered(roles=["admin"])),
                *((f"user/{name}", directory_events.UserRegistered()) for name in ("ada", "bob")),
                *(
                    (
                        f"token/{name}",
                        directory_events.TokenCreated(name, "submitter", None, digest_of(f"ll_{name}")),
                    )
                    for name in ("ada", "bob")
                ),
            ]
        )
        yield LimitedApi(scene.api)


def test_reads__many_wait_for_a_position__the_next_of_the_user_is_refused(site: LimitedApi) -> None:
    site.limit(ConcurrencyLimits(waiting_reads=2))

    async def attack() -> tuple[list[int], int]:
        async with site.client("ada") as ada, site.client("bob") as bob:
            ahead = [asyncio.create_task(ada.get("/events?min_position=1000000")) for _ in range(5)]
            await asyncio.sleep(0.1)
            other = await bob.get("/events?min_position=1000000")
            return [answer.status_code for answer in await asyncio.gather(*ahead)], other.status_code

    statuses, other = site.do(attack)
    assert Counter(statuses) == {504: 2, 429: 3}
    assert other == 504
    assert not site.services.active_requests.waiting_reads


def test_requests__many_under_way__the_next_of_the_user_is_refused(site: LimitedApi) -> None:
    site.limit(ConcurrencyLimits(requests=2))

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
    assert not site.services.active_requests.requests


async def until(is_so: Callable[[], bool], under_way: list[asyncio.Task[httpx.Response]]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            assert not all(each.done() for each in under_way), [each.result().text for each in under_way]
            await asyncio.sleep(0.01)


def test_long_choices__many_of_one_user__another_user_comes_second_and_the_others_are_refused(
    site: LimitedApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller_slots, "MAX_WAIT_SECONDS", 0.5)
    began, may_end, choose_all = list[str](), threading.Semaphore(0), choose_trees._choose_all

    def held(trees: Any, spec: Any, owner: str, *rest: Any) -> Any:
        began.append(owner)
        may_end.acquire(timeout=60)
        return choose_all(trees, spec, owner, *rest)

    monkeypatch.setattr(choose_trees, "_choose_all", held)

    async def attack() -> tuple[list[httpx.Response], httpx.Response]:
        async with site.client("ada") as ada, site.client("bob") as bob:
            many = [asyncio.create_task(ada.post("/jobs", json=LONG)) for _ in range(5)]
            await until(lambda: bool(began), many)
            other = asyncio.create_task(bob.post("/jobs", json=LONG))
            # Four requests wait for the slot of their user until a timeout.
            await until(lambda: sum(each.done() for each in many) == 4, many)
            may_end.release(10)
            return list(await asyncio.gather(*many)), await other

    of_ada, of_bob = site.do(attack)
    refused = [answer for answer in of_ada if answer.status_code == 429]
    assert (len(refused), of_bob.status_code == 429) == (4, False)
    assert "another long computation for ada is under way" in refused[0].text
    assert refused[0].headers["Retry-After"] == "1"
    assert set(began[:2]) == {"ada", "bob"}


def test_matches__one_of_the_user_is_answered__the_next_is_refused(
    site: LimitedApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller_slots, "MAX_WAIT_SECONDS", 0.2)

    has_slot, may_end = asyncio.Event(), asyncio.Event()

    async def earlier_request() -> None:
        async with site.services.active_requests.matches.hold("ada"):
            has_slot.set()
            await may_end.wait()

    async def attack() -> httpx.Response:
        async with site.client("ada") as ada, asyncio.TaskGroup() as others:
            others.create_task(earlier_request())
            await has_slot.wait()
            answer = await ada.post("/matches", json={"host_requires": {"and": []}})
            may_end.set()
            return answer

    refused = site.do(attack)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")


def test_login__garbage__is_refused_by_address_before_it_is_read(
    site: LimitedApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(password_attempts, "MAX_FAULTY", 3)
    site.services = replace(site.services, faulty_logins=password_attempts.FaultyLogins())
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
    everything = ActiveRequests(ConcurrencyLimits(user_body_bytes=10, body_bytes=15))
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
    everything = ActiveRequests(ConcurrencyLimits(requests=1))
    for _ in range(3):
        share = Share(everything)
        share.enter("user/ada")
        share.release_slot()
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

        bodies = [
            asyncio.create_task(pool.run("ada", concurrency_limits.MIN_LONG_BYTES, slow)) for _ in range(4)
        ]
        await asyncio.sleep(0)
        await pool.run("bob", concurrency_limits.MIN_LONG_BYTES, lambda: order.append("bob"))
        ended.set()
        await asyncio.gather(*bodies)

    asyncio.run(attack())
    assert order == ["bob", "ada", "ada", "ada", "ada"]
