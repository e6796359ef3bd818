"""The home page: the labs at a glance, what needs attention, and the reader's own jobs and systems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.running import Running
from tests.pages.browser import PASSWORD, Browser
from tests.rest.actions import cancel_set, in_state, recipe_for, submit

EAST = "lab.east.example.com"
HOSTILE = "<script>alert(1)</script>"
SHOWN = "&lt;script&gt;alert(1)&lt;/script&gt;"


def part(page: str, name: str) -> str:
    """Return a live part of a page."""
    found = re.search(rf'<div data-part="{name}">(.*?)</div><!--/{name}-->', page, re.DOTALL)
    assert found is not None, page
    return found[1]


@pytest.fixture
def busy(service: Running, machine: str) -> Iterator[list[dict[str, Any]]]:
    """Yield a job that has a system, and one that waits for it."""
    with service.client() as admin:
        jobs = [submit(admin, recipe_for(machine), whiteboard=HOSTILE) for _ in range(2)]
        for job, state in zip(jobs, ("waiting", "queued"), strict=True):
            in_state(admin, job["recipe_ids"][0], state)
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
        yield jobs
        for job in reversed(jobs):
            cancel_set(admin, job)


def test_home_page__a_job_has_a_system_and_one_waits__shows_both(
    browser: Browser, service: Running, machine: str, busy: list[dict[str, Any]]
) -> None:
    placed, _ = busy
    page = browser.get("/ui").text
    assert re.search(r"<title>\d+ of \d+ systems run a recipe, \d+ recipes? waits?", page)
    with service.client() as admin:
        oldest = admin.get("/overview").json()["queue"]["oldest"]
    assert oldest
    for recipe in oldest:
        assert f'href="/ui/recipes/{recipe["recipe_id"]}/why"' in part(page, "attention")
    assert f'href="/ui/recipe-sets/{placed["recipe_set_id"]}"' in part(page, "queue")
    assert f'href="/ui/systems/{machine}"' in part(page, "queue")
    for job in busy:
        assert f'href="/ui/jobs/{job["job_id"]}"' in part(page, "own")
    assert SHOWN in part(page, "own") and HOSTILE not in page


def test_home_page__facts__are_those_of_the_api(
    browser: Browser, service: Running, busy: list[dict[str, Any]]
) -> None:
    position = service.end()
    with service.client() as admin:
        found = admin.get("/overview", params={"as_of": position}).json()
    page = browser.get("/ui", params={"as_of": position}).text
    labs = part(page, "labs")
    for lab in found["labs"]:
        row = labs.partition(f'data-key="{lab["lab_controller"]}"')[2].partition("</tr>")[0]
        numbers = [int(number) for number in re.findall(r'<td class="number">(\d+)</td>', row)]
        assert numbers == [lab["systems"], *lab["doing"].values()]
    for name, each in found["queue"]["by_priority"].items():
        row = part(page, "queue").partition(f'data-key="{name}"')[2].partition("</tr>")[0]
        assert f'<td class="number">{each["recipes"]}</td>' in row


def test_home_page__of_the_past__has_nothing_later_and_no_state_of_the_service(
    browser: Browser, service: Running, machine: str
) -> None:
    before = service.end()
    with service.client() as admin:
        job = submit(admin, recipe_for(machine), whiteboard="later")
        cancel_set(admin, job)
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    now, then = browser.get("/ui").text, browser.get("/ui", params={"as_of": before}).text
    link = f"/ui/jobs/{job['job_id']}"
    assert link in now and link not in then
    assert "Checks of the service" in now and "Checks of the service" not in then
    assert f"as_of={before}" in then


def test_home_page__broken_system_and_disabled_lab__need_attention(
    browser: Browser, service: Running, machine: str
) -> None:
    with service.client() as admin:
        admin.patch(f"/systems/{machine}", json={"condition": "Broken", "reason": HOSTILE}).raise_for_status()
        done = admin.patch(f"/lab-controllers/{EAST}", json={"enabled": False})
        position = done.headers["labledger-position"]
        page = browser.get("/ui", params={"min_position": position}).text
        admin.patch(f"/lab-controllers/{EAST}", json={"enabled": True}).raise_for_status()
        admin.patch(f"/systems/{machine}", json={"condition": "Automated"}).raise_for_status()
    attention = part(page, "attention")
    assert f'href="/ui/systems/{machine}"' in attention and SHOWN in attention
    assert re.search(rf">{EAST}</a> is\s+disabled", attention)
    assert SHOWN in part(page, "problems") and HOSTILE not in page


def test_home_page__of_another_person__shows_their_own_jobs_and_systems(
    browser: Browser, service: Running, machine: str, busy: list[dict[str, Any]]
) -> None:
    with service.client() as admin:
        admin.put("/users/nina", json={}).raise_for_status()
        admin.put("/users/nina/password", json={"password": PASSWORD}).raise_for_status()
        policy = {"entries": [{"permission": "view", "everybody": True}]}
        admin.put(f"/systems/{machine}/access-policy", json=policy).raise_for_status()
        done = admin.patch(f"/systems/{machine}", json={"owner": "nina"})
    other = Browser(service.url)
    assert other.log_in("nina", PASSWORD).status_code == 303
    own = part(other.get("/ui", params={"min_position": done.headers["labledger-position"]}).text, "own")
    other.close()
    assert "You have no jobs." in own
    assert re.findall(r'data-key="([^"]+)"', own) == [machine]
    assert f'href="/ui/jobs/{busy[0]["job_id"]}"' in part(browser.get("/ui").text, "own")
