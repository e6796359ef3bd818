"""The pages of systems: the facts of the API at a position, who has a system, and hidden systems."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from lxml import html

from api.pages.systems import waiting_recipes
from api.rest.context import Principal
from api.rest.contract.inputs.systems import Properties
from api.rest.resources import recipe_queue
from api.rest.views import View
from domain.directory.roles import ADMIN
from domain.errors import FaultyInput
from domain.system.usage import displayed_usage
from projections.reader import At
from tests.harness.running import Running
from tests.pages.browser import PASSWORD, Browser
from tests.pages.page_text import element_text, missing, page_of, rows_of
from tests.rest.actions import EAST, cancel_set, finish, in_state, recipe_for, start, submit
from workers.explaining.explainer import StillReading

HOSTILE = "</title><script>alert(1)</script>{{ 7 * 7 }}"
SHOWN = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;{{ 7 * 7 }}"
FULL, BUSY, HIDDEN = (f"{name}-of-pages.east.example.com" for name in ("full", "busy", "hidden"))
MISSING = "missing.example.com"
TICKET = "https://tickets.example.com/42"
SYSTEM = {
    "lab_controller": EAST,
    "owner": "alice",
    "condition": "Automated",
    "type": "Machine",
    "arches": ["x86_64"],
}
INVENTORY = {
    "vendor": HOSTILE,
    "model": "R650",
    "serial": "SN-1",
    "location": "rack 7",
    "lender": "a vendor",
    "memory_mb": 65_537,
    "hypervisor": "KVM",
    "numa_nodes": 2,
    "power_type": "ipmilan",
    "cpu": {"cores": 31, "model_name": "Xeon", "hyper": True, "flags": ["avx", "sse2"], "speed_mhz": 2100.5},
    "devices": [{"type": "NETWORK", "bus": "pci", "driver": "ixgbe", "description": HOSTILE}],
    "disks": [{"model": "NVMe-9", "size_bytes": 500_107_862_016, "sector_size": 512}],
    "key_values": {"RACK": ["7", "8"], "EMPTY": []},
    "excluded_families": [{"arch": "x86_64", "family": "RedHatEnterpriseLinux6", "version": "6.1"}],
    "last_inventoried_at": "2026-11-01T08:00:00Z",
}


class SystemLab(NamedTuple):
    """A position with a `FULL` system, on loan, a `BUSY` one with its recipe, and one hidden from carol."""

    position: int
    recipe_id: int
    admin: httpx.Client


@pytest.fixture(scope="module")
def systems(service: Running) -> Iterator[SystemLab]:
    with service.client() as admin:
        _put(admin, "/users/carol", {"roles": ["submitter"]})
        _put(admin, "/users/carol/password", {"password": PASSWORD})
        for fqdn, more in ((FULL, INVENTORY), (BUSY, {}), (HIDDEN, {})):
            assert admin.post("/systems", json={"fqdn": fqdn, **SYSTEM, **more}).status_code == 201
        _put(admin, f"/systems/{HIDDEN}/access-policy", {"entries": [{"permission": "view", "user": "bob"}]})
        _put(admin, f"/pools/big/systems/{FULL}", None)
        entries = [{"permission": "submit", "group": "kernel-qe", "maximum_effective_priority": "High"}]
        _put(admin, f"/systems/{FULL}/access-policy", {"entries": entries, "active_pool": "big"})
        broken = {"condition": "Broken", "reason": HOSTILE, "ticket": TICKET}
        admin.patch(f"/systems/{FULL}", json=broken).raise_for_status()
        _put(admin, f"/systems/{FULL}/loan", {"user": "bob", "until": "2100-01-01T00:00:00Z"})
        admin.patch(f"/systems/{FULL}", json={"memory_mb": 65_536}).raise_for_status()
        submitted = submit(admin, recipe_for(BUSY))
        tasks = start(admin, submitted["recipe_ids"][0])
        claimant = submit(admin, recipe_for(BUSY, host_requires={"force": BUSY}))
        in_state(admin, claimant["recipe_ids"][0], "queued")
        position = service.end()
        admin.get("/systems", params={"min_position": position}).raise_for_status()
        yield SystemLab(position, submitted["recipe_ids"][0], admin)
        cancel_set(admin, claimant)
        finish(admin, submitted["recipe_ids"][0], tasks)
        for fqdn in (FULL, BUSY, HIDDEN):
            admin.delete(f"/systems/{fqdn}").raise_for_status()


def test_system_page__ticket__is_a_link_after_the_condition(browser: Browser, systems: SystemLab) -> None:
    for path in (f"/systems/{FULL}", "/systems"):
        page = page_of(browser, path, as_of=systems.position)
        assert f'ticket <a href="{TICKET}" rel="noreferrer noopener">' in page


def _put(client: httpx.Client, path: str, body: Any) -> None:
    client.put(path, json=body).raise_for_status()


@pytest.fixture
def carol(stranger: Browser, systems: SystemLab) -> Browser:
    """Return a browser of a submitter who may not view one system."""
    assert stranger.log_in("carol", PASSWORD).status_code == 303
    return stranger


def _page(browser: Browser, path: str, **params: Any) -> tuple[str, str]:
    """Return a page as HTML and as text, with the exact times."""
    page = page_of(browser, path, **params)
    return page, element_text(html.fromstring(page))


def _title(page: str) -> str:
    return (html.fromstring(page).findtext(".//title") or "").removesuffix(" · Labledger")


@pytest.mark.parametrize("fqdn", [FULL, BUSY])
def test_system_page__as_of_a_position__has_all_facts_of_the_api(
    browser: Browser, systems: SystemLab, fqdn: str
) -> None:
    asked = {"as_of": systems.position}
    _, text = _page(browser, f"/systems/{fqdn}", **asked)
    system = systems.admin.get(f"/systems/{fqdn}", params=asked).json()
    assert missing(system, text) == []
    policies = [f"/systems/{fqdn}/access-policy", *(["/pools/big/access-policy"] if fqdn == FULL else [])]
    for path in policies:
        answer = systems.admin.get(path, params=asked).json()
        # A permission is two words on the page.
        entries = [{**one, "permission": one["permission"].replace("_", " ")} for one in answer["entries"]]
        assert missing(entries, text) == []
    changes = systems.admin.get(f"/systems/{fqdn}/history", params=asked).json()["changes"]
    texts = ("position", "at", "topic", "actor", "reason")
    assert missing([{name: each[name] for name in texts} for each in changes], text) == []


def test_system_page__as_of_its_last_change__ends_its_usage_with_the_state_after_it(
    browser: Browser, systems: SystemLab
) -> None:
    changes = systems.admin.get(f"/systems/{FULL}/history", params={"as_of": systems.position}).json()[
        "changes"
    ]
    (broken,) = (each for each in changes if each["topic"] == "system.condition-changed")
    page = html.fromstring(page_of(browser, f"/systems/{FULL}", as_of=broken["position"]))
    (newest,) = page.xpath("//div[@data-part='usage']//tbody/tr[1]")
    then = systems.admin.get(f"/systems/{FULL}", params={"as_of": broken["position"]}).json()
    # A recipe of another test may run there.
    assert displayed_usage(then["condition"], then["usage"]) in element_text(newest)


def test_system_page__every_property__has_its_place(browser: Browser, systems: SystemLab) -> None:
    assert set(Properties.model_fields) == {"type", "arches", "added_at", *INVENTORY}
    page, _ = _page(browser, f"/systems/{FULL}")
    facts = {
        each.findtext("dt"): element_text(each.find("dd"))
        for each in html.fromstring(page).iter("div")
        if each.find("dt") is not None
    }
    assert facts["Memory in MB"].strip() == "65536"
    assert " ".join(facts["Ordered by"].split()).startswith("admin , loan for bob , event ")
    assert facts["Flags"].strip() == "avx, sse2"
    assert facts["Hyper-threading"].strip() == "yes"
    assert facts["Last inventoried"].endswith("2026-11-01T08:00:00Z")


def test_system_page__changes_of_values__say_who_when_why_and_old_and_new(
    browser: Browser, systems: SystemLab
) -> None:
    page, _ = _page(browser, f"/systems/{FULL}", as_of=systems.position)
    rows = html.fromstring(page).xpath("//section[@aria-labelledby='history']//tbody/tr")
    shown = [[" ".join(cell.text_content().split()) for cell in row] for row in rows[:4]]
    # Topic, actor and reason of a change, and its values.
    assert [tuple(cells[2:6]) for cells in shown] == [
        ("system.inventory-changed", "admin", "", "memory mb: from 65537 to 65536"),
        ("system.loaned", "admin", "", "loaned to: to bob loaned until: to 2100-01-01T00:00:00Z"),
        ("system.ticket-changed", "admin", HOSTILE, "ticket: to https://tickets.example.com/42"),
        ("system.condition-changed", "admin", HOSTILE, "condition: from Automated to Broken"),
    ]
    assert f'href="/ui/step?to=%2Fui%2Fsystems%2F{FULL}' in page


def test_system_page__history_in_pages__each_change_once(browser: Browser, systems: SystemLab) -> None:
    def positions(page: str) -> list[str]:
        return html.fromstring(page).xpath("//section[@aria-labelledby='history']//tbody/tr/td[1]/a/text()")

    asked: dict[str, Any] = {"as_of": systems.position}
    everything = positions(page_of(browser, f"/systems/{FULL}", **asked))
    found, page = [], page_of(browser, f"/systems/{FULL}", limit=2, **asked)
    while True:
        found += positions(page)
        following = page.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
        if not following:
            break
        page = browser.get(following).text
        assert "First page" in page
    assert found == everything
    assert len(found) > 4


def test_system_page__its_title__says_condition_and_who_has_it(browser: Browser, systems: SystemLab) -> None:
    busy, text = _page(browser, f"/systems/{BUSY}", as_of=systems.position)
    assert _title(busy) == f"System {BUSY} is Automated and running recipe {systems.recipe_id}"
    assert f'href="/ui/recipes/{systems.recipe_id}?as_of={systems.position}"' in busy
    claimed_by = systems.admin.get(f"/systems/{BUSY}", params={"as_of": systems.position}).json()[
        "claimed_by"
    ]
    assert f"Claimed by recipe {claimed_by}" in text
    full = page_of(browser, f"/systems/{FULL}")
    assert _title(full) == f"System {FULL} is Broken: {HOSTILE}"
    for link in ("/ui/pools/big", "/ui/users/bob", "/ui/users/alice", f"/ui/lab-controllers/{EAST}"):
        assert f'href="{link}"' in full


def test_system_page__reason_of_the_condition_is_many_changes_ago__is_in_the_title(
    browser: Browser, systems: SystemLab
) -> None:
    page = page_of(browser, f"/systems/{FULL}", limit=1)
    assert "system.condition-changed" not in page
    assert _title(page) == f"System {FULL} is Broken: {HOSTILE}"


def test_system_page__reserved_drained_and_occupied__says_so(
    browser: Browser, systems: SystemLab, service: Running
) -> None:
    fqdn = "kept-of-pages.east.example.com"
    system = {"fqdn": fqdn, **SYSTEM, "condition": "Manual"}
    assert systems.admin.post("/systems", json=system).status_code == 201
    _put(systems.admin, f"/systems/{fqdn}/reservation", {"user": "admin"})
    drained = systems.admin.patch(f"/systems/{fqdn}", json={"draining": True, "reason": "the rack moves"})
    asked = {"min_position": drained.headers["labledger-position"]}
    page, text = _page(browser, f"/systems/{fqdn}", **asked)
    assert _title(page) == f"System {fqdn} is Manual and reserved by admin, draining"
    assert "Reservation admin , without an end" in text
    assert "reserved by admin" in next(row for row in rows_of(page_of(browser, "/systems")) if fqdn in row)
    systems.admin.delete(f"/systems/{fqdn}/reservation").raise_for_status()
    report = {"items": [{"running": {"system": fqdn}}]}
    systems.admin.post(f"/lab-controllers/{EAST}/updates", json=report).raise_for_status()
    page, _ = _page(browser, f"/systems/{fqdn}", min_position=service.end())
    occupied = systems.admin.get(f"/systems/{fqdn}").json()["occupied"]
    assert _title(page) == f"System {fqdn} is Manual and occupied: {occupied['reason']}, draining"
    systems.admin.delete(f"/systems/{fqdn}").raise_for_status()


def test_system_page__usage_of_the_last_day__has_the_exact_intervals_behind_a_picture(
    browser: Browser, systems: SystemLab
) -> None:
    page = html.fromstring(page_of(browser, f"/systems/{BUSY}", as_of=systems.position))
    section = page.xpath("//section[@aria-labelledby='usage']")[0]
    asked = {"as_of": systems.position}
    intervals = systems.admin.get(f"/systems/{BUSY}/usage", params=asked).json()["intervals"]
    intervals = [interval for interval in intervals if interval["since"] != interval["until"]]
    rows = section.xpath(".//tbody/tr")[: len(intervals)]
    for interval, row in zip(reversed(intervals), rows, strict=True):
        shown = ("usage", "recipe_id", "since")
        assert missing({name: interval[name] for name in shown}, element_text(row)) == []
    assert "admin" in element_text(rows[0])
    assert section.xpath("count(.//svg[@role='img'])") == 1


@pytest.mark.parametrize("moment", ["present", "past"])
def test_system_page__waiting_recipes__are_in_the_order_of_the_system(
    browser: Browser, systems: SystemLab, moment: str
) -> None:
    asked = {"as_of": systems.position} if moment == "past" else {}
    page = html.fromstring(page_of(browser, f"/systems/{BUSY}", **asked))
    rows = page.xpath("//section[@aria-labelledby='waiting']//tbody/tr")
    queue = systems.admin.get("/queue", params={"system": BUSY, **asked}).json()["recipes"]
    assert queue
    for recipe, row in zip(queue, rows, strict=True):
        shown = (
            "recipe_id",
            "state",
            "since",
            "priority",
            "effective_priority",
            "owner",
            "job_id",
            "whiteboard",
        )
        assert missing({name: recipe[name] for name in shown}, element_text(row)) == []
        assert row.xpath(".//a[contains(@href, '/why')]")
    (link,) = page.xpath("//section[@aria-labelledby='waiting']/p/a/@href")
    assert link.startswith("/ui/queue?") and f"system={BUSY}" in link
    assert browser.get(link).status_code == 200


@pytest.mark.parametrize("error", [StillReading("the log is long"), FaultyInput([])])
def test_waiting_recipes__of_a_system_that_cannot_be_asked_about__are_none_at_the_same_position(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def refused(*_: Any) -> None:
        raise error

    monkeypatch.setattr(recipe_queue, "queue_answer", refused)
    view = View(Principal("admin", ADMIN, None, "none"), At(5), frozenset(), is_past=False, recorded_at=None)
    parts: Any = None
    assert asyncio.run(waiting_recipes(parts, view, BUSY)) == (view, None)


def test_list_of_systems__as_of_a_position__has_the_rows_and_facts_of_the_api(
    browser: Browser, systems: SystemLab
) -> None:
    asked = {"as_of": systems.position, "limit": 1_000}
    rows = rows_of(page_of(browser, "/systems", **asked))
    answer = systems.admin.get("/systems", params=asked).json()["systems"]
    assert len(rows) == len(answer) > 3
    fields = (
        "fqdn",
        "lab_controller",
        "condition",
        "usage",
        "recipe_id",
        "user",
        "owner",
        "pools",
        "loaned_to",
    )
    for system, row in zip(answer, rows, strict=True):
        assert missing({name: system[name] for name in fields}, row) == []


@pytest.mark.parametrize(
    "filters",
    [
        {"condition": "Broken", "owner": "alice"},
        {"usage": "running", "lab_controller": EAST},
        {"pool": "big", "partition": "default"},
    ],
)
def test_list_of_systems__filters__select_and_stay_in_the_form(
    browser: Browser, systems: SystemLab, filters: dict[str, str]
) -> None:
    asked = {**filters, "as_of": systems.position, "limit": 1_000}
    page = page_of(browser, "/systems", **asked)
    answer = systems.admin.get("/systems", params=asked).json()["systems"]
    everything = systems.admin.get("/systems", params={"as_of": systems.position, "limit": 1_000}).json()
    assert 0 < len(answer) < len(everything["systems"])
    assert [row.split()[0] for row in rows_of(page)] == [system["fqdn"] for system in answer]
    form = html.fromstring(page).xpath("//form[@aria-label='Filters']")[0]
    assert {name: form.fields[name] for name in filters} == filters


def test_list_of_systems__next_page__continues_after_the_last_system(
    browser: Browser, systems: SystemLab
) -> None:
    first = page_of(browser, "/systems", limit=2)
    following = first.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    both = [row.split()[0] for page in (first, browser.get(following).text) for row in rows_of(page)]
    found = systems.admin.get("/systems", params={"limit": 4}).json()["systems"]
    assert both == [system["fqdn"] for system in found]


def test_system_pages__hostile_text__appears_as_text(browser: Browser, systems: SystemLab) -> None:
    page = page_of(browser, f"/systems/{FULL}")
    assert "<script>" not in page
    assert page.count(SHOWN) > 3


@pytest.mark.parametrize("as_of", [False, True], ids=["present", "past"])
def test_hidden_system__for_a_submitter_without_the_right__does_not_exist(
    browser: Browser, carol: Browser, systems: SystemLab, *, as_of: bool
) -> None:
    asked = {"as_of": systems.position} if as_of else {}
    for query in ({"limit": 1_000}, {"limit": 1_000, "lab_controller": EAST, "owner": "alice"}):
        page = page_of(carol, "/systems", **asked, **query)
        assert BUSY in page
        assert HIDDEN not in page
    answers = {fqdn: carol.get(f"/ui/systems/{fqdn}", params=asked) for fqdn in (HIDDEN, MISSING)}
    assert {answer.status_code for answer in answers.values()} == {404}
    texts = {_without_request(answer.text).replace(fqdn, "") for fqdn, answer in answers.items()}
    assert len(texts) == 1
    for direction in ("previous", "next"):
        step = {"to": f"/ui/systems/{HIDDEN}", "at": systems.position, "direction": direction}
        assert carol.get("/ui/step", params=step).status_code == 404


def _without_request(page: str) -> str:
    """Return a page without what differs from one request to the next."""
    return re.sub('<code>.*</code>|request [0-9a-f]+|name="form_value" value="[0-9a-f]+"', "", page)


def test_hidden_system__for_those_who_may_view_it__has_its_page(browser: Browser, systems: SystemLab) -> None:
    assert HIDDEN in page_of(browser, "/systems", limit=1_000)
    assert browser.get(f"/ui/systems/{HIDDEN}").status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/ui/systems/missing.example.com", 404),
        (f"/ui/systems/{FULL}?as_of=1", 404),
        ("/ui/systems?partition=nowhere", 404),
        ("/ui/systems?condition=nowhere", 422),
        (f"/ui/systems/{FULL}?usage=idle", 422),
        (f"/ui/systems/{FULL}?cursor=WyJhIl0=", 422),
    ],
)
def test_page__of_nothing_or_with_wrong_parameters__is_refused(
    browser: Browser, systems: SystemLab, path: str, status: int
) -> None:
    assert browser.get(path).status_code == status


def test_steps__of_a_system__lead_through_its_changes(browser: Browser, systems: SystemLab) -> None:
    changes = systems.admin.get(f"/systems/{FULL}/history").json()["changes"]
    latest, before = (change["position"] for change in changes[:2])
    step = {"to": f"/ui/systems/{FULL}", "at": latest, "direction": "previous"}
    assert browser.get("/ui/step", params=step).headers["location"] == f"/ui/systems/{FULL}?as_of={before}"


def test_systems__filtered_by_draining__shows_the_filter_and_its_systems(
    browser: Browser, systems: SystemLab
) -> None:
    asked: dict[str, Any] = {"location": INVENTORY["location"], "as_of": systems.position}
    steady, draining = (page_of(browser, "/systems", **asked, draining=word) for word in ("false", "true"))
    assert FULL in steady and "<option selected>false</option>" in steady
    assert FULL not in draining and "<option selected>true</option>" in draining
