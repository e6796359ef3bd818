"""The pages of maintenance windows, and their actions by each role."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import httpx
import pytest

from tests.harness.running import Running
from tests.pages.browser import Browser, form_value, hidden_fields
from tests.pages.page_text import page_of
from tests.pages.people import ADMIN, AUDITOR, OTHER, filled, require_reason, shown
from tests.rest.actions import EAST

LIST = "/ui/maintenance-windows"
TIMES = {"starts_at": "2099-01-01T08:00:00Z", "ends_at": "2099-01-01T12:00:00Z", "lead_seconds": "60"}


@pytest.fixture
def systems_in_rack(service: Running, admin: httpx.Client) -> Iterator[tuple[str, list[str]]]:
    """Yield a location and the names of three Manual systems there; remove the systems afterwards."""
    rack = f"rack {service.end()}"
    fqdns = [f"racked-{number}-{service.end()}.example.com" for number in range(3)]
    for fqdn in fqdns:
        system = {"fqdn": fqdn, "lab_controller": EAST, "owner": ADMIN, "condition": "Manual"}
        admin.post("/systems", json={**system, "location": rack}).raise_for_status()
    yield rack, fqdns
    for fqdn in fqdns:
        admin.delete(f"/systems/{fqdn}").raise_for_status()


def test_window__added_moved_and_ended_by_forms__is_on_the_pages(
    service: Running, people: dict[str, Browser], admin: httpx.Client
) -> None:
    fqdn = f"maintained-{service.end()}.example.com"
    system = {"fqdn": fqdn, "lab_controller": EAST, "owner": ADMIN, "condition": "Manual"}
    admin.post("/systems", json=system).raise_for_status()
    admin.put(f"/systems/{fqdn}/loan", json={"user": OTHER}).raise_for_status()
    browser, new = people[ADMIN], "/ui/new/maintenance-windows"
    assert f'href="{new}"' in browser.get(LIST).text
    wrong = browser.post(new, filled(browser, new, reason="disks", systems="no.such", **TIMES))
    assert (wrong.status_code, "there is no system" in wrong.text) == (422, True)
    sent = browser.post(new, filled(browser, new, reason="new disks", systems=fqdn, **TIMES))
    assert sent.status_code == 303, sent.text
    assert sent.headers["location"].startswith(f"{LIST}?min_position=")
    read = admin.get("/maintenance-windows", params={"system": fqdn, "min_position": service.end()}).json()
    (number,) = (window["number"] for window in read["maintenance_windows"])
    path = f"/maintenance-windows/{number}"
    page = page_of(browser, path, min_position=service.end())
    assert all(each in page for each in (fqdn, "new disks", "loan", "no end", "planned"))
    assert {f'href="/ui{path}/actions/{name}"' in page for name in ("move", "end")} == {True}
    assert "/actions/" not in page_of(people[OTHER], path)
    assert people[OTHER].get(f"/ui{path}/actions/end").status_code == 403
    assert f'href="/ui{path}"' in page_of(browser, f"/systems/{fqdn}")
    moving = f"/ui{path}/actions/move"
    moved = browser.post(moving, filled(browser, moving, **{**TIMES, "ends_at": "2099-01-01T13:00:00Z"}))
    assert moved.status_code == 303, moved.text
    assert admin.get(path, params={"min_position": service.end()}).json()["ends_at"] == "2099-01-01T13:00:00Z"
    ending = f"/ui{path}/actions/end"
    require_reason(service, browser, ending)
    assert browser.post(ending, filled(browser, ending, reason="not needed")).status_code == 303
    ended = page_of(browser, path, min_position=service.end())
    assert "not needed" in ended and f"{path}/actions/" not in ended
    admin.delete(f"/systems/{fqdn}").raise_for_status()


def test_many_systems__changed_by_one_form__by_those_who_may_edit_all(
    service: Running,
    people: dict[str, Browser],
    admin: httpx.Client,
    systems_in_rack: tuple[str, list[str]],
) -> None:
    rack, fqdns = systems_in_rack
    browser, new = people[ADMIN], "/ui/new/systems"
    assert f'href="{new}"' in browser.get("/ui/systems").text
    both = {"location": rack, "systems": fqdns[0]}
    wrong = browser.post(new, filled(browser, new, change="drain", reason="disks", **both))
    assert (wrong.status_code, "needs either systems" in wrong.text) == (422, True)
    names = "\n".join(f"m{number}" for number in range(10_001))
    too_many = browser.post(new, filled(browser, new, change="drain", reason="disks", systems=names))
    assert (too_many.status_code, "10001 systems are selected" in too_many.text) == (422, True)
    form = filled(people[OTHER], new, change="drain", reason="disks", location=rack)
    assert people[OTHER].post(new, form).status_code == 403
    form = filled(browser, new, change="drain", reason="disks", location=rack)
    for _ in range(2):
        done = browser.post(new, form)
        assert done.status_code == 200, done.text
        assert all(fqdn in done.text for fqdn in fqdns)
    end = {"min_position": service.end()}
    assert {admin.get(f"/systems/{fqdn}", params=end).json()["draining"] for fqdn in fqdns} == {True}


def test_listed_systems__drained_and_maintained_by_the_filters_of_the_list__are_all_that_match(
    service: Running,
    people: dict[str, Browser],
    admin: httpx.Client,
    systems_in_rack: tuple[str, list[str]],
) -> None:
    rack, fqdns = systems_in_rack
    admin.patch(f"/systems/{fqdns[2]}", json={"condition": "Removed", "reason": "old"}).raise_for_status()
    browser, filters = people[ADMIN], {"location": rack, "min_position": service.end()}
    page = browser.get("/ui/systems", params=filters).text
    drain, maintain = re.findall(r'href="(/ui/listed-systems/[^"]*)"', page)
    assert "/listed-systems/" not in browser.get("/ui/systems").text
    for reader in (
        people[AUDITOR].get("/ui/systems", params=filters),
        browser.get("/ui/systems", params={"location": rack, "as_of": service.end()}),
    ):
        assert "/listed-systems/" not in reader.text
    assert people[AUDITOR].get(html.unescape(drain)).status_code == 403

    form = browser.get(html.unescape(drain))
    listed = shown(form.text, "systems")
    assert listed is not None and listed.split() == fqdns[:2]
    assert (shown(form.text, "change"), "match the filters: 2" in form.text) == ("drain", True)
    sent = {"form_value": form_value(form), **hidden_fields(form.text), "change": "drain", "systems": listed}
    end = service.end()
    done = browser.post("/ui/new/systems", {**sent, "reason": "new racks"})
    assert done.status_code == 200, done.text
    drained = [event for event in service.events(end) if event["topic"] == "system.drained"]
    assert [event["subject"] for event in drained] == [f"system/{fqdn}" for fqdn in fqdns[:2]]
    assert len({event["cause"] for event in drained}) == 1

    form = browser.get(html.unescape(maintain))
    sent = {"form_value": form_value(form), **hidden_fields(form.text), **TIMES}
    done = browser.post("/ui/new/maintenance-windows", {**sent, "systems": listed, "reason": "new racks"})
    assert done.status_code == 303, done.text
    read = admin.get(
        "/maintenance-windows", params={"system": fqdns[0], "min_position": service.end()}
    ).json()
    (window,) = read["maintenance_windows"]
    assert window["systems"] == fqdns[:2]
    none = browser.get("/ui/listed-systems/drain", params={"location": "nowhere at all"})
    assert (none.status_code, "no system that can be changed matches" in none.text) == (200, True)
    assert browser.get("/ui/listed-systems/drain", params={"as_of": 1}).status_code == 422
    admin.post(f"/maintenance-windows/{window['number']}/end", json={}).raise_for_status()
