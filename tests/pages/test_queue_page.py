"""The page of the queue: the facts of the API at a position, the order on a system, pages and the past."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from lxml import html

from tests.harness.running import Running
from tests.pages.browser import PASSWORD, Browser
from tests.pages.page_facts import unexplained
from tests.pages.page_text import element_text, missing, page_of
from tests.rest.actions import EAST, cancel_set, in_state, recipe_for, submit

BUSY, BROKEN, HIDDEN = (f"{name}-in-queue.east.example.com" for name in ("busy", "broken", "hidden"))
HOSTILE = "<script>alert(1)</script>{{ 7 * 7 }}"


class Queue(NamedTuple):
    """Positions before and after all recipes waited, and the waiting recipes by their reason."""

    begin: int
    position: int
    recipes: dict[int, str]
    admin: httpx.Client


@pytest.fixture(scope="module")
def queue(service: Running) -> Iterator[Queue]:
    with service.client() as admin:
        admin.put("/users/dave", json={"roles": ["submitter"]}).raise_for_status()
        admin.put("/users/dave/password", json={"password": PASSWORD}).raise_for_status()
        for fqdn, condition in ((BUSY, "Automated"), (BROKEN, "Broken"), (HIDDEN, "Broken")):
            system = {"fqdn": fqdn, "lab_controller": EAST, "owner": "alice", "condition": condition}
            described = {**system, "type": "Machine", "arches": ["x86_64"]}
            admin.post("/systems", json=described).raise_for_status()
        policy = {"entries": [{"permission": "view", "user": "alice"}]}
        admin.put(f"/systems/{HIDDEN}/access-policy", json=policy).raise_for_status()
        runs = submit(admin, recipe_for(BUSY))
        in_state(admin, runs["recipe_ids"][0], "waiting")
        begin = service.end()
        wanted = [
            {BUSY: "no-idle-system"},
            {BROKEN: "all-broken"},
            {BUSY: "set-incomplete", BROKEN: "all-broken"},
        ]
        jobs = [submit(admin, *map(recipe_for, fqdns), whiteboard=HOSTILE) for fqdns in wanted]
        for recipe_id in (recipe_id for job in jobs for recipe_id in job["recipe_ids"]):
            in_state(admin, recipe_id, "queued")
        position = service.end()
        admin.get("/queue", params={"min_position": position}).raise_for_status()
        found = {
            recipe_id: code
            for job, codes in zip(jobs, wanted, strict=True)
            for recipe_id, code in zip(job["recipe_ids"], codes.values(), strict=True)
        }
        yield Queue(begin, position, found, admin)
        for job in (runs, *jobs):
            cancel_set(admin, job)


def rows_of(page: str) -> dict[str, str]:
    """Return the rows of the table of recipes by their key."""
    (table,) = html.fromstring(page).findall(".//div[@data-part='recipes']//tbody")
    return {row.get("data-key"): element_text(row) for row in table if row.get("data-key")}


def answers(queue: Queue, **params: Any) -> list[dict[str, Any]]:
    """Return the answers of the API that the page shows as of the position."""
    paths = ("/queue", "/queue/reasons") if "system" not in params else ("/queue",)
    found = []
    for path in paths:
        more = {"reasons": True, "estimates": True} if path == "/queue" else {}
        answer = queue.admin.get(path, params={"as_of": queue.position, **params, **more})
        found.append(answer.raise_for_status().json())
    return found


def test_page__of_the_queue__has_each_fact_of_the_api_and_no_other(queue: Queue, browser: Browser) -> None:
    listed, counts = answers(queue)
    page = page_of(browser, "/queue", as_of=queue.position)
    assert unexplained(page, [listed, counts]) == set()
    assert HOSTILE not in page
    rows = rows_of(page)
    assert list(rows) == [str(row["recipe_id"]) for row in listed["recipes"]]
    shown = ("recipe_id", "state", "priority", "owner", "job_id", "recipe_set_id", "partition", "reason")
    for row in listed["recipes"]:
        facts = {name: row[name] for name in shown} | {"reason": row["reason"]["text"]}
        assert missing(facts, rows[str(row["recipe_id"])]) == []
    whole = element_text(html.fromstring(page).find(".//main"))
    assert missing({**counts, "partitions": []}, whole) == []
    title = html.fromstring(page).findtext(".//title") or ""
    assert f"Queue: {counts['recipes']} recipes wait" in title
    for recipe_id, code in queue.recipes.items():
        assert listed["recipes"][list(rows).index(str(recipe_id))]["reason"]["code"] == code
        assert f"/ui/recipes/{recipe_id}/why?as_of={queue.position}" in page


def test_page__of_a_system__has_its_order_with_effective_priorities(queue: Queue, browser: Browser) -> None:
    (listed,) = answers(queue, system=BUSY)
    page = page_of(browser, "/queue", as_of=queue.position, system=BUSY)
    assert unexplained(page, [listed, BUSY]) == set()
    assert list(rows_of(page)) == [str(row["recipe_id"]) for row in listed["recipes"]]
    assert listed["recipes"]
    assert "Effective priority" in page and f"Queue of {BUSY}" in page


def test_page__of_the_present__waits_for_what_the_reader_has_done(queue: Queue, browser: Browser) -> None:
    job = submit(queue.admin, recipe_for(BROKEN))
    in_state(queue.admin, job["recipe_ids"][0], "queued")
    position = queue.admin.get(f"/recipes/{job['recipe_ids'][0]}").json()["position"]
    page = page_of(browser, "/queue", min_position=position)
    counts = queue.admin.get("/queue/reasons", params={"min_position": position}).json()
    assert str(job["recipe_ids"][0]) in rows_of(page)
    assert f"Queue: {counts['recipes']} recipes wait" in page
    cancel_set(queue.admin, job)


def test_page__of_an_earlier_moment__has_no_later_recipe(queue: Queue, browser: Browser) -> None:
    rows = rows_of(page_of(browser, "/queue", as_of=queue.begin))
    assert rows.keys().isdisjoint(map(str, queue.recipes))


def test_page__of_a_long_queue__leads_to_the_next_one(queue: Queue, browser: Browser) -> None:
    expected = [str(row["recipe_id"]) for row in answers(queue)[0]["recipes"]]
    found: list[str] = []
    address: str | None = f"/ui/queue?limit=2&as_of={queue.position}"
    while address:
        page = browser.get(address)
        assert page.status_code == 200, page.text
        found += rows_of(page.text)
        following = re.search(r'rel="next" href="([^"]+)"', page.text)
        address = html.fromstring(f"<p>{following[1]}</p>").text if following else None
    assert found == expected


def test_page__of_a_hidden_system__is_not_found_and_no_byte_names_it(queue: Queue, stranger: Browser) -> None:
    assert stranger.log_in("dave", PASSWORD).status_code == 303
    hidden = stranger.get("/ui/queue", params={"system": HIDDEN, "as_of": queue.position})
    unknown = stranger.get("/ui/queue", params={"system": "no-such.example.com", "as_of": queue.position})
    assert (hidden.status_code, unknown.status_code) == (404, 404)
    assert HIDDEN not in page_of(stranger, "/queue", as_of=queue.position)


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"partition": "nowhere"}, 404),
        ({"partition": "default", "system": BUSY}, 422),
        ({"reasons": "true"}, 422),
        ({"cursor": "bm8="}, 422),
    ],
)
def test_page__bad_parameters__are_refused(browser: Browser, params: dict[str, str], status: int) -> None:
    assert browser.get("/ui/queue", params=params).status_code == status
