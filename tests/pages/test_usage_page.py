"""The page of usage: its tables, pictures and CSV have the sums of the HTTP API."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from lxml import html

from api.pages.elements import duration, words
from api.pages.usage import HEIGHT, WIDTH
from domain.system.usage import displayed_usage
from tests.harness.running import Running
from tests.pages.browser import Browser
from tests.pages.page_text import percent
from tests.rest.actions import cancel_set, in_state, recipe_for, submit

# A system that no other test uses.
SYSTEM = {
    "fqdn": "of-usage.example.com",
    "lab_controller": "lab.east.example.com",
    "owner": "alice",
    "condition": "Automated",
    "type": "Machine",
    "arches": ["x86_64"],
}
GROUPS = ("system", "lab_controller", "pool", "arch", "owner", "group", "user")
Asked = dict[str, Any]


@pytest.fixture(scope="module")
def asked(service: Running) -> Asked:
    """Return a time span of some hours, as of a position after a recipe has used SYSTEM."""
    with service.client() as admin:
        admin.post("/systems", json=SYSTEM).raise_for_status()
        submitted = submit(admin, recipe_for(str(SYSTEM["fqdn"])))
        in_state(admin, submitted["recipe_ids"][0], "waiting")
        cancel_set(admin, submitted)
        now = admin.get("/jobs", params={"min_position": service.end()}).json()["position"]
        until = datetime.fromisoformat(admin.get("/system-usage", params={"as_of": now}).json()["until"])
    return {"as_of": now, "since": (until - timedelta(hours=5)).isoformat()}


def opened(browser: Browser, **params: Any) -> Any:
    answer = browser.get("/ui/usage", params=params)
    assert answer.status_code == 200, answer.text
    return html.fromstring(answer.text)


def answer(service: Running, **params: Any) -> dict[str, Any]:
    with service.client() as admin:
        found: dict[str, Any] = admin.get("/system-usage", params=params).raise_for_status().json()
    return found


def states(seconds: dict[str, dict[str, float]]) -> dict[str, str]:
    """Return the displayed time of each state."""
    found: dict[str, float] = {}
    for condition, of_usage in seconds.items():
        for usage, number in of_usage.items():
            state = displayed_usage(condition, usage)
            found[state] = found.get(state, 0) + number
    return {state: duration(number) for state, number in found.items() if number}


def rows_of(table: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the group and the filled cells of each row, by the title of the column."""
    titles = [each.text for each in table.findall("thead/tr/th")]
    for row in table.findall("tbody/tr"):
        cells = ["".join(cell.itertext()).strip() for cell in row]
        yield cells[0], {title: text for title, text in zip(titles[1:], cells[1:], strict=True) if text}


@pytest.mark.parametrize("group_by", GROUPS)
def test_usage_page__by_each_group__its_tables_have_the_sums_of_the_api(
    browser: Browser, service: Running, asked: Asked, group_by: str
) -> None:
    page = opened(browser, group_by=group_by, limit=20, **asked)
    groups = answer(service, group_by=group_by, step="hour", limit=20, **asked)["groups"]
    total, _, steps = page.findall(".//main//table")
    none = f"no {words(group_by)}"
    assert [(key, cells) for key, cells in rows_of(total)] == [
        (group["key"] or none, {"Total": whole(group), **states(group["seconds"])}) for group in groups
    ]
    shown = [{name: text for name, text in cells.items() if name != "Since"} for _, cells in rows_of(steps)]
    assert shown == [states(step["seconds"]) for group in groups for step in group["steps"]]
    assert groups


def whole(group: dict[str, Any]) -> str:
    return duration(sum(sum(of_usage.values()) for of_usage in group["seconds"].values()))


