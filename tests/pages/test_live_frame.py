"""Live pages around their facts: title, heading, actions and moment, and the end of the login."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser as Program
from playwright.sync_api import BrowserContext, Page

from tests.harness.running import Running
from tests.pages.browser import PASSWORD, Browser, form_value, stream
from tests.pages.chromium import live, watched_page
from tests.pages.keyboard import log_in
from tests.pages.people import OTHER, OWNER
from tests.rest.actions import cancel_set, in_state, recipe_for, submit

ACTIONS = "nav[aria-label=Actions] a"
TOP = "document.querySelector('[data-part=facts]').getBoundingClientRect().top + scrollY"


def links(page: Page) -> str:
    """Return the addresses of the links to this moment and to the previous change."""
    return " ".join(link.get_attribute("href") or "" for link in page.locator(".steps a").all())


def shown_position(page: Page) -> int:
    """Return the position of the state that the page shows."""
    return int(page.evaluate("document.body.dataset.position"))


@pytest.fixture
def waiting(service: Running, machine: str) -> Iterator[dict[str, Any]]:
    """Yield the answer about a job whose recipe waits for a busy system."""
    with service.client() as admin:
        jobs = [submit(admin, recipe_for(machine)) for _ in range(2)]
        for job, state in zip(jobs, ("waiting", "queued"), strict=True):
            in_state(admin, job["recipe_ids"][0], state)
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
        yield jobs[1]
        for job in reversed(jobs):
            cancel_set(admin, job)


def test_job_page__is_cancelled__title_actions_and_moment_follow_and_the_form_stays(
    context: BrowserContext, service: Running, waiting: dict[str, Any]
) -> None:
    page = context.new_page()
    page.goto(f"/ui/jobs/{waiting['job_id']}")
    live(page, "Updated at")
    assert page.locator(ACTIONS).all_inner_texts() == ["Cancel the job", "Keep the results"]
    before, place = shown_position(page), page.evaluate(TOP)
    page.focus("#moment-slider")
    page.keyboard.press("ArrowLeft")
    slider, field = page.input_value("#moment-slider"), page.input_value("#as-of")
    with service.client() as admin:
        cancel_set(admin, waiting)
    page.wait_for_function("() => document.title.includes('is cancelled')", timeout=15_000)
    position = shown_position(page)
    assert position > before
    assert page.locator(ACTIONS).all_inner_texts() == ["Keep the results"]
    assert f"Position {position}, recorded" in page.inner_text(".moment")
    assert f"as_of={position}" in links(page) and f"at={position}" in links(page)
    assert str(before) not in re.findall(r"\d+", links(page))
    assert (page.input_value("#moment-slider"), page.input_value("#as-of")) == (slider, field)
    assert page.evaluate("document.activeElement.id") == "moment-slider"
    assert page.evaluate(TOP) == place


def test_queue_page__a_recipe_comes__heading_and_title_count_it(
    context: BrowserContext, service: Running, waiting: dict[str, Any], machine: str
) -> None:
    page = context.new_page()
    page.goto("/ui/queue")
    before = page.inner_text("h1")
    with service.client() as admin:
        later = submit(admin, recipe_for(machine))
        page.wait_for_function(
            "before => document.querySelector('h1').innerText !== before", arg=before, timeout=15_000
        )
        shown = page.evaluate("[document.querySelector('h1').innerText, document.title]")
        assert re.fullmatch(r"Queue: \d+ recipes? waits?", shown[0])
        assert shown[1] == f"{shown[0]} · Labledger"
        cancel_set(admin, later)


def test_why_page__recipe_is_cancelled__says_so_and_not_that_it_waits(
    context: BrowserContext, service: Running, waiting: dict[str, Any]
) -> None:
    page = context.new_page()
    page.goto(f"/ui/recipes/{waiting['recipe_ids'][0]}/why")
    assert page.inner_text("h1").endswith(" waits")
    page.fill("#system", "unfinished")
    live(page, "Updated at")
    assert page.input_value("#system") == "unfinished"
    with service.client() as admin:
        cancel_set(admin, waiting)
    live(page, "is cancelled")
    assert page.inner_text("h1").endswith(" is cancelled")
    assert "seen enough" in page.title() and "seen enough" in page.inner_text(".lead")
    assert page.locator("#system").count() == 0


def test_stream__of_a_job_to_its_owner_and_another__only_the_owner_gets_actions(
    service: Running, people: dict[str, Browser]
) -> None:
    with service.client() as admin:
        token = admin.post("/tokens", json={"user": OWNER, "role": "submitter"}).json()["token"]
        with service.client(token) as owner:
            job = submit(owner, recipe_for("x86-01.east.example.com"))
        admin.get("/jobs", params={"min_position": job["position"]}).raise_for_status()
        page = f"/ui/jobs/{job['job_id']}"
        with stream(people[OWNER], page) as own, stream(people[OTHER], page) as others:
            assert f'href="{page}/actions/cancel"' in next(own)["parts"]["actions"]
            assert next(others)["parts"]["actions"].strip() == ""
            cancel_set(admin, job)
            changed = next(event for event in own if "actions" in event["parts"])
            assert re.findall(r'href="(.*?)"', changed["parts"]["actions"]) == [f"{page}/actions/keep"]


def test_stream__without_a_login__says_so(browser: Browser, stranger: Browser) -> None:
    home = browser.get("/ui")
    cookies = dict(browser.cookies)
    assert browser.post("/ui/logout", {"form_value": form_value(home)}).status_code == 303
    # The token of the login is revoked; then there is none at all.
    for stranger.cookies in (cookies, {}):
        with stranger.stream("/ui/live", [("page", "/ui/jobs")]) as answer:
            assert answer.headers["content-type"] == "text/event-stream"
            assert answer.read() == b"event: login\ndata: {}\n\n"


@pytest.mark.soak
def test_page__after_the_logout_in_another_tab__links_to_the_login_and_asks_no_more(
    program: Program, service: Running
) -> None:
    # A login of its own: the others share one.
    with watched_page(program, service.url) as watched:
        log_in(watched, "admin", PASSWORD)
        assert_says_that_the_login_is_over(watched.page.context)


def assert_says_that_the_login_is_over(context: BrowserContext) -> None:
    page, other = context.new_page(), context.new_page()
    requests: list[str] = []
    context.on("request", lambda request: requests.append(request.url))
    page.goto("/ui/jobs?owner=admin")
    live(page, "Updated at")
    other.goto("/ui/waits")
    other.click("text=Log out")
    live(page, "The login is over")
    link = page.locator("#live-state a")
    assert link.get_attribute("href") == "/ui/login?next=%2Fui%2Fjobs%3Fowner%3Dadmin"
    requests.clear()
    page.wait_for_timeout(6_000)
    assert requests == []
    link.click()
    page.fill("#user", "admin")
    page.fill("#password", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/ui/jobs?owner=admin")
    live(page, "Updated at")
