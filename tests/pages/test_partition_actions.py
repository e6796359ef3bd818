"""Actions on partitions and reconciliations: by each role, twice, of an old version, and from elsewhere."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.harness.running import Running
from tests.pages.browser import Browser
from tests.pages.people import ADMIN, AUDITOR, OTHER, filled, reasons_after, require_reason, shown
from tests.rest.actions import EAST

PARTITION = "of-forms"
PATH = f"/ui/partitions/{PARTITION}"
# Each on the partition as the one before has left it, with the actions that are possible then.
ALWAYS = {"configure", "put-filter", "remove-filter"}
WHY = {"reason": "the lab moves"}
STEPS: list[tuple[str, dict[str, str], set[str]]] = [
    ("put-filter", {"filter": "none", "action": "PAUSE", **WHY}, {"drain", "stop"}),
    ("remove-filter", {"filter": "none", **WHY}, {"drain", "stop"}),
    ("configure", {"configuration": '{"limits": {"placed_recipes": 5}}'}, {"drain", "stop"}),
    ("stop", WHY, {"start", "remove"}),
    ("start", {}, {"drain", "stop"}),
    ("drain", WHY, {"start", "remove"}),
]


def require_refused(service: Running, people: dict[str, Browser], address: str, form: dict[str, str]) -> None:
    """Check that nobody but an admin may take the action, and nobody from another origin."""
    end = service.end()
    for user in (OTHER, AUDITOR):
        assert people[user].get(address).status_code == 403, user
        own = {**form, "form_value": filled_value(people[user])}
        assert people[user].post(address, own).status_code == 403, user
    foreign = people[ADMIN].post(address, form, **{"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    assert service.end() == end


def filled_value(browser: Browser) -> str:
    return re.findall(r'name="form_value" value="([0-9a-f]+)"', browser.get("/ui").text)[0]


def send_twice(service: Running, browser: Browser, address: str, form: dict[str, str]) -> str:
    """Send a form twice; return where it leads. Only the first one changes anything."""
    first, end = browser.post(address, form), service.end()
    again = browser.post(address, form)
    assert (first.status_code, again.status_code) == (303, 303), first.text
    assert first.headers["location"] == again.headers["location"]
    # The scheduler may answer the first one meanwhile.
    assert [event for event in service.events(end) if event["actor"] != "scheduler"] == []
    location: str = first.headers["location"]
    return location


def offered(browser: Browser, address: str) -> set[str]:
    page = browser.get(address)
    assert page.status_code == 200
    return set(re.findall(rf'href="{PATH}/actions/([a-z-]+)"', page.text))


def test_partition__from_creation_to_removal__each_action_is_for_admins_and_takes_effect_once(
    service: Running, people: dict[str, Browser]
) -> None:
    browser = people[ADMIN]
    for user, each in people.items():
        assert ('href="/ui/new/partitions"' in each.get("/ui/partitions").text) == (user == ADMIN)
    form = filled(browser, "/ui/new/partitions", name=PARTITION)
    require_refused(service, people, "/ui/new/partitions", form)
    page = send_twice(service, browser, "/ui/new/partitions", form)
    taken = browser.post("/ui/new/partitions", filled(browser, "/ui/new/partitions", name=PARTITION))
    assert (taken.status_code, shown(taken.text, "name")) == (409, PARTITION)
    assert offered(browser, page) == {"drain", "stop"} | ALWAYS
    for action, fields, possible in STEPS:
        address = f"{PATH}/actions/{action}"
        if action in ("stop", "drain", "remove-filter"):
            require_reason(service, browser, address, **fields)
        form = filled(browser, address, **fields)
        require_refused(service, people, address, form)
        page = send_twice(service, browser, address, form)
        assert offered(browser, page) == possible | ALWAYS, action
        for user in (OTHER, AUDITOR):
            assert offered(people[user], page) == set()
        assert offered(browser, f"{PATH}?as_of={service.end()}") == set()
        stale = browser.post(address, {**form, "key": f"another of {action}"})
        assert stale.status_code == 412, action
        for name, value in fields.items():
            assert shown(stale.text, name) == value.replace('"', "&#34;")
    address = f"{PATH}/actions/remove"
    require_reason(service, browser, address, force="no")
    form = filled(browser, address, force="no", **WHY)
    require_refused(service, people, address, form)
    end = service.end()
    page = send_twice(service, browser, address, form)
    assert reasons_after(service, end) == [WHY["reason"]]
    assert page.startswith("/ui/partitions?")
    assert PATH not in browser.get(page).text


def test_removal__of_a_partition_that_takes_jobs__says_what_it_needs(people: dict[str, Browser]) -> None:
    page = people[ADMIN].get("/ui/partitions/default/actions/remove").text
    assert "The partition must be draining or stopped" in page
    assert "<form" not in page.partition("<main")[2]


@pytest.mark.parametrize(
    ("page", "expected"),
    [("filters", {"put-filter", "remove-filter"}), ("partitions/default/configuration", {"configure"})],
)
def test_parts_of_a_partition__by_role__offer_their_actions_to_admins(
    service: Running, people: dict[str, Browser], page: str, expected: set[str]
) -> None:
    pattern = r'href="/ui/partitions/default/actions/([a-z-]+)"'
    for user, browser in people.items():
        shown_now = browser.get(f"/ui/{page}")
        assert shown_now.status_code == 200
        assert set(re.findall(pattern, shown_now.text)) == (expected if user == ADMIN else set()), user
        past = browser.get(f"/ui/{page}", params={"as_of": service.end()})
        assert re.findall(pattern, past.text) == []


@pytest.mark.parametrize(
    ("action", "fields", "name", "message"),
    [
        ("configure", {"configuration": '{"limits": 5}'}, "configuration", "configuration.limits"),
        ("put-filter", {"filter": "-", "action": "PAUSE"}, "filter", "must be a name"),
        ("put-filter", {"filter": "x", "action": "PAUSE", "limit": "many"}, "limit", "number"),
        ("put-filter", {"filter": "x", "action": "PAUSE", "predicate": '{"and": 1}'}, "predicate", "and"),
        ("remove-filter", {"filter": ""}, "filter", "must not be empty"),
        (
            "remove-filter",
            {"filter": "never-there", **WHY},
            "filter",
            "there is no job filter never-there",
        ),
        ("configure", {"configuration": "{"}, "configuration", "is not JSON: "),
    ],
)
def test_partition_form__faulty__422_with_the_fault_beside_its_field(
    service: Running, people: dict[str, Browser], action: str, fields: dict[str, str], name: str, message: str
) -> None:
    address, end = f"/ui/partitions/default/actions/{action}", service.end()
    wrong = people[ADMIN].post(address, filled(people[ADMIN], address, **fields))
    assert wrong.status_code == 422, wrong.text
    beside = re.search(rf'id="{name}-note"[^>]*><strong>([^<]+)</strong>', wrong.text)
    assert beside is not None, wrong.text
    assert message in beside[1]
    assert service.end() == end


def test_configuration__its_form__begins_with_the_one_in_force(
    people: dict[str, Browser], admin: httpx.Client
) -> None:
    text = shown(people[ADMIN].get("/ui/partitions/default/actions/configure").text, "configuration") or ""
    present = admin.get("/partitions/default/configuration").json()
    assert "&#34;weights&#34;: {" in text
    assert set(re.findall(r"^  &#34;(\w+)&#34;", text, re.MULTILINE)) <= present.keys()


def test_reconciliation__resolved_with_a_reason__by_admins_alone_and_once(
    service: Running, people: dict[str, Browser], admin: httpx.Client
) -> None:
    fqdn = f"occupied-{service.end()}.example.com"
    system = {"fqdn": fqdn, "lab_controller": EAST, "owner": ADMIN, "condition": "Automated"}
    admin.post("/systems", json=system).raise_for_status()
    runs = {"items": [{"running": {"system": fqdn}}]}
    admin.post(f"/lab-controllers/{EAST}/updates", json=runs).raise_for_status()
    found = admin.get("/reconciliations", params={"min_position": service.end()}).json()["reconciliations"]
    (number,) = [each["id"] for each in found if each["system"] == fqdn]
    address = f"/ui/reconciliations/{number}/actions/resolve"
    at_end = {"min_position": service.end()}
    for user, browser in people.items():
        page = browser.get("/ui/reconciliations", params=at_end).text
        assert fqdn in page
        assert (f'href="{address}"' in page) == (user == ADMIN), user
    browser = people[ADMIN]
    assert f"System {fqdn} is then free" in browser.get(address).text
    missing = browser.post(address, filled(browser, address, reason=" "))
    assert missing.status_code == 422
    assert re.search(r'id="reason-note"[^>]*><strong>[^<]+</strong>', missing.text)
    form = filled(browser, address, reason="looked at it")
    require_refused(service, people, address, form)
    assert fqdn not in browser.get(send_twice(service, browser, address, form)).text
    assert browser.get(address).status_code == 404
    admin.delete(f"/systems/{fqdn}").raise_for_status()
