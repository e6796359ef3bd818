"""The pages of the log and of auditors' reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.pages.live.parts_of_page import live_parts
from tests.harness.running import Running
from tests.pages.browser import PASSWORD, Browser
from tests.rest.actions import cancel_set, in_state, recipe_for, submit

ROW = re.compile(r'<tr data-key="(\d+)">')


def positions(page: httpx.Response) -> list[int]:
    assert page.status_code == 200, page.text
    return [int(found) for found in ROW.findall(page.text)]


def links_of(page: httpx.Response, relation: str) -> str | None:
    found = re.search(rf'<a rel="{relation}" href="([^"]+)"', page.text)
    return found[1].replace("&amp;", "&") if found else None


@pytest.fixture
def submitted(service: Running, machine: str) -> dict[str, Any]:
    """Return the answer about a job that got a system and was cancelled; the read models have all of it."""
    with service.client() as admin:
        found: dict[str, Any] = submit(admin, recipe_for(machine), whiteboard="<b>bold</b>")
        in_state(admin, found["recipe_ids"][0], "waiting")
        cancel_set(admin, found)
        admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    return found


def test_events__pages_by_the_older_link__are_the_whole_log_backwards(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    end = service.end()
    address: str | None = f"/ui/events?limit=40&before={end + 1}&min_position={end}"
    found: list[int] = []
    while address is not None:
        page = browser.get(address)
        found += positions(page)
        address = links_of(page, "next")
    assert found == list(range(end, 0, -1))


def test_event__caused_by_a_request__shows_the_token_of_the_request(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    with service.client() as admin:
        asked = {"types": "job.submitted", "subject": f"job/{submitted['job_id']}"}
        (event,) = admin.get("/events", params=asked).json()["events"]
    link = re.compile(rf'<a href="/ui/tokens/{event["token_id"]}[?]as_of={event["commit_end"]}">')
    assert link.search(browser.get(f"/ui/events/{event['position']}").text)
    assert link.search(browser.get(f"/ui/events?subject=job/{submitted['job_id']}").text)


def test_events__newest_page__is_live_in_one_line_and_no_row_comes_in_above_those_being_read(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    page = browser.get("/ui/events", params={"min_position": service.end()})
    live = live_parts(page.text)
    assert f'<a href="/ui/events/{positions(page)[0]}">' in live["newest"]
    assert not [name for name, part in live.items() if "<tr" in part]
    for rest in (f"before={service.end()}", f"as_of={service.end()}"):
        assert "newest" not in live_parts(browser.get(f"/ui/events?{rest}").text)


def test_events__filters__select_and_stay_in_the_form(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    subject = f"recipe/{submitted['recipe_ids'][0]}"
    events = [event for event in service.events() if event["subject"] == subject]
    page = browser.get("/ui/events", params={"subject": subject})
    assert positions(page) == [event["position"] for event in reversed(events)]
    assert f'name="subject" value="{subject}"' in page.text
    page = browser.get("/ui/events", params={"subject": subject, "types": "recipe.new"})
    assert positions(page) == [events[0]["position"]]
    assert "<option selected>recipe.new</option>" in page.text
    times = {"since": events[0]["recorded_at"], "until": events[-1]["recorded_at"]}
    page = browser.get("/ui/events", params={"subject": subject, **times})
    inside = [event for event in events if times["since"] <= event["recorded_at"] < times["until"]]
    assert positions(page) == [event["position"] for event in reversed(inside)] and inside
    for name, value in times.items():
        assert f'name="{name}" value="{value}"' in page.text
    for faulty in ({"until": "noon"}, {"since": times["until"], "until": "2020-01-01T00:00:00Z"}):
        assert browser.get("/ui/events", params=faulty).status_code == 422


def test_events__of_an_actor__are_on_the_page_and_linked_from_an_event(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    events = service.events()
    end = events[-1]["position"]
    for actor in ("scheduler", "nobody"):
        page = browser.get("/ui/events", params={"actor": actor, "limit": 1000, "min_position": end})
        expected = [each["position"] for each in events if each["actor"] == actor]
        assert [each for each in positions(page) if each <= end] == expected[::-1]
        assert f'name="actor" value="{actor}"' in page.text
    decided = next(each for each in events if each["actor"] == "scheduler")
    assert 'href="/ui/events?actor=scheduler"' in browser.get(f"/ui/events/{decided['position']}").text
    assert browser.get("/ui/events", params={"actor": "no name"}).status_code == 422


def test_event__cause_and_caused_events__are_links_to_each_other(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    events = service.events()
    caused = next(event for event in reversed(events) if event["cause"].startswith("event/"))
    position = int(caused["cause"].removeprefix("event/"))
    expected = [event["position"] for event in events if event["cause"] == caused["cause"]]
    assert f'href="/ui/events/{position}"' in browser.get(f"/ui/events/{caused['position']}").text
    assert positions(browser.get(f"/ui/events/{position}")) == expected


def test_event__steps__visit_all_events_of_the_subject(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    subject = f"recipe/{submitted['recipe_ids'][0]}"
    expected = [event["position"] for event in service.events() if event["subject"] == subject]
    for start, direction in ((expected[0], "next"), (expected[-1], "prev")):
        address: str | None = f"/ui/events/{start}"
        visited: list[int] = []
        while address is not None:
            visited.append(int(address.rpartition("/")[2]))
            page = browser.get(address)
            assert f'href="/ui/recipes/{submitted["recipe_ids"][0]}"' in page.text
            address = links_of(page, direction)
        assert visited == (expected if direction == "next" else expected[::-1])


def test_event__all_fields__are_on_its_page(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    decided = next(event for event in reversed(service.events()) if event["basis"] is not None)
    job = next(event for event in service.events() if event["subject"] == f"job/{submitted['job_id']}")
    for event in (decided, job):
        page = browser.get(f"/ui/events/{event['position']}").text
        assert f"<title>Event {event['position']}: {event['topic']} of {event['subject']}" in page
        for name in event["data"]:
            assert f'<th scope="row">{name}</th>' in page
        for name in ("actor", "cause", "commit_end"):
            assert str(event[name]) in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page and "<b>bold" not in page


def test_event__after_the_moment_of_the_page__is_not_there(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    (first, *_) = [e for e in service.events() if e["subject"] == f"recipe/{submitted['recipe_ids'][0]}"]
    at = first["commit_end"]
    page = browser.get(f"/ui/events/{first['position']}", params={"as_of": at})
    assert page.status_code == 200 and links_of(page, "next") is None
    assert browser.get(f"/ui/events/{at + 1}", params={"as_of": at}).status_code == 404
    assert positions(browser.get("/ui/events", params={"as_of": at}))[0] == at
    assert browser.get(f"/ui/events/{service.end() + 1_000}").status_code == 404


@pytest.fixture
def auditor(service: Running) -> Iterator[Browser]:
    """Yield a browser in which an auditor is logged in."""
    with service.client() as admin:
        roles = {"roles": ["submitter", "auditor"]}
        admin.put("/users/audrey", json=roles).raise_for_status()
        admin.put("/users/audrey/password", json={"password": PASSWORD}).raise_for_status()
    browser = Browser(service.url)
    assert browser.log_in("audrey", PASSWORD, role="auditor").status_code == 303
    yield browser
    browser.close()


def recorded(service: Running) -> list[tuple[str, str]]:
    with service.client() as admin:
        reads = admin.get("/reads", params={"user": "audrey", "limit": 1000}).json()["reads"]
    return [(read["path"], read["query"]) for read in reads]


def test_pages_of_an_auditor__each__is_recorded_once_and_static_files_never(
    auditor: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    position = service.end()
    pages = ["/ui", "/ui/events", f"/ui/events/{position}", "/ui/jobs", f"/ui/jobs/{submitted['job_id']}"]
    pages += [f"/ui/recipes/{submitted['recipe_ids'][0]}{below}" for below in ("", "/why")]
    pages += [f"/ui/recipe-sets/{submitted['recipe_set_id']}", "/ui/reads"]
    for path in pages:
        before = recorded(service)
        page = auditor.get(path, params={"min_position": position})
        assert page.status_code == 200, page.text
        files = re.findall(r'(?:href|src)="(/ui/static/[^"]+)"', page.text)
        assert len(files) >= 2
        for file in files:
            assert auditor.get(file).status_code == 200
        assert recorded(service)[len(before) :] == [(path, f"min_position={position}")]


def test_reads__of_auditors__are_listed_newest_first_and_only_for_admins_and_auditors(
    auditor: Browser, browser: Browser, service: Running
) -> None:
    for _ in range(2):
        auditor.get("/ui/jobs", params={"limit": 7})
    page = browser.get("/ui/reads", params={"user": "audrey", "limit": 1})
    assert "limit=7" in page.text and page.text.count('<th scope="row"') == 1
    older = links_of(page, "next")
    assert older is not None
    assert "limit=7" in browser.get(older).text and browser.get(older).text != page.text
    assert 'href="/ui/reads"' in auditor.get("/ui").text
    with service.client() as admin:
        admin.put("/users/audrey/password", json={"password": PASSWORD}).raise_for_status()
    submitter = Browser(service.url)
    assert submitter.log_in("audrey", PASSWORD, role="submitter").status_code == 303
    assert 'href="/ui/reads"' not in submitter.get("/ui").text
    refused = submitter.get("/ui/reads")
    assert refused.status_code == 403
    # The page leads to what the reader may see, and not to itself.
    assert 'href="/ui/jobs"' in refused.text and 'href="/ui/reads"' not in refused.text
    wrong = submitter.get("/ui/jobs", params={"as_of": "yesterday"})
    assert wrong.status_code == 422 and "such as 2026-11-29T18:00:00Z" in wrong.text
    submitter.close()


def test_reads__as_of_the_past__have_none_that_came_later(
    auditor: Browser, browser: Browser, service: Running
) -> None:
    auditor.get("/ui/jobs", params={"limit": 11})
    with service.client() as admin:
        admin.put("/users/late", json={}).raise_for_status()
        position = service.end()
        admin.get("/jobs", params={"min_position": position}).raise_for_status()
    auditor.get("/ui/jobs", params={"limit": 12})
    page = browser.get("/ui/reads", params={"as_of": position}).text
    assert "limit=11" in page and "limit=12" not in page


def test_events_of_tokens__for_a_submitter__are_not_there(
    browser: Browser, service: Running, submitted: dict[str, Any]
) -> None:
    created = next(event for event in service.events() if event["topic"] == "token.created")
    path = f"/ui/events/{created['position']}"
    assert browser.get(path).status_code == 200
    with service.client() as admin:
        admin.put("/users/sam", json={}).raise_for_status()
        admin.put("/users/sam/password", json={"password": PASSWORD}).raise_for_status()
    submitter = Browser(service.url)
    assert submitter.log_in("sam", PASSWORD).status_code == 303
    assert submitter.get(path).status_code == 404
    assert created["position"] not in positions(
        submitter.get("/ui/events", params={"before": created["position"] + 2})
    )
    assert submitter.get("/ui/events", params={"types": "token.created"}).status_code == 403
    submitter.close()
