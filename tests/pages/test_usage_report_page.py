"""The page of the report of usage."""

from __future__ import annotations

from typing import Any

import httpx
from lxml import html

from tests.harness.running import Running
from tests.pages.browser import Browser
from tests.pages.people import AUDITOR
from tests.rest.actions import cancel_set, in_state, recipe_for, submit


def rows_of(page: Any, section: str) -> dict[str, list[str]]:
    """Return the other cells of each row of a section, by its first cell."""
    rows = page.xpath(f"//section[@aria-labelledby='{section}']//tbody/tr")
    texts = [[" ".join(cell.text_content().split()) for cell in row] for row in rows]
    return {first: others for first, *others in texts}


def test_usage_report__unused_system_user_and_wait__are_those_of_the_api(
    service: Running, people: dict[str, Browser], admin: httpx.Client, machine: str
) -> None:
    jobs = [submit(admin, recipe_for(machine)) for _ in range(2)]
    for job, state in zip(jobs, ("waiting", "queued"), strict=True):
        in_state(admin, job["recipe_ids"][0], state)
    asked = {"as_of": service.end(), "limit": 1000}
    expected = admin.get("/usage-report", params=asked).json()
    answer = people[AUDITOR].get("/ui/usage-report", params=asked)
    assert answer.status_code == 200, answer.text
    page = html.fromstring(answer.text)
    users = rows_of(page, "users")
    assert list(users) == [each["user"] for each in expected["users"]]
    waits = rows_of(page, "waits")
    wanted = {each["requirement"]: str(each["recipes"]) for each in expected["waiting_requirements"]}
    assert {requirement: cells[1] for requirement, cells in waits.items()} == wanted
    recipe_id = jobs[1]["recipe_ids"][0]
    assert f'href="/ui/recipes/{recipe_id}/why?as_of={service.end()}"' in answer.text
    for job in jobs:
        cancel_set(admin, job)

    # Nobody has used this one since.
    moment = admin.get("/usage-report", params={"min_position": service.end()}).json()["until"]
    present = people[AUDITOR].get("/ui/usage-report", params={"since": moment, "limit": 1000})
    assert present.status_code == 200, present.text
    unused = rows_of(html.fromstring(present.text), "unused")
    found = admin.get("/usage-report", params={"since": moment, "limit": 1000}).json()["unused_systems"]
    assert list(unused) == [each["fqdn"] for each in found] and unused
    assert 'href="/ui/usage-report"' in people[AUDITOR].get("/ui/usage").text
    assert 'href="/ui/usage-report"' in people[AUDITOR].get("/ui/directory").text
