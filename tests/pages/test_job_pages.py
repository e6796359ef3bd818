"""The pages of jobs and recipe sets: lists with filters and pages, and text that is not markup."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest

from domain.events import Change, Stamp
from domain.job.events import JobLogsExpired, JobResultsDeleted
from domain.partition_numbers import partition_of
from store.event_log import EventLog
from store.requests import AppendRequest, require_committed
from tests.harness.running import Running
from tests.pages.browser import Browser
from tests.rest.actions import cancel_set, recipe_for, report, start, submit

HOSTILE = "</title><script>alert(1)</script>{{ 7 * 7 }}"
SHOWN = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 7 }}"


@pytest.fixture
def submitted(service: Running) -> dict[str, Any]:
    """Return the answer about a job with hostile text, which is cancelled."""
    with service.client() as admin:
        found: dict[str, Any] = submit(admin, recipe_for("x86-01.east.example.com"), whiteboard=HOSTILE)
        cancel_set(admin, found)
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    return found


def test_job_page__hostile_whiteboard__appears_as_text(browser: Browser, submitted: dict[str, Any]) -> None:
    for path in (f"/ui/jobs/{submitted['job_id']}", "/ui/jobs", f"/ui/jobs/{submitted['job_id']}/xml"):
        page = browser.get(path).text
        assert "<script>" not in page
        assert "49" not in page.partition("{{ 7")[0][-40:]
    assert SHOWN in browser.get("/ui/jobs").text


def test_list_of_jobs__filters_and_empty_fields__select_and_stay_in_the_form(
    browser: Browser, submitted: dict[str, Any]
) -> None:
    job = f">{submitted['job_id']}</a>"
    page = browser.get("/ui/jobs", params={"owner": "admin", "group": "", "state": "cancelled"})
    assert page.status_code == 200, page.text
    assert job in page.text
    assert "<option selected>cancelled</option>" in page.text
    assert 'name="owner" value="admin"' in page.text
    assert job not in browser.get("/ui/jobs", params={"owner": "alice"}).text


def test_list_of_jobs__next_page__continues_after_the_last_job(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    with service.client() as admin:
        cancel_set(admin, submit(admin, recipe_for("x86-01.east.example.com")))
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    first = browser.get("/ui/jobs", params={"limit": 1})
    following = first.text.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    second = browser.get(following)
    assert second.status_code == 200, second.text
    assert first.text.count('<th scope="row"') == second.text.count('<th scope="row"') == 1
    assert f">{submitted['job_id']}</a>" in second.text
    assert "First page" in second.text
    assert browser.get("/ui/jobs", params={"cursor": "WzFd"}).status_code == 422


def test_job_and_set_page__cancelled_job__shows_the_facts_of_the_api(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    (recipe_set_id,) = submitted["recipe_set_ids"]
    with service.client() as admin:
        job = admin.get(f"/jobs/{submitted['job_id']}").json()
    page = browser.get(f"/ui/jobs/{submitted['job_id']}").text
    for name in ("state", "stage", "result", "owner", "queue"):
        assert job[name] in page
    assert "cancelled (the job is over, and a recipe was cancelled)" in page
    assert "root.default, partition default</a>" in page
    assert f'href="/ui/recipe-sets/{recipe_set_id}"' in page
    of_set = browser.get(f"/ui/recipe-sets/{recipe_set_id}").text
    assert f"<title>Recipe set {recipe_set_id} of admin is cancelled, with the result Warn" in of_set
    for recipe in job["recipe_sets"][0]["recipes"]:
        assert f'href="/ui/recipes/{recipe["recipe_id"]}"' in of_set
        assert recipe["reason"] in of_set


def test_results_page__of_a_failed_task__shows_its_message_and_links_only_to_the_web(
    browser: Browser, service: Running, machine: str
) -> None:
    with service.client() as admin:
        made = submit(admin, recipe_for(machine))
        (recipe_id,) = made["recipe_ids"]
        tasks = start(admin, recipe_id)
        log = {"name": "dmesg", "url": "https://logs.example.com/dmesg"}
        for message in (
            {"task_id": tasks[0], "result": "Pass", "path": "/setup"},
            {"task_id": tasks[0], "result": "Fail", "path": "/boot", "message": HOSTILE, "logs": [log]},
        ):
            assert report(admin, recipe_id, message).status_code == 200
        cancel_set(admin, made)
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    path = f"/ui/jobs/{made['job_id']}/results"
    whole, failed = browser.get(path).text, browser.get(path, params={"failed": "true"}).text
    assert "/setup" in whole and "/setup" not in failed
    assert whole.index("/boot") < whole.index("/setup"), "the failure of the task first"
    assert "<script>alert" not in failed and SHOWN in failed
    assert 'href="https://logs.example.com/dmesg"' in failed
    # The second task was given up with its recipe.
    assert "seen enough" in failed
    assert f'href="{path}?failed=true"' in browser.get(f"/ui/jobs/{made['job_id']}").text


def test_pages_of_a_job__results_were_deleted__say_so_at_all_moments(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    job_id, before = submitted["job_id"], service.end()
    delete_results(service, job_id)
    with service.client() as admin:
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    (recipe_id,) = submitted["recipe_ids"]
    for path in (f"jobs/{job_id}", f"jobs/{job_id}/results", f"recipes/{recipe_id}"):
        for past in ({}, {"as_of": before}):
            page = browser.get(f"/ui/{path}", params=past).text
            assert "Results and logs were deleted on" in page, path
            assert "30 days after the end" in page, path
    assert "Keep the results" not in browser.get(f"/ui/jobs/{job_id}").text
    logs = browser.get("/ui/retention").text.partition("Logs that are not deleted yet")[2]
    assert 'data-key="lab.east.example.com"' in logs


def delete_results(service: Running, job_id: int) -> None:
    """Append the events that delete the results and logs of a job, as no job of a test ended long ago."""
    subject = f"job/{job_id}"
    events = JobResultsDeleted("scratch", 30), JobLogsExpired("lab.east.example.com")
    with closing(EventLog(service.database.service_url)) as log:
        version = len(log.load({subject: 0})[subject])
        stamp = Stamp(datetime.now(UTC), "retention", "timer/retention")
        changes = tuple(Change(subject, event, stamp) for event in events)
        request = AppendRequest(
            f"test/{subject}", changes, {subject: version}, partition=partition_of([subject])
        )
        (outcome,) = log.append([request])
        require_committed(outcome)


def test_job_page__kept_by_a_person__says_who_and_why(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    page = f"/ui/jobs/{submitted['job_id']}"
    assert "Keep the results" in browser.get(page).text
    with service.client() as admin:
        answer = admin.post(f"/jobs/{submitted['job_id']}/keep", json={"reason": HOSTILE})
        admin.get("/jobs", params={"min_position": answer.json()["position"]})
    shown = browser.get(page).text
    assert "kept by" in shown and SHOWN in shown and "Do not keep the results" in shown
