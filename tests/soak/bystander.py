"""A bystander of an attack, as a process: `python -m tests.soak.bystander URL`.

The bystander logs in as bob, checks the health of the service and submits a job, repeatedly, until its
standard input ends. Then it prints the maximum duration of each in seconds. It is a process of its own,
because among the threads of an attack it would wait for the interpreter, and measure that instead of the
service.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import httpx

from tests.harness.http_options import LOCAL_HTTP

PASSWORD = "correct horse"
DISTRO = "<distroRequires><distro_family op='=' value='RedHatEnterpriseLinux9'/></distroRequires>"
RECIPE = {"distro_requires_xml": DISTRO, "host_requires": {"and": []}, "tasks": [{"name": "/a"}]}


@dataclass
class Longest:
    """Maximum durations in seconds; `jobs` counts the jobs that were decided."""

    login: float = 0.0
    health: float = 0.0
    decision: float = 0.0
    jobs: int = 0


def wait_decided(client: httpx.Client, recipe_id: int) -> None:
    while client.get(f"/recipes/{recipe_id}").json().get("state", "new") == "new":
        time.sleep(0.05)


def look(client: httpx.Client, longest: Longest) -> None:
    with timed(longest, "login"):
        login = client.post("/login", json={"user": "bob", "password": PASSWORD})
        assert login.status_code == 200, login.text
    with timed(longest, "health"):
        assert client.get("/healthz").status_code == 200
    with timed(longest, "decision"):
        made = client.post("/jobs", json={"recipe_sets": [{"recipes": [RECIPE]}]})
        assert made.status_code == 201, made.text
        (recipe_id,) = made.json()["recipe_ids"]
        wait_decided(client, recipe_id)
    longest.jobs += 1


@contextmanager
def timed(longest: Longest, what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    setattr(longest, what, max(getattr(longest, what), time.monotonic() - began))


def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['LABLEDGER_TOKEN']}"}
    longest = Longest()
    with httpx.Client(base_url=sys.argv[1], headers=headers, timeout=30, **LOCAL_HTTP) as client:
        while not select.select([sys.stdin], [], [], 0)[0]:
            look(client, longest)
    print(json.dumps(asdict(longest)))


if __name__ == "__main__":
    main()
