"""One client does its worst, and requests and decisions of a bystander stay fast.

LABLEDGER_SYSTEMS is the size of the generated lab (default: 1,500). The bounds are for a slow and busy
machine: the defects that they catch stopped the API for 10 s, and all decisions for 20 s.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from subprocess import PIPE
from typing import Any

import httpx
import pytest

from api.intake.limits import MAX_BODY_BYTES
from api.use_cases.choose_trees import MAX_COMPARISONS
from replay.workload.generated_lab import generate_lab
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.pool import ServerPool
from tests.harness.running import Running, running
from tests.soak.bystander import PASSWORD, RECIPE, Longest, wait_decided

SYSTEMS = int(os.environ.get("LABLEDGER_SYSTEMS", "1500"))
MAX_HEALTH_SECONDS = 3.0
MAX_LOGIN_SECONDS = 5.0
MAX_DECISION_SECONDS = 10.0
SECONDS = 8.0

Client = httpx.Client


JSON = {"Content-Type": "application/json"}


def job(*sets: list[dict[str, Any]], **beside: Any) -> dict[str, Any]:
    return {"recipe_sets": [{"recipes": [{**RECIPE, **more} for more in one]} for one in sets], **beside}


def like(patterns: Iterator[str] | list[str]) -> dict[str, Any]:
    leaves = [{"element": "hostname", "op": "like", "value": pattern} for pattern in patterns]
    return {"host_requires": {"or": leaves}}


@pytest.fixture(scope="module")
def service(servers: ServerPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    made = tmp_path_factory.mktemp("lab") / "lab.json"
    made.write_text(json.dumps(generate_lab(7, 5, SYSTEMS)))
    # The bystander logs in repeatedly.
    settings = {"LABLEDGER_MAX_LIVE_TOKENS": "0"}
    with servers.databases("embedded").fresh() as database, running(database, **settings) as started:
        started.do("lab", "load", str(made))
        yield started


@pytest.fixture(scope="module")
def clients(service: Running) -> Iterator[dict[str, Client]]:
    with ExitStack() as stack:
        admin = stack.enter_context(service.client())
        tokens = {
            name: admin.post("/tokens", json={"user": name, "role": "submitter"}).json()["token"]
            for name in ("alice", "bob")
        }
        admin.put("/users/bob/password", json={"password": PASSWORD}).raise_for_status()
        yield {
            name: stack.enter_context(
                Client(
                    base_url=service.url,
                    headers={"Authorization": f"Bearer {token}"},
                    timeout=30,
                    limits=httpx.Limits(max_connections=None),
                    **LOCAL_HTTP,
                )
            )
            for name, token in tokens.items()
        }


def post(path: str, body: bytes, *statuses: int) -> Callable[[Client], None]:
    def attack(client: Client) -> None:
        # The concurrency limits hold up only the client that sends many requests.
        with suppress(httpx.ReadTimeout):
            answer = client.post(path, content=body, headers=JSON)
            # Above the limits of one caller the API may answer with a retry status.
            assert answer.status_code in (*statuses, 429, 503), answer.text[:500]

    return attack


def submitted(body: bytes) -> Callable[[Client], None]:
    """Return an attack that submits jobs one after the other; quotas limit their number."""

    def attack(client: Client) -> None:
        answer = client.post("/jobs", content=body, headers=JSON)
        assert answer.status_code == 201, answer.text[:500]
        wait_decided(client, answer.json()["recipe_ids"][-1])

    return attack


def many_patterns() -> bytes:
    """Return 20 recipes with 985 patterns each: a valid job of about 1 MB that is too much work."""
    sets = [[like([f"x{number}-{each}%" for each in range(900)])] for number in range(14)]
    body = json.dumps(job(*sets)).encode()
    assert len(body) < MAX_BODY_BYTES
    return body


def worst_legal() -> bytes:
    return json.dumps(
        job([like([f"x{each}%" for each in range(min(950, MAX_COMPARISONS // SYSTEMS - 9))])])
    ).encode()


def long_questions() -> Callable[[Client], None]:
    """Return an attack that alternates between long choices of distro trees and long match queries."""
    body = worst_legal()
    attacks = itertools.cycle([post("/jobs", body, 201), post("/matches", body, 200)])

    def attack(client: Client) -> None:
        next(attacks)(client)

    return attack


def flexible_and_tight() -> bytes:
    """Return a job of flexible and tight recipes; the tight ones fit one system in ten."""
    return json.dumps(job([{}] * 100 + [like(["%1.%"])] * 100)).encode()


def unknown_keys() -> bytes:
    return json.dumps(job([{}], **{f"key{number:06}": 0 for number in range(55_000)})).encode()


def ahead(client: Client) -> None:
    answer = client.get("/jobs", params={"min_position": 10**9})
    assert answer.status_code in (504, 429), answer.text


def held_open(client: Client) -> None:
    """Begin to send a body of a megabyte, and never complete it."""
    host, port = client.base_url.host, client.base_url.port
    with socket.create_connection((host, port or 80)) as line:
        token = client.headers["Authorization"]
        head = f"POST /jobs HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\n"
        head += "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
        line.sendall(head.encode() + b" " * 900_000)
        time.sleep(SECONDS)


# Name, attack, number of concurrent connections.
ATTACKS = [
    ("job of many patterns", post("/jobs", many_patterns(), 422), 4),
    ("worst legal job", submitted(worst_legal()), 1),
    ("worst legal job, matched", post("/matches", worst_legal(), 200), 2),
    ("long questions", long_questions(), 200),
    ("flexible and tight recipes", submitted(flexible_and_tight()), 1),
    ("unknown keys", post("/jobs", unknown_keys(), 422), 16),
    ("unknown keys, matched", post("/matches", unknown_keys(), 422), 16),
    ("reads ahead of the log", ahead, 300),
    ("bodies held open", held_open, 60),
]


@pytest.mark.soak
@pytest.mark.parametrize(
    ("attack", "connections"), [row[1:] for row in ATTACKS], ids=[row[0] for row in ATTACKS]
)
def test_attack__of_one_user__a_bystander_keeps_their_times(
    attack: Callable[[Client], None], connections: int, clients: dict[str, Client]
) -> None:
    ends = time.monotonic() + SECONDS

    def keep_on() -> None:
        while time.monotonic() < ends:
            attack(clients["alice"])

    with bystander(clients["bob"]) as watching, ThreadPoolExecutor(connections) as threads:
        for attacking in [threads.submit(keep_on) for _ in range(connections)]:
            attacking.result()
        said, _ = watching.communicate()
    assert watching.returncode == 0, "the bystander was refused"
    longest = Longest(**json.loads(said))
    print(longest)
    assert longest.jobs
    assert longest.login < MAX_LOGIN_SECONDS
    assert longest.health < MAX_HEALTH_SECONDS
    assert longest.decision < MAX_DECISION_SECONDS


@contextmanager
def bystander(client: Client) -> Iterator[subprocess.Popen[bytes]]:
    """Start a bystander; `communicate` ends it and returns its output."""
    token = client.headers["Authorization"].removeprefix("Bearer ")
    command = [sys.executable, "-m", "tests.soak.bystander", str(client.base_url)]
    environment = {**os.environ, "LABLEDGER_TOKEN": token}
    with subprocess.Popen(command, env=environment, stdin=PIPE, stdout=PIPE) as process:
        try:
            yield process
        finally:
            process.kill()
