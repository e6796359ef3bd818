"""One user who exhausts every quota, and a flood of guessed passwords: other users are not affected."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest

from tests.harness.http_options import LOCAL_HTTP
from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.rest.actions import in_state

ATTACK_SECONDS = 10.0
BYSTANDER_SECONDS = 20.0
THREADS, WORKERS = 8, 2
LOG_BYTES, RECIPES, TOKENS = 4_000_000, 300, 20
PASSWORD = "correct horse"
RECIPE = {
    "distro_requires_xml": "<distroRequires/>",
    "host_requires_xml": '<hostRequires><system_type value="Machine"/></hostRequires>',
    "tasks": [{"name": "/t"}],
}
JOB = {"recipe_sets": [{"recipes": [RECIPE]}] * 5}


@pytest.fixture(scope="module")
def service(servers: ServerPool) -> Iterator[Running]:
    """Run two API processes with small quotas, and clients whose address comes from a header."""
    settings = {
        "LABLEDGER_API_WORKERS": str(WORKERS),
        "LABLEDGER_PROXIES": "127.0.0.1",
        "LABLEDGER_MAX_LOG_BYTES_PER_DAY": str(LOG_BYTES),
        "LABLEDGER_MAX_UNFINISHED_RECIPES": str(RECIPES),
        "LABLEDGER_MAX_LIVE_TOKENS": str(TOKENS),
    }
    with servers.databases("embedded").fresh() as database, running(database, **settings) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        yield started


@contextmanager
def attacking(attack: Callable[[int], int]) -> Iterator[Counter[int]]:
    """Repeat an attack in several threads within the context; the statuses of its answers are counted."""
    stop, answers = threading.Event(), Counter[int]()
    numbers = itertools.count()

    def repeat(_: int) -> None:
        while not stop.is_set():
            answers[attack(next(numbers))] += 1

    with ThreadPoolExecutor(THREADS) as threads:
        attacks = [threads.submit(repeat, number) for number in range(THREADS)]
        try:
            yield answers
        finally:
            stop.set()
        for each in attacks:
            each.result()


def token_of(client: httpx.Client, user: str) -> str:
    answer = client.post("/tokens", json={"user": user, "role": "submitter"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


@pytest.mark.soak
def test_submitter__takes_all_there_is__is_stopped_at_each_quota_and_others_go_on(service: Running) -> None:
    with ExitStack() as stack:
        admin = stack.enter_context(service.client())
        bob = stack.enter_context(service.client(token_of(admin, "bob")))
        # Each thread has a token of its own.
        greedy = [stack.enter_context(service.client(token_of(admin, "carol"))) for _ in range(THREADS)]
        asked: tuple[tuple[str, Any], ...] = (
            ("/jobs", JOB),
            ("/jobs", JOB),
            ("/tokens", {"user": "carol", "role": "submitter"}),
        )

        def attack(number: int) -> int:
            path, body = asked[number % len(asked)]
            return greedy[number % THREADS].post(path, json=body).status_code

        with attacking(attack) as answers:
            deadline = time.monotonic() + ATTACK_SECONDS
            jobs = 0
            while time.monotonic() < deadline:
                answer = bob.post("/jobs", json={"recipe_sets": [{"recipes": [RECIPE]}]})
                assert answer.status_code == 201, answer.text
                assert answer.elapsed.total_seconds() < BYSTANDER_SECONDS
                in_state(admin, answer.json()["recipe_ids"][0], "queued", "waiting", "installing")
                bob.post(
                    f"/jobs/{answer.json()['job_id']}/cancel", json={"reason": "seen"}
                ).raise_for_status()
                jobs += 1
        assert jobs > 0 and set(answers) <= {201, 409, 429} and answers[409] > 0
        # Each process may accept requests that began before it learnt of the quota.
        under_way = 2 * THREADS * WORKERS
        owned = unfinished(admin, "carol")
        assert RECIPES - 5 <= owned <= RECIPES + 5 * under_way
        live = admin.get("/tokens", params={"limit": 1000}).json()["tokens"]
        assert sum(token["user"] == "carol" for token in live) <= TOKENS + under_way


def unfinished(admin: httpx.Client, owner: str) -> int:
    """Return the number of recipes of a user in the queue or on a system."""
    found, cursor = 0, None
    while True:
        asked = {"limit": 1000, "owner": owner, **({"cursor": cursor} if cursor else {})}
        page = admin.get("/jobs", params=asked).json()
        found += 5 * sum(job["state"] not in ("completed", "cancelled", "aborted") for job in page["jobs"])
        cursor = page["next"]
        if cursor is None:
            return found


@pytest.mark.soak
def test_logins__under_a_flood_of_guesses_from_many_addresses__all_get_in(service: Running) -> None:
    with service.client() as admin:
        admin.put("/users/alice/password", json={"password": PASSWORD}).raise_for_status()

    def login(user: str, password: str, address: str) -> httpx.Response:
        body, headers = {"user": user, "password": password}, {"X-Forwarded-For": address}
        return httpx.post(f"{service.url}/login", json=body, headers=headers, timeout=60, **LOCAL_HTTP)

    def guess(number: int) -> int:
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        return login(f"nobody-{number}", "a guess of mine", address).status_code

    with attacking(guess) as answers, ThreadPoolExecutor(TOKENS - 3) as people:
        # One login for each free place of a token, some of them concurrent.
        came = list(people.map(lambda _: login("alice", PASSWORD, "192.0.2.1"), range(TOKENS - 3)))
    assert Counter(answer.status_code for answer in came) == {200: TOKENS - 3}
    assert set(answers) <= {401, 429}
