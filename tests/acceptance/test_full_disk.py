"""`labledger up` with its database on a full disk: it reports the disk, and continues when there is space."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from runtime.embedded.cluster import Cluster
from tests.acceptance.up import Up, up
from tests.harness.disk import SmallDisk, small_disk
from tests.harness.folders import public_folder
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.running import SAMPLES
from tests.harness.waiting import wait_until


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    with public_folder() as folder, small_disk(folder / "disk") as made:
        if made is None:
            pytest.skip("mounting the small disk requires root")
        yield made
        Cluster(made.folder / "data" / "postgresql").stop()


@pytest.fixture
def running(disk: SmallDisk) -> Iterator[Up]:
    with up(disk.folder / "data", "--demo", printed=disk.folder.parent / "up.out") as started:
        yield started


@pytest.fixture
def asking(running: Up) -> Iterator[Asking]:
    with closing(Asking(running)) as made:
        # The systems are loaded last.
        wait_until(lambda: made.client.get("/systems").json().get("systems"), "the demo's lab")
        yield made


class Asking:
    def __init__(self, running: Up) -> None:
        kept = json.loads((running.data / "connection.json").read_text("utf-8"))
        headers = {"Authorization": f"Bearer {kept['token']}"}
        self.client = httpx.Client(base_url=kept["url"], headers=headers, timeout=30, **LOCAL_HTTP)
        self._job = (SAMPLES / "kernel-smoke.xml").read_bytes()

    def close(self) -> None:
        self.client.close()

    def submit(self, key: str) -> httpx.Response:
        headers = {"Content-Type": "application/xml", "Idempotency-Key": key}
        return self.client.post("/jobs", content=self._job, headers=headers)

    def jobs(self) -> set[int]:
        asked = {"types": "job.submitted", "limit": 1000}
        events = self.client.get("/events", params=asked).json()["events"]
        return {int(event["subject"].partition("/")[2]) for event in events}

    def readiness(self) -> tuple[int, dict[str, Any]]:
        answer = self.client.get("/readyz")
        return answer.status_code, answer.json()["checks"]["database"]


@pytest.mark.soak
def test_up__disk_full__says_so_and_goes_on_when_there_is_room(disk: SmallDisk, asking: Asking) -> None:
    taken = [asking.submit("before").json()["job_id"]]

    def refused() -> httpx.Response | None:
        disk.fill()
        answer = asking.submit(f"job {len(taken)}")
        if answer.status_code == 201:
            taken.append(answer.json()["job_id"])
            return None
        return answer

    problem = wait_until(refused, "the disk to be full", 120)
    assert problem.status_code == 503
    assert problem.json()["title"] == "The database's disk is full"
    assert int(problem.headers["retry-after"]) > 0

    def is_full() -> bool:
        # PostgreSQL may have freed some space.
        disk.fill()
        return asking.readiness() == (
            503,
            {"ok": False, "writable": False, "detail": "the disk of the database is full"},
        )

    wait_until(is_full, "/readyz to report the full disk")
    disk.make_room()
    wait_until(lambda: asking.readiness()[0] == 200, "it to be ready by itself")
    # The refused submission succeeds now, and creates one job.
    found = {asking.submit(f"job {len(taken)}").json()["job_id"] for _ in range(2)}
    assert len(found) == 1
    assert asking.jobs() == {*taken, *found}


@pytest.mark.soak
def test_up__postgresql_killed_on_a_full_disk__comes_back_when_there_is_room(
    disk: SmallDisk, running: Up, asking: Asking
) -> None:
    before = asking.submit("before")
    assert before.status_code == 201, before.text
    disk.fill()
    postmaster = Cluster(running.data / "postgresql").pid
    assert postmaster is not None
    os.kill(postmaster, signal.SIGKILL)
    wait_until(lambda: "PostgreSQL: " in running.text(), "a start that fails")
    disk.fill()
    assert asking.client.get("/readyz").status_code == 503
    assert running.process.poll() is None
    disk.make_room()
    wait_until(lambda: asking.client.get("/readyz").status_code == 200, "it to be ready by itself")
    assert asking.jobs() == {before.json()["job_id"]}
