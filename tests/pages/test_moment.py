"""The moment of a page: steps between the changes of its subject, and links that keep it."""

from __future__ import annotations

import pytest

from tests.harness.running import Running
from tests.pages.browser import Browser, step
from tests.rest.actions import cancel_set, recipe_for, submit


def test_steps__of_a_recipe__visit_each_change_of_its_history(browser: Browser, service: Running) -> None:
    with service.client() as admin:
        submitted = submit(admin, recipe_for("x86-01.east.example.com"))
        (recipe_id,) = submitted["recipe_ids"]
        cancel_set(admin, submitted)
        end = service.end()
        path = f"/recipes/{recipe_id}"
        history = admin.get(path, params={"min_position": end}).json()["history"]
    visited: list[int] = []
    at: int | None = service.end() + 1
    while at is not None and at not in visited[-1:]:
        visited.append(at)
        found, at = step(browser, f"/ui{path}", at, "previous")
        assert found == f"/ui{path}"
    backwards = visited[1:]
    assert backwards == sorted(backwards, reverse=True)
    # Positions are rounded to the end of a commit, which may be after the change in it.
    changes = {min(end for end in backwards if end >= each["since_position"]) for each in history}
    assert changes == set(backwards)
    for position in backwards:
        assert browser.get(f"/ui{path}", params={"as_of": position}).status_code == 200
    forwards = [backwards[-1]]
    while (at := step(browser, f"/ui{path}", forwards[-1], "next")[1]) is not None:
        forwards.append(at)
    assert forwards == backwards[::-1]


def test_steps__of_a_job__visit_the_changes_of_its_recipes(browser: Browser, service: Running) -> None:
    with service.client() as admin:
        submitted = submit(admin, recipe_for("x86-01.east.example.com"))
        cancel_set(admin, submitted)
        end = service.end()
    job = f"/ui/jobs/{submitted['job_id']}"
    (recipe_id,) = submitted["recipe_ids"]
    assert browser.get("/ui/jobs", params={"min_position": end}).status_code == 200
    _, latest = step(browser, f"{job}?x=1", end + 1, "previous")
    assert latest is not None
    assert latest > submitted["position"]
    assert latest == step(browser, f"/ui/recipes/{recipe_id}", end + 1, "previous")[1]


def test_steps__of_a_list__visit_each_commit(browser: Browser, service: Running) -> None:
    with service.client() as admin:
        submitted = submit(admin, recipe_for("x86-01.east.example.com"))
        cancel_set(admin, submitted)
        end = service.end()
    path, before = step(browser, "/ui/jobs?owner=admin", end, "previous")
    assert path == "/ui/jobs"
    assert before is not None
    assert submitted["position"] <= before < end
    assert step(browser, "/ui/jobs", before, "next")[1] == end


@pytest.mark.parametrize("to", ["https://elsewhere.example.com/ui", "//elsewhere", "/jobs"])
def test_step__to_another_place__leads_home(browser: Browser, to: str) -> None:
    assert step(browser, to, 3, "next")[0] == "/ui"


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"to": "/ui", "at": 1, "direction": "up"}, "direction"),
        ({"to": "/ui", "at": "x", "direction": "next"}, "at"),
        ({"at": 1, "direction": "next"}, "to"),
    ],
)
def test_step__wrong_parameter__422_names_it(
    browser: Browser, params: dict[str, str | int], name: str
) -> None:
    answer = browser.get("/ui/step", params=params)
    assert answer.status_code == 422
    assert f"<li>{name}: " in answer.text


def test_page_of_the_past__its_links__keep_the_moment(browser: Browser, service: Running) -> None:
    with service.client() as admin:
        submitted = submit(admin, recipe_for("x86-01.east.example.com"), whiteboard="only later")
        cancel_set(admin, submitted)
    job, before = submitted["job_id"], submitted["position"]
    page = browser.get("/ui/jobs", params={"as_of": before, "owner": "admin"}).text
    assert f'href="/ui/jobs/{job}?as_of={before}"' in page
    assert '<a href="/ui/jobs?owner=admin">Show the present</a>' in page
    assert "cancelled" not in browser.get(f"/ui/jobs/{job}", params={"as_of": before}).text
    missing = browser.get(f"/ui/jobs/{job}", params={"as_of": before - 1})
    assert missing.status_code == 404
    assert f"This page is about the past: as of position {before - 1}." in missing.text
    assert f'<a href="/ui/jobs/{job}">Show the present</a>' in missing.text
    present = browser.get(f"/ui/jobs/{10**9}")
    assert present.status_code == 404 and "about the past" not in present.text
    assert browser.get("/ui/jobs", params={"as_of": 10**9}).status_code == 422