def test_usage_page__pictures__fill_their_width_and_stay_within_their_height(
    browser: Browser, asked: Asked
) -> None:
    page = opened(browser, group_by="lab_controller", **asked)
    bars = page.xpath("//section[@aria-labelledby='total']//td/svg")
    over_time = page.xpath("//section[@aria-labelledby='over-time']//td/svg")
    assert bars and len(bars) == len(over_time)
    for bar in bars:
        assert sum(percent(part, "width") for part in bar.findall("rect")) == pytest.approx(100)
    for picture in over_time:
        numbers = [path.get("d") for path in picture.findall("svg/path")]
        assert numbers
        # What has a pattern is not stretched: the pattern is that of the key.
        assert [svg for svg in (picture, *bars) if svg.get("viewbox")] == []
        cut = [rect.get("clip-path") for rect in picture.findall("rect")]
        assert cut == [f"url(#{each.get('id')})" for each in picture.iter("clippath")]
        assert len(set(cut)) == len(numbers)
        for path in numbers:
            heights = [int(number) for number in re.findall(r"V(\d+)", path)]
            assert all(0 <= number < HEIGHT for number in heights)
            assert all(int(number) <= WIDTH for number in re.findall(r"H(\d+)", path))
        # The largest number of systems has the whole height.
        assert any("V0" in path for path in numbers)


@pytest.mark.parametrize("group_by", ["owner", "system"])
def test_usage_csv__linked_from_the_page__has_the_sums_of_the_api(
    browser: Browser, service: Running, asked: Asked, group_by: str
) -> None:
    (link,) = opened(browser, group_by=group_by, limit=3, **asked).xpath(
        "//a[text()='These sums as CSV']/@href"
    )
    table = browser.get(link)
    assert table.status_code == 200 and table.headers["content-type"].startswith("text/csv")
    assert table.headers["labledger-position"] == str(asked["as_of"])
    groups = answer(service, group_by=group_by, step="hour", limit=3, **asked)["groups"]
    expected = [
        (group["key"] or "", condition, usage, seconds)
        for group in groups
        for step in group["steps"]
        for condition, of_usage in step["seconds"].items()
        for usage, seconds in of_usage.items()
    ]
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [(row["group"], row["condition"], row["usage"], float(row["seconds"])) for row in rows] == expected
    assert all(datetime.fromisoformat(row["since"]) < datetime.fromisoformat(row["until"]) for row in rows)


def test_usage_page__groups__are_links_as_of_the_moment(browser: Browser, asked: Asked) -> None:
    for group_by, path in (("system", "systems"), ("lab_controller", "lab-controllers"), ("owner", "users")):
        page = opened(browser, group_by=group_by, **asked)
        links = page.xpath("//section[@aria-labelledby='total']//th/a/@href")
        assert links
        for link in links:
            assert link.startswith(f"/ui/{path}/") and link.endswith(f"?as_of={asked['as_of']}")
            assert browser.get(link).status_code == 200


def test_usage_page__of_the_present__ends_now_and_its_form_has_what_was_asked(browser: Browser) -> None:
    page = opened(browser, group_by="arch", length="day")
    chosen = page.xpath("//form[@aria-label='Filters']//option[@selected]/text()")
    assert chosen == ["architecture", "day"]
    values = page.xpath(
        "//select[@name='group_by']/option/@value | //select[@name='group_by']/option[not(@value)]/text()"
    )
    assert values == list(GROUPS)
    assert page.xpath("//div[@data-part='usage']")
    assert opened(browser, partition="default").xpath("//div[@data-part='usage']//tbody/tr")


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"length": "year"}, "length"),
        ({"group_by": "colour"}, "group_by"),
        ({"step": "hour"}, "step"),
        ({"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}, "until"),
        ({"since": "2999-01-01T00:00:00Z"}, "since"),
        ({"since": "1999-01-01T00:00:00Z"}, "since"),
        ({"until": "0001-01-01T00:00:00Z"}, "since"),
        ({"cursor": "WzFd"}, "cursor"),
    ],
)
def test_usage_page__wrong_parameter__422_names_it(
    browser: Browser, params: dict[str, str], name: str
) -> None:
    for path in ("/ui/usage", "/ui/usage.csv"):
        found = browser.get(path, params=params)
        assert found.status_code == 422, found.text
        assert f"<li>{name}: " in found.text


def test_usage_page__unknown_partition__404(browser: Browser) -> None:
    assert browser.get("/ui/usage", params={"partition": "nowhere"}).status_code == 404
