"""The addresses of all pages with answers, about jobs that use every element, and what belongs to them."""

from __future__ import annotations

from typing import Any

import httpx

from tests.harness.running import SAMPLES, Running
from tests.rest.actions import recipe_for, submit

# Text that would be markup if it were not escaped.
HOSTILE = "<script>alert(1)</script>"
SYSTEM = "x86-01.east.example.com"
SAMPLE_JOBS = ("kernel-smoke", "guests", "nfs-multihost", "pinned")


def submit_samples(admin: httpx.Client) -> list[dict[str, Any]]:
    """Submit the sample jobs, and one that depends on another and declares locks; return the answers."""
    kind = {"Content-Type": "application/xml"}
    found = []
    for name in SAMPLE_JOBS:
        content = (SAMPLES / f"{name}.xml").read_bytes()
        found.append(admin.post("/jobs", content=content, headers=kind).raise_for_status().json())
    locks = {"network": {"Shared": ["net-1"]}, "pool": "AllShared"}
    waiting = {"depends_on": [{"job": found[0]["job_id"], "states": ["completed"]}]}
    recipe = recipe_for(SYSTEM, locks=locks, role="SERVERS")
    found.append(submit(admin, recipe, whiteboard=HOSTILE, **waiting))
    admin.get("/jobs", params={"min_position": found[-1]["position"]}).raise_for_status()
    return found


def addresses(service: Running) -> list[str]:
    """Submit jobs, and return the addresses of the pages that show them or their lab."""
    with service.client() as admin:
        jobs = submit_samples(admin)
    of_jobs = [f"/ui/jobs/{job['job_id']}" for job in jobs]
    sets = [f"/ui/recipe-sets/{number}" for job in jobs for number in job["recipe_set_ids"]]
    recipes = [f"/ui/recipes/{number}" for job in jobs for number in job["recipe_ids"]]
    past = f"{recipes[-1]}?as_of={jobs[-1]['position']}"
    hosts = [recipe for recipe in recipes if not _is_guest(service, recipe)]
    return [
        *(
            "/ui",
            "/ui/events",
            f"/ui/events/{jobs[-1]['position']}",
            "/ui/reads",
            "/ui/lab",
            "/ui/usage?group_by=owner",
            "/ui/usage?group_by=pool&length=day",
            "/ui/usage-report",
            "/ui/jobs",
            *of_jobs,
            f"{of_jobs[0]}/xml",
            f"{of_jobs[0]}/results",
            *sets,
        ),
        *("/ui", "/ui/queue", f"/ui/queue?system={SYSTEM}", f"/ui/queue?as_of={jobs[-1]['position']}"),
        *(*recipes, *(f"{recipe}/why" for recipe in hosts), past),
        *("/ui/waits", "/ui/waits?by=pool", "/ui/waits?by=requirement"),
        *("/ui/retention", "/ui/retention?tags=scratch:1", "/ui/notifications", "/ui/notifications/admin"),
        *("/ui/systems", f"/ui/systems/{SYSTEM}", f"/ui/systems/{SYSTEM}?as_of={jobs[-1]['position']}"),
    ]


def _is_guest(service: Running, address: str) -> bool:
    with service.client() as admin:
        found: dict[str, Any] = admin.get(address.removeprefix("/ui")).json()
    return found["host_recipe_id"] is not None
