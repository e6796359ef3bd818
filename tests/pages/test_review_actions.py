"""Reviews of recipe sets and waivers of failures on the pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness.running import Running
from tests.pages.browser import Browser
from tests.pages.people import OTHER, OWNER, filled, people_of, require_reason
from tests.rest.actions import cancel_set, recipe_for, submit

REASON = "known fault of the board"


@pytest.fixture(scope="module")
def people(service: Running) -> Iterator[dict[str, Browser]]:
    with people_of(service, {OWNER: "submitter", OTHER: "submitter"}) as found:
        yield found


@pytest.fixture
def ended(service: Running, people: dict[str, Browser]) -> dict[str, Any]:
    """Return the answer about a job of the owner that was cancelled, so that its tasks have failed."""
    with service.client() as admin:
        token = admin.post("/tokens", json={"user": OWNER, "role": "submitter"}).json()["token"]
        with service.client(token) as owner:
            found = submit(owner, recipe_for("x86-01.east.example.com"))
            cancel_set(owner, found)
        shown = admin.get(f"/jobs/{found['job_id']}", params={"min_position": service.end()}).json()
    return {**found, "tasks": shown["recipe_sets"][0]["recipes"][0]["tasks"]}


def offered(browser: Browser, path: str, service: Running) -> set[str]:
    page = browser.get(path, params={"min_position": service.end()})
    assert page.status_code == 200, page.text
    return set(re.findall(rf'href="{path}/actions/([a-z-]+)"', page.text))


def taken(browser: Browser, path: str, action: str, **fields: str) -> str:
    """Take an action, and return the page to which it leads."""
    address = f"{path}/actions/{action}"
    done = browser.post(address, filled(browser, address, reason=REASON, **fields))
    assert done.status_code == 303, done.text
    page: str = browser.get(done.headers["location"]).text
    return page


def test_recipe_set_page__of_an_ended_set__is_reviewed_and_waived_by_its_owner(
    service: Running, people: dict[str, Browser], ended: dict[str, Any]
) -> None:
    owner, path = people[OWNER], f"/ui/recipe-sets/{ended['recipe_set_id']}"
    assert offered(owner, path, service) == {"review", "waive"}
    assert offered(people[OTHER], path, service) == set()
    assert people[OTHER].get(f"{path}/actions/review").status_code == 403
    require_reason(service, owner, f"{path}/actions/review", review="rejected")
    assert f'rejected by <a href="/ui/users/{OWNER}">' in taken(owner, path, "review", review="rejected")
    again = f"/ui/submit?rerun={ended['job_id']}&amp;failed=true"
    assert again in owner.get(f"/ui/jobs/{ended['job_id']}").text
    page = taken(owner, path, "waive")
    assert "0 failed, 2 waived" in page and REASON in page
    of_job = owner.get(f"/ui/jobs/{ended['job_id']}").text
    assert "0 failed, 2 waived" in of_job and "rejected by" in of_job and again not in of_job
    results = f"/ui/jobs/{ended['job_id']}/results"
    assert "with the recipe set" in owner.get(results).text
    only_failed = owner.get(results, params={"failed": "true"}).text
    assert "0 failed, 2 waived, which are not shown" in only_failed and "Nothing has failed." in only_failed
    assert offered(owner, path, service) == {"review", "end-waiver"}
    assert "2 failed" in taken(owner, path, "end-waiver")


def test_recipe_page__of_an_ended_set__waives_one_of_its_failed_tasks(
    service: Running, people: dict[str, Browser], ended: dict[str, Any]
) -> None:
    owner, path = people[OWNER], f"/ui/recipes/{ended['recipe_ids'][0]}"
    first, second = (f"{task['task_id']} {task['name']}" for task in ended["tasks"])
    assert offered(owner, path, service) == {"waive"}
    form = owner.get(f"{path}/actions/waive").text
    assert f"<option>{first}</option>" in form and f"<option>{second}</option>" in form
    assert f'waived by <a href="/ui/users/{OWNER}">' in taken(owner, path, "waive", task=first)
    assert first not in owner.get(f"{path}/actions/waive").text
    address = f"{path}/actions/waive"
    wrong = owner.post(address, filled(owner, address, reason=REASON, task="all of them"))
    assert wrong.status_code == 422 and "must be the number of a task" in wrong.text
    assert offered(owner, path, service) == {"waive", "end-waiver"}
    assert "waived by" not in taken(owner, path, "end-waiver", task=first)
