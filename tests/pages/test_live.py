"""Live pages: the stream sends what changes, once for all tabs, and ends with the login."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Error, Page

from api.pages.live.live_view import view_key
from api.rest.context import Principal
from api.rest.visibility import Sight
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.pages.browser import PASSWORD, Browser, form_value, stream
from tests.pages.chromium import live
from tests.rest.actions import cancel_set, in_state, recipe_for, submit

TABS = 12


@pytest.mark.parametrize(
    ("address", "is_shared"),
    [
        ("/ui", False),
        ("/ui?as_of=3", False),
        ("/ui/tokens", False),
        ("/ui/tokens/a1", False),
        ("/ui/jobs", True),
        ("/ui/queue?partition=default", True),
        ("/ui/lab", True),
        # Their actions depend on the reader.
        ("/ui/jobs/1", False),
        ("/ui/jobs/1/", False),
        ("/ui/%6aobs/1", False),
        ("/ui/systems/a.example.com?cursor=x", False),
        ("/ui/recipes/1", False),
        ("/ui/recipes/1/why", True),
    ],
)
def test_view_key__of_two_users__differs_on_pages_about_the_reader(address: str, is_shared: bool) -> None:
    alice, bob = (Principal(user, "submitter", None, "") for user in ("alice", "bob"))
    keys = {view_key(address, who, Sight(frozenset(), frozenset())) for who in (alice, bob)}
    assert len(keys) == (1 if is_shared else 2)


def test_stream__recipe_is_cancelled__sends_the_changed_parts(
    browser: Browser, service: Running, recipe: dict[str, Any]
) -> None:
    page = f"/ui/recipes/{recipe['recipe_ids'][0]}"
    with stream(browser, page, "/ui/jobs") as events:
        first = {event["page"]: event for event in (next(events), next(events))}
        assert set(first) == {page, "/ui/jobs"}
        body = {"lead", "estimate", "facts", "tasks", "history"}
        assert set(first[page]["parts"]) == {"title", "actions", *body, "moment"}
        with service.client() as admin:
            cancel_set(admin, recipe)
        changed = next(event for event in events if event["page"] == page)
    assert changed["position"] > first[page]["position"]
    assert "seen enough" in changed["parts"]["history"]
    whole = browser.get(page).text
    assert changed["parts"]["lead"] in whole


def test_stream__one_job_of_many_changes__sends_its_row_alone(
    browser: Browser, service: Running, machine: str
) -> None:
    with service.client() as admin:
        # The other jobs wait for the system of the first one, and change only here.
        first = submit(admin, recipe_for(machine))
        in_state(admin, first["recipe_ids"][0], "waiting")
        jobs = [submit(admin, recipe_for(machine)) for _ in range(3)]
        for job in jobs:
            in_state(admin, job["recipe_ids"][0], "queued")
        present = service.end()
        admin.get("/jobs", params={"min_position": present}).raise_for_status()
        with stream(browser, "/ui/jobs") as events:
            whole = next(event for event in events if event["position"] >= present)
            cancel_set(admin, jobs[1])
            received = [whole]
            while f'data-key="{jobs[1]["job_id"]}"><' not in str(received[-1]) or len(received) == 1:
                received.append(next(events))
            changed = received[-1]
        for job in (jobs[0], jobs[2], first):
            cancel_set(admin, job)
    assert whole["after"] is None and "data-same" not in str(whole)
    assert [event["after"] for event in received[1:]] == [event["position"] for event in received[:-1]]
    html = changed["parts"]["jobs"] if "jobs" in changed["parts"] else str(changed["parts"])
    assert f'data-key="{jobs[0]["job_id"]}"><' not in html
    assert 'data-same="' in html


def test_stream__resumed__sends_only_what_changed_after(
    browser: Browser, service: Running, recipe: dict[str, Any]
) -> None:
    page = f"/ui/recipes/{recipe['recipe_ids'][0]}"
    with stream(browser, page) as events:
        position = next(events)["position"]
    with service.client() as admin:
        cancel_set(admin, recipe)
    with stream(browser, page, **{"Last-Event-ID": str(position)}) as events:
        assert next(events)["position"] > position


@pytest.mark.parametrize("page", ["https://elsewhere.example.com/", "/jobs", "/ui/../jobs?x=\\"])
def test_stream__of_something_else_than_a_page__422(browser: Browser, page: str) -> None:
    assert browser.get("/ui/live", params={"page": page}).status_code == 422


def test_stream__of_the_stream_itself__is_no_page_and_others_go_on(browser: Browser) -> None:
    with stream(browser, "/ui/%6cive?page=/ui/jobs", "/ui/live?page=/ui/jobs", "/ui/jobs") as events:
        assert next(events)["page"] == "/ui/jobs"


def test_stream__after_logout__ends(browser: Browser, service: Running) -> None:
    home = browser.get("/ui")
    with stream(browser, "/ui/jobs") as events:
        next(events)
        assert browser.post("/ui/logout", {"form_value": form_value(home)}).status_code == 303
        assert list(events) == []


def test_stream__of_an_auditor__is_recorded_once_and_its_refreshes_are_not(
    stranger: Browser, service: Running, recipe: dict[str, Any]
) -> None:
    def reads(admin: httpx.Client) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = admin.get("/reads", params={"user": "carol"}).json()["reads"]
        return found

    with service.client() as admin:
        admin.put("/users/carol", json={"roles": ["submitter", "auditor"]}).raise_for_status()
        admin.put("/users/carol/password", json={"password": PASSWORD}).raise_for_status()
        assert stranger.log_in("carol", PASSWORD, role="auditor").status_code == 303
        before = len(reads(admin))
        page = f"/ui/recipes/{recipe['recipe_ids'][0]}"
        assert stranger.get(page).status_code == 200
        with stream(stranger, page) as events:
            next(events)
            cancel_set(admin, recipe)
            next(events)
            found = reads(admin)[before:]
    assert [each["path"] for each in found] == [page, "/ui/live"]


def test_page__recipe_is_cancelled__changes_in_place_and_keeps_focus_and_input(
    context: BrowserContext, service: Running, recipe: dict[str, Any]
) -> None:
    page = context.new_page()
    page.goto(f"/ui/recipes/{recipe['recipe_ids'][0]}")
    page.evaluate("window.isTheSame = true")
    page.fill("#as-of", "unfinished")
    page.evaluate("document.querySelector('dd a[href*=jobs]').focus()")
    href = page.evaluate("document.activeElement.href")
    with service.client() as admin:
        cancel_set(admin, recipe)
    live(page, "seen enough")
    assert page.evaluate("window.isTheSame")
    assert page.input_value("#as-of") == "unfinished"
    assert page.evaluate("document.activeElement.href") == href


def test_page__many_changes_of_a_list__equals_the_page_loaded_again(
    context: BrowserContext, service: Running
) -> None:
    page, dice = context.new_page(), Random(5)
    page.goto("/ui/jobs")
    page.evaluate("window.isTheSame = true")
    with service.client() as admin:
        jobs: list[dict[str, Any]] = []
        for _ in range(12):
            for _ in range(dice.randint(1, 3)):
                if jobs and dice.random() < 0.5:
                    cancel_set(admin, jobs.pop(dice.randrange(len(jobs))))
                else:
                    jobs.append(submit(admin, recipe_for("x86-01.east.example.com")))
            page.wait_for_timeout(dice.choice((100, 1_500)))
        for job in jobs:
            cancel_set(admin, job)
        # What the scheduler does afterwards changes no job, and so it is not sent.
        end = max(each["position"] for each in service.events() if each["actor"] == "admin")
        page.wait_for_function(
            "end => Number(document.body.dataset.position) >= end", arg=end, timeout=15_000
        )
        read = "[...document.querySelectorAll('main tr')].map((row) => row.innerText.replace(/.* ago/g, ''))"
        followed = page.evaluate(read)
        assert page.evaluate("window.isTheSame")
        page.goto(f"/ui/jobs?min_position={end}")
        assert followed == page.evaluate(read)
        assert len(followed) > 12


# Sends the part of a list with a new paragraph before its table, and a mark instead of all of its rows.
SEND_MARK = """() => {
  const part = document.querySelector("[data-part]:has(tr[data-key])");
  const copy = part.cloneNode(true), rows = [...copy.querySelectorAll("tr[data-key]")];
  rows[0].dataset.same = rows.length;
  rows[0].replaceChildren();
  for (const row of rows.slice(1)) row.remove();
  copy.prepend(Object.assign(document.createElement("p"), { textContent: "put before the table" }));
  const position = Number(document.body.dataset.position);
  const parts = { [part.dataset.part]: copy.innerHTML };
  const event = { page: document.body.dataset.live, position, after: position, parts };
  new BroadcastChannel("labledger-live").postMessage({ kind: "heard", event });
}"""


def test_page__something_comes_before_unchanged_rows__keeps_them(
    context: BrowserContext, service: Running, recipe: dict[str, Any]
) -> None:
    with service.client() as admin:
        for made in (recipe, submit(admin, recipe_for("x86-01.east.example.com"))):
            cancel_set(admin, made)
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    page = context.new_page()
    # The stream never answers: its first event would take the paragraph away again.
    page.route("**/ui/live?*", lambda _: None)
    page.goto("/ui/jobs")
    rows = page.locator("tr[data-key]")
    before = rows.all_inner_texts()
    assert len(before) > 1
    page.evaluate(SEND_MARK)
    live(page, "put before the table")
    texts = [[text.split("\t")[0] for text in each] for each in (before, rows.all_inner_texts())]
    assert texts[0] == texts[1]


def test_tab__opened_later_than_the_stream__gets_what_it_lacks(
    context: BrowserContext, service: Running, recipe: dict[str, Any]
) -> None:
    requests: list[str] = []
    context.on("request", lambda request: requests.append(request.url))
    first, later = context.new_page(), context.new_page()
    with service.client() as admin:
        other = submit(admin, recipe_for("x86-01.east.example.com"))
        cancel_set(admin, other)
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
        for tab in (first, later):
            tab.goto("/ui/jobs")

        def has_stream() -> bool:
            first.wait_for_timeout(100)
            return any("/ui/live" in url for url in requests)

        wait_until(has_stream, "a stream", 20)
        # As if it had been loaded before what the stream has sent about the other job.
        row = f"tr[data-key='{other['job_id']}']"
        later.eval_on_selector(row, "row => { row.textContent = 'stale' }")
        later.evaluate("document.body.dataset.position = 1")
        for made in (recipe, submit(admin, recipe_for("x86-01.east.example.com"))):
            cancel_set(admin, made)
        later.wait_for_function(
            "row => document.querySelector(row).innerText !== 'stale'", arg=row, timeout=15_000
        )
        cancel_set(admin, other)
    assert later.inner_text(row).split()[0] == str(other["job_id"])


def test_slider__moved_by_keyboard__leads_to_the_page_of_that_time(
    context: BrowserContext, recipe: dict[str, Any], service: Running
) -> None:
    page = context.new_page()
    page.goto(f"/ui/recipes/{recipe['recipe_ids'][0]}")
    page.focus("#moment-slider")
    page.keyboard.press("ArrowLeft")
    chosen = page.input_value("#as-of")
    assert chosen.endswith("Z")
    page.click(".moment button")
    page.wait_for_url("**as_of=*")
    assert "This page is about the past" in page.inner_text("body")
    with service.client() as admin:
        cancel_set(admin, recipe)


@pytest.mark.soak
def test_tabs__twelve_and_the_one_with_the_stream_closed__all_are_live(
    context: BrowserContext, service: Running
) -> None:
    with service.client() as admin:
        jobs = [submit(admin, recipe_for("x86-01.east.example.com")) for _ in range(TABS)]
        admin.get("/jobs", params={"min_position": jobs[-1]["position"]}).raise_for_status()
        requests: list[str] = []
        context.on("request", lambda request: requests.append(request.url))
        tabs = [context.new_page() for _ in jobs]
        for tab, job in zip(tabs, jobs, strict=True):
            tab.goto(f"/ui/jobs/{job['job_id']}")

        def one_stream_has_all() -> bool:
            # Playwright delivers the requests while it waits.
            tabs[-1].wait_for_timeout(100)
            of_streams = [url for url in requests if "/ui/live" in url]
            return bool(of_streams) and of_streams[-1].count("page=") == TABS

        wait_until(one_stream_has_all, "one stream for all tabs", 20)
        # The first tab has the lock, and the stream.
        tabs[0].close(run_before_unload=False)
        for job in jobs[1:]:
            cancel_set(admin, job)
        for tab in tabs[1:]:
            live(tab, "cancelled")
        cancel_set(admin, jobs[0])
    # Each answers: a tab that holds a connection for itself would block the seventh.
    for tab in tabs[1:]:
        assert tab.goto("/ui/jobs").ok  # type: ignore[union-attr]


def test_tabs__process_of_the_one_with_the_stream_killed__others_go_on(
    context: BrowserContext, service: Running
) -> None:
    with service.client() as admin:
        jobs = [submit(admin, recipe_for("x86-01.east.example.com")) for _ in range(3)]
        admin.get("/jobs", params={"min_position": jobs[-1]["position"]}).raise_for_status()
        streams: list[Page] = []
        context.on("request", lambda made: "/ui/live" in made.url and streams.append(made.frame.page))
        tabs = [context.new_page() for _ in jobs]
        for tab, job in zip(tabs, jobs, strict=True):
            tab.goto(f"/ui/jobs/{job['job_id']}")
        tabs[0].wait_for_timeout(1_000)
        killed = streams[-1]
        with killed.expect_event("crash"), suppress(Error):
            # Ends the process of the tab at once, without any event of the page.
            killed.goto("chrome://crash")
        for job in jobs:
            cancel_set(admin, job)
        others = [tab for tab in tabs if tab is not killed]
        for tab in others:
            live(tab, "cancelled")
        assert len(others) == 2
