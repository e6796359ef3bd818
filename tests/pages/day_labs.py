"""Labs in which a role spends a day: the demo, and the filled lab of the benchmark of pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

import httpx

from api.client.lab_file import load
from bench.cluster_fixture import bench_cluster
from bench.history import grow_over_days
from bench.outcome import Sizes, no_progress
from bench.settling import wait_for_projectors, wait_until
from tests.docs.demo import demo
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.running import SAMPLES
from tests.pages.browser import PASSWORD
from tests.rest.actions import EAST, WEST

ROLES: Final[Mapping[str, str]] = {
    "admin": "admin",
    "alice": "submitter",
    "carol": "submitter",
    "bob": "auditor",
}
SAMPLE_LABS = (EAST, WEST)
# All systems are busy, and the log is longer than these recipes.
FILLED = Sizes(systems=200, queued=2_000, filters=150, sets=None, rate=0, seconds=0, seed=1, events=12_000)


class DayLab(NamedTuple):
    """A service with the sample lab, whose machines are simulated. The people of ROLES have passwords."""

    url: str
    admin: httpx.Client


@contextmanager
def demo_lab() -> Iterator[DayLab]:
    with demo() as started, _admin(started.url, started.token) as admin:
        _add_people(admin)
        yield DayLab(started.url, admin)


@contextmanager
def filled_lab() -> Iterator[DayLab]:
    """Yield the lab of the benchmark with a history, running recipes and a queue, and the sample lab in it.

    The machines of the benchmark stay as they are. Its recipes require trees of its own lab controllers.
    """
    with bench_cluster() as cluster, _admin(cluster.url, cluster.token) as admin:
        grow_over_days(cluster, FILLED, no_progress)
        with cluster.client() as client:
            load(client, json.loads((SAMPLES / "lab.json").read_text("utf-8")))
        _add_people(admin)
        # Faster than the demo: the days on it have already waited for their machines.
        labs = [word for fqdn in SAMPLE_LABS for word in ("--lab-controller", fqdn)]
        cluster.start_module("cli", "lab", "simulate", "--speed", "300", *labs)
        wait_until(lambda: not _silent(admin), "a lab is silent")
        wait_for_projectors(cluster)
        yield DayLab(cluster.url, admin)


@contextmanager
def _admin(url: str, token: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url, headers=headers, timeout=30, **LOCAL_HTTP) as client:
        yield client


def _add_people(admin: httpx.Client) -> None:
    for user, role in ROLES.items():
        if user != "admin":
            admin.put(f"/users/{user}", json={"roles": [role]}).raise_for_status()
        admin.put(f"/users/{user}/password", json={"password": PASSWORD}).raise_for_status()


def _silent(admin: httpx.Client) -> list[str]:
    """Return the lab controllers of the sample lab that are silent."""
    found = {fqdn: admin.get(f"/lab-controllers/{fqdn}").json() for fqdn in SAMPLE_LABS}
    return [fqdn for fqdn, lab in found.items() if lab["silent"]]
