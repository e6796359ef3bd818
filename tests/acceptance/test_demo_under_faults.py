"""A lab under faults for a short time: every job finishes, and no invariant is violated.

The simulated machines stall, fail and break. Lab controllers vanish, repeat and reorder their reports.
Processes are killed and started again; people do chores meanwhile. Every job finishes without a cancel.
tests/soak does the same for longer, with more faults.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from replay.audit import from_json
from replay.workload.generated_jobs import generate_jobs
from tests.acceptance.chores import Chores
from tests.acceptance.faults import FaultyLab, Plan
from tests.acceptance.read_models import assert_read_models_match_log, pages
from tests.harness.databases import TestDatabase
from tests.harness.running import SAMPLES, Running, running
from tests.harness.waiting import wait_until
from tests.replay.audit.sound import assert_at_rest, assert_sound

SAMPLE_JOBS = ("kernel-smoke.xml", "guests.xml", "nfs-multihost.xml", "pinned.xml")
MANY_JOBS = 100_000


@pytest.fixture
def service(database: TestDatabase) -> Iterator[Running]:
    with running(database, LABLEDGER_CONSISTENCY_SECONDS="1") as started:
        yield started


@pytest.mark.soak
def test_demo__every_fault_for_a_moment__every_job_finishes(service: Running, tmp_path: Path) -> None:
    plan = Plan(
        seed=4, seconds=10, longest_seconds=300, queue=20, killed=("scheduler", "lab"), kill_every_seconds=2.5
    )
    demo = json.loads((SAMPLES / "lab.json").read_text("utf-8"))
    faulty = FaultyLab(service, plan, tmp_path, Chores(service.client, plan.seed))
    faulty.load(demo)
    for name in SAMPLE_JOBS:
        service.labledger("submit", str(SAMPLES / name))
    faulty.run(generate_jobs(demo, plan.seed, MANY_JOBS))
    _is_done(faulty, jobs=faulty.submitted + len(SAMPLE_JOBS))
    assert faulty.kills >= 2


def _is_done(faulty: FaultyLab, jobs: int) -> list[dict[str, Any]]:
    service = faulty.service
    with service.client() as client:
        wait_until(lambda: not _pending(service), "no system to be pending")
        shown = pages(client, "/jobs", "jobs", service.end())
    assert len(shown) == jobs
    assert {job["state"] for job in shown} <= {"completed", "aborted"}
    events = service.events()
    records = list(from_json(events))
    assert_sound(records)
    assert_at_rest(records)
    service.labledger("replay", "verify")
    world = assert_read_models_match_log(service, records)
    assert not world.recipes, "unfinished recipes are left"
    faulty.assert_no_impossible_findings()
    # The consistency loop repairs a missed wake-up, which the log records even if the scheduler is killed.
    assert not [event for event in events if event["cause"] == "timer/consistency"]
    assert {event["epoch"] for event in events if event["basis"]} > {1}, "no scheduler took over"
    assert any(event["topic"] == "recipe.aborted" for event in events)
    return events


def _pending(service: Running) -> list[dict[str, Any]]:
    with service.client() as client:
        systems = pages(client, "/systems", "systems", service.end())
    return [row for row in systems if row["usage"] == "pending"]
