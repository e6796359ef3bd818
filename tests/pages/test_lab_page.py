"""The page of the lab: the time line of the HTTP API, its filters and pages, and a picture with a table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from lxml import html

from api.pages.lab import LENGTHS, UNITS, LabQuery
from domain.system.usage import displayed_usage
from tests.harness.running import Running
from tests.pages.browser import Browser
from tests.pages.page_text import percent
from tests.rest.actions import cancel_set, in_state, recipe_for, submit

# No other test uses it, so its recipe gets it at once.
SYSTEM = "of-the-lab-page.east.example.com"


def opened(browser: Browser, **params: Any) -> Any:
    answer = browser.get("/ui/lab", params=params)
    assert answer.status_code == 200, answer.text
    return html.fromstring(answer.text)


@pytest.fixture(scope="module")
def history(service: Running) -> tuple[int, int]:
    """Return a recipe that used SYSTEM, and the position after its end."""
    with service.client() as admin:
        place = {"lab_controller": "lab.east.example.com", "owner": "admin", "condition": "Automated"}
        system = {"fqdn": SYSTEM, **place, "type": "Machine", "arches": ["x86_64"]}
        admin.post("/systems", json=system).raise_for_status()
        submitted = submit(admin, recipe_for(SYSTEM))
        in_state(admin, submitted["recipe_ids"][0], "waiting")
        cancel_set(admin, submitted)
        end = in_state(admin, submitted["recipe_ids"][0], "cancelled")
    return submitted["recipe_ids"][0], end["position"]


def rows_of(page: Any) -> list[tuple[str, ...]]:
    """Return system, begin, words of the state, recipe and person of each row in the table of intervals."""
    return [
        (
            row.findtext("th"),
            row.find("td//time").get("datetime"),
            *("".join(cell.itertext()).split(":")[0].strip() for cell in row.findall("td")[2:]),
        )
        for row in page.findall(".//details//tbody/tr")
    ]


def rows_of_answer(answer: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            system["fqdn"],
            datetime.fromisoformat(one["since"]).isoformat().replace("+00:00", "Z"),
            displayed_usage(one["condition"], one["usage"]),
            str(one["recipe_id"] or ""),
            one["user"] or "",
        )
        for system in answer["systems"]
        for one in system["intervals"]
    ]


@pytest.mark.parametrize("seconds", [10, 3_600, 10**6])
def test_lab_page__of_a_moment__its_table_has_the_intervals_of_the_api(
    browser: Browser, service: Running, history: tuple[int, int], seconds: int
) -> None:
    position = history[1]
    with service.client() as admin:
        until = datetime.fromisoformat(admin.get("/timeline", params={"as_of": position}).json()["until"])
        since = (until - timedelta(seconds=seconds)).isoformat()
        asked = {"as_of": position, "since": since, "limit": 500}
        page = opened(browser, **asked)
        resolution = seconds * 3 // UNITS
        answer = admin.get("/timeline", params={**asked, "resolution_seconds": resolution}).json()
    assert rows_of(page) == rows_of_answer(answer)
    assert {row[0] for row in rows_of(page)} > {SYSTEM}
    for link in page.xpath("//details//a/@href"):
        assert f"as_of={position}" in link
    assert all(href.startswith("url(#state-") for href in page.xpath("//*[@class='timeline']//rect/@fill"))
    for picture in page.xpath("//table[@class='timeline']//svg"):
        ends = [(percent(rect, "x"), percent(rect, "width")) for rect in picture.findall("rect")]
        assert all(x + width < 100.01 for x, width in ends)
        # A stretched picture would have other patterns than the key.
        assert picture.get("viewbox") is None
        assert [x for x, _ in ends] == sorted(x for x, _ in ends)


def test_lab_page__recipe_and_person__are_links(
    browser: Browser, service: Running, history: tuple[int, int]
) -> None:
    recipe_id, position = history
    with service.client() as admin:
        until = admin.get("/timeline", params={"as_of": position}).json()["until"]
    since = (datetime.fromisoformat(until) - timedelta(seconds=60)).isoformat()
    page = browser.get("/ui/lab", params={"as_of": position, "since": since}).text
    for path, name in (
        (f"recipes/{recipe_id}", recipe_id),
        ("users/admin", "admin"),
        (f"systems/{SYSTEM}", SYSTEM),
    ):
        assert f'<a href="/ui/{path}?as_of={position}">{name}</a>' in page
    assert f"<title>waiting, recipe {recipe_id} of admin</title>" in page


def test_lab_page__filters__select_systems_and_stay_in_the_form(
    browser: Browser, history: tuple[int, int]
) -> None:
    asked = {"condition": "Broken", "lab_controller": "lab.east.example.com", "length": "week", "pool": ""}
    page = opened(browser, **asked, as_of=history[1])
    systems = page.xpath("//table[@class='timeline']//th[@scope='row']//text()")
    assert "arm-04.east.example.com" in systems
    assert SYSTEM not in systems
    chosen = page.xpath("//form[@aria-label='Filters']//option[@selected]/text()")
    assert chosen == ["Broken", "week"]
    assert opened(browser, owner="nobody").xpath("//td[text()='No systems.']")


def test_lab_page__next_page__continues_in_the_same_time_span(browser: Browser) -> None:
    first = opened(browser, limit=2, length="hour")
    (following,) = first.xpath("//a[@rel='next']/@href")
    assert parse_qs(urlsplit(following).query)["length"] == ["hour"]
    second = html.fromstring(browser.get(following).text)
    ticks = "//*[contains(@class, 'axis')]//time/@datetime"
    assert first.xpath(ticks) == second.xpath(ticks)
    shown = [page.xpath("//table[@class='timeline']//tr/@data-key") for page in (first, second)]
    assert len(shown[0]) == 2 and shown[0][-1] < shown[1][0]


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"length": "year"}, "length"),
        ({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "until"),
        ({"since": "2999-01-01T00:00:00Z"}, "since"),
        ({"until": "0001-01-01T00:00:00Z"}, "since"),
        ({"resolution_seconds": "5"}, "resolution_seconds"),
        ({"cursor": "WzFd"}, "cursor"),
    ],
)
def test_lab_page__wrong_parameter__422_names_it(browser: Browser, params: dict[str, str], name: str) -> None:
    answer = browser.get("/ui/lab", params=params)
    assert answer.status_code == 422, answer.text
    assert f"<li>{name}: " in answer.text


def test_lab_page__time_goes_on_within_a_unit__has_the_same_begin() -> None:
    """A live page is sent again only if a rectangle moves."""
    latest = datetime(2026, 11, 29, 12, 0, 1, tzinfo=UTC)
    for length, whole in LENGTHS.items():
        query = LabQuery.model_validate({"length": length})
        unit = whole / UNITS
        begins = {query.timeline(latest + unit * number / 50).since for number in range(50)}
        assert len(begins) <= 2
        for begin in begins:
            assert begin is not None
            assert begin + whole - latest <= unit * 2
