"""Every fact on a page is in the answer of the HTTP API as of the same position, over random changes.

The text of a page, with its title and description, is compared word by word (`page_facts.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.pages.addresses import submit_samples
from tests.pages.browser import Browser
from tests.pages.page_facts import unexplained
from tests.rest.actions import recipe_for

SYSTEMS = ("x86-01.east.example.com", "x86-02.east.example.com", "no-such-system.example.com")
PRIORITIES = ("Low", "Medium", "Normal", "High", "Urgent")
STEPS, MOMENTS = 25, 4


@pytest.fixture(scope="module")
def positions(service: Running) -> list[int]:
    """Make random changes with a fixed seed, and return the position after each."""
    random, found, jobs = Random(19), [], []
    with service.client() as admin:
        jobs += submit_samples(admin)
        for _ in range(STEPS):
            _change(admin, random, jobs)
            found.append(service.end())
        admin.get("/jobs", params={"min_position": found[-1]}).raise_for_status()
    return found


def _change(admin: httpx.Client, random: Random, jobs: list[dict[str, Any]]) -> None:
    """Submit a job, change the priority of one, or cancel one."""
    choice = random.random()
    if choice < 0.5 or not jobs:
        recipes = [recipe_for(random.choice(SYSTEMS)) for _ in range(random.randint(1, 2))]
        sets = [{"priority": random.choice(PRIORITIES), "recipes": recipes}]
        body = {"whiteboard": f"job {random.randint(0, 999)}", "recipe_sets": sets}
        jobs.append(admin.post("/jobs", json=body).raise_for_status().json())
    elif choice < 0.75:
        set_id = random.choice(jobs)["recipe_set_ids"][0]
        # It is refused after the start of the set.
        admin.patch(f"/recipe-sets/{set_id}", json={"priority": random.choice(PRIORITIES)})
    else:
        job_id = random.choice(jobs)["job_id"]
        admin.post(f"/jobs/{job_id}/cancel", json={"reason": f"reason {random.randint(0, 999)}"})


def pages(admin: httpx.Client, position: int) -> Iterator[tuple[str, ...]]:
    """Yield the addresses of pages as of a position, each with those of the answers that it shows."""
    listed = admin.get("/jobs", params={"as_of": position}).json()["jobs"]
    yield "", "/overview"
    yield f"/events/{position}", f"/events/{position}"
    yield "/jobs", "/jobs"
    yield "/queue", "/queue?reasons=true&estimates=true", "/queue/reasons"
    yield from (
        (f"/waits?by={by}&since=2020-01-01T00:00:00Z",) * 2
        for by in ("priority", "group", "pool", "requirement")
    )
    for job in listed[-6:]:
        yield f"/jobs/{job['job_id']}", f"/jobs/{job['job_id']}"
        yield (f"/jobs/{job['job_id']}/results",) * 2
        shown = admin.get(f"/jobs/{job['job_id']}", params={"as_of": position}).json()
        for recipe_set in shown["recipe_sets"]:
            number = recipe_set["recipe_set_id"]
            yield f"/recipe-sets/{number}", f"/recipe-sets/{number}"
            for recipe in recipe_set["recipes"]:
                path = f"/recipes/{recipe['recipe_id']}"
                yield path, path, f"{path}/estimate"
                yield f"{path}/why", f"{path}/explanation", f"{path}/estimate"


def as_of(address: str, position: int) -> str:
    return f"{address}{'&' if '?' in address else '?'}as_of={position}"


@pytest.mark.soak
def test_pages__of_random_changes_at_random_moments__show_only_facts_of_the_api(
    service: Running, browser: Browser, positions: list[int]
) -> None:
    compared = 0
    with service.client() as admin:
        for position in Random(7).sample(positions, MOMENTS):
            for address, *paths in pages(admin, position):
                answers = [admin.get(as_of(path, position)).raise_for_status().json() for path in paths]
                page = browser.get(as_of(f"/ui{address}", position))
                assert page.status_code == 200, page.text
                assert unexplained(page.text, answers) == set(), address
                compared += 1
    assert compared > MOMENTS * 3


def test_unexplained__page_of_a_later_moment__names_the_difference(
    service: Running, browser: Browser, positions: list[int]
) -> None:
    with service.client() as admin:
        submitted = admin.post(
            "/jobs", json={"whiteboard": "planted", "recipe_sets": [{"recipes": [recipe_for(SYSTEMS[0])]}]}
        ).json()
        path = f"/jobs/{submitted['job_id']}"
        admin.post(f"{path}/cancel", json={"reason": "zzyzx"}).raise_for_status()
        now = admin.get(path, params={"min_position": service.end()}).json()
        then = admin.get(path, params={"as_of": submitted["position"]}).json()
    page = browser.get(f"/ui{path}", params={"as_of": now["position"]}).text
    assert unexplained(page, now) == set()
    assert "zzyzx" in unexplained(page, then)
