"""The pages of a recipe: the facts of the API, as of one position, and nothing of the text is markup."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from api.pages.elements import exact
from tests.harness.running import Running
from tests.pages.browser import Browser
from tests.rest.actions import cancel_set, in_state, recipe_for, submit

HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}"


@pytest.fixture
def recipe(service: Running) -> dict[str, Any]:
    with service.client() as admin:
        submitted = submit(admin, recipe_for("x86-01.east.example.com"), whiteboard=HOSTILE)
        (recipe_id,) = submitted["recipe_ids"]
        found: dict[str, Any] = admin.get(
            f"/recipes/{recipe_id}", params={"min_position": submitted["position"]}
        ).json()
        return found


def test_recipe_page__as_of_a_position__shows_the_facts_of_the_api(
    browser: Browser, service: Running, recipe: dict[str, Any]
) -> None:
    path = f"/recipes/{recipe['recipe_id']}"
    with service.client() as admin:
        fact = admin.get(path, params={"as_of": recipe["position"]}).json()
    page = browser.get(f"/ui{path}", params={"as_of": recipe["position"]})
    assert page.status_code == 200, page.text
    for name in ("state", "priority", "owner", "queue", "job_id"):
        assert f"{fact[name]}" in page.text
    assert "This page is about the past" in page.text
    for task in fact["tasks"]:
        assert task["name"] in page.text


def test_why_page__of_a_waiting_recipe__says_the_summary_in_title_and_description(
    browser: Browser, service: Running, recipe: dict[str, Any]
) -> None:
    path = f"/recipes/{recipe['recipe_id']}"
    asked = {"as_of": recipe["position"]}
    with service.client() as admin:
        summary = admin.get(f"{path}/explanation", params=asked).json()["summary"]
    page = browser.get(f"/ui{path}/why", params=asked)
    assert page.status_code == 200, page.text
    sentence = f"Recipe {recipe['recipe_id']} waits: {summary}"
    assert f"<title>{sentence} · Labledger</title>" in page.text
    assert f'<meta name="description" content="{sentence}">' in page.text


def test_why_page__of_a_recipe_that_ended_without_a_system__does_not_say_that_it_waits(
    browser: Browser, service: Running
) -> None:
    with service.client() as admin:
        # Its architecture has no distro tree, so the set is aborted.
        found = submit(admin, recipe_for("x86-02.east.example.com"))
        state = in_state(admin, found["recipe_ids"][0], "aborted", "cancelled")["state"]
    number = found["recipe_ids"][0]
    page = browser.get(f"/ui/recipes/{number}/why", params={"min_position": service.end()}).text
    assert f"<h1>Why recipe {number} is {state}</h1>" in page
    assert f"<title>Recipe {number} is {state}: " in page


def test_recipe_and_why_page__of_a_waiting_recipe__show_the_estimate_with_its_basis(
    browser: Browser, service: Running, recipe: dict[str, Any]
) -> None:
    path, asked = f"/recipes/{recipe['recipe_id']}", {"as_of": recipe["position"]}
    with service.client() as admin:
        estimate = admin.get(f"{path}/estimate", params=asked).json()
    for address in (path, f"{path}/why"):
        page = browser.get(f"/ui{address}", params=asked)
        assert page.status_code == 200, page.text
        assert f"<dd>{estimate['summary']}</dd>" in page.text
        assert f"<dd>{estimate['basis']['words']}</dd>" in page.text


def test_waits_page__by_each_property__shows_groups_and_histograms(
    browser: Browser, service: Running
) -> None:
    fqdn = f"waits-{service.end()}.example.com"
    place = {"lab_controller": "lab.east.example.com", "owner": "alice", "condition": "Automated"}
    with service.client() as admin:
        system = {"fqdn": fqdn, **place, "type": "Machine", "arches": ["x86_64"]}
        admin.post("/systems", json=system).raise_for_status()
        submitted = submit(admin, recipe_for(fqdn))
        in_state(admin, submitted["recipe_ids"][0], "waiting")
        position = service.end()
        found = {
            by: admin.get("/waits", params={"by": by, "as_of": position}).json()
            for by in ("priority", "group", "pool", "requirement")
        }
        cancel_set(admin, submitted)
    for by, waits in found.items():
        assert waits["groups"], by
        page = browser.get("/ui/waits", params={"by": by, "as_of": position})
        assert page.status_code == 200, page.text
        week = timedelta(days=7)
        assert f'since <time datetime="{exact(datetime.fromisoformat(waits["until"]) - week)}"' in page.text
        for group in waits["groups"]:
            assert f">{group['example_recipe_id']}</a>" in page.text
            assert (group["key"] or "none") in page.text
        assert "at most 5 s" in page.text
    assert browser.get("/ui/waits", params={"by": "owner"}).status_code == 422


def test_why_page__of_a_recipe_with_a_system__names_system_and_position(
    browser: Browser, service: Running
) -> None:
    fqdn = f"own-{service.end()}.example.com"
    place = {"lab_controller": "lab.east.example.com", "owner": "alice", "condition": "Automated"}
    with service.client() as admin:
        system = {"fqdn": fqdn, **place, "type": "Machine", "arches": ["x86_64"]}
        admin.post("/systems", json=system).raise_for_status()
        submitted = submit(admin, recipe_for(fqdn))
        (recipe_id,) = submitted["recipe_ids"]
        in_state(admin, recipe_id, "scheduled", "waiting")
        explained = admin.get(f"/recipes/{recipe_id}/explanation").json()
        cancel_set(admin, submitted)
    page = browser.get(f"/ui/recipes/{recipe_id}/why", params={"as_of": explained["position"]})
    assert page.status_code == 200, page.text
    granted = explained["granted"]
    assert f"{granted['system']}</a> at position {granted['position']}" in page.text
    for each in (*granted["behind"], *granted["passed_over"]):
        assert f'href="/ui/recipes/{each["recipe_id"]}' in page.text


@pytest.mark.parametrize(
    "path", ["/ui", "/ui/login", "/ui/recipes/999999", "/ui/nowhere", "/ui/recipes/1?x=1"]
)
def test_every_page__errors_too__has_the_security_headers(browser: Browser, path: str) -> None:
    answer = browser.get(path)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"].split("; ")
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert (answer.headers["cache-control"], answer.headers["referrer-policy"]) == ("no-store", "same-origin")
    assert "style=" not in answer.text
    assert not re.search(r"<script(?![^>]* src=)", answer.text)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/ui/recipes/999999", 404, "Recipe 999999 not found"),
        ("/ui/nowhere", 404, "there is no resource at this path"),
        ("/ui/recipes/1?colour=red", 422, "unknown parameter"),
    ],
)
def test_error__below_ui__is_a_page_with_the_number_of_the_request(
    browser: Browser, path: str, status: int, words: str
) -> None:
    answer = browser.get(path)
    assert answer.status_code == status
    assert words in answer.text
    assert answer.headers["x-request-id"] in answer.text


def test_static_file__by_its_hash__is_immutable(browser: Browser, service: Running) -> None:
    page = browser.get("/ui").text
    path = page.partition('rel="stylesheet" href="')[2].partition('"')[0]
    answer = httpx.get(f"{service.url}{path}", trust_env=False)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/css; charset=utf-8")
    assert "immutable" in answer.headers["cache-control"]
    assert browser.get("/ui/static/pages.css").status_code == 404
