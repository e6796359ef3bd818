"""Actions of pages: who is offered which, and that a form takes effect once, on its version."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from api.pages.actions import REASON
from api.pages.form_fields import FormField
from api.pages.job_actions import JOB, RECIPE_SET
from api.pages.system_actions import SYSTEM
from tests.harness.running import Running
from tests.pages.browser import Browser, form_value, hidden_fields
from tests.pages.people import people_of, reasons_after, require_reason, shown
from tests.rest.actions import finish, recipe_for, start, submit

BROWSERS = {"admin": "admin", "alice": "submitter", "carol": "submitter", "bob": "auditor"}
# The admin, and the owner of the job or system.
OWNERS = {"admin", "alice"}
ACTIONS = {
    "jobs": ["cancel", "close", "keep", "end-keep"],
    "recipe-sets": ["cancel", "priority", "review", "waive", "end-waiver"],
    "recipes": ["return", "waive", "end-waiver"],
    "systems": [
        "condition",
        "drain",
        "undrain",
        "reserve",
        "return",
        "lend",
        "end-loan",
        "add-note",
        "remove-note",
        "power",
        "unset-power",
        "policy",
    ],
}
FIELDS = {
    "cancel": {"reason": "seen enough"},
    "review": {"review": "rejected", "reason": "seen"},
    "priority": {"priority": "High"},
    "condition": {"condition": "Manual", "reason": "by hand"},
    "drain": {"reason": "the rack moves"},
    "return": {"reason": "done"},
    "end-loan": {"reason": "over"},
    "close": {"reason": "complete"},
    "lend": {"user": "carol"},
    "add-note": {"text": "two disks"},
    "power": {"type": "ilo", "address": "bmc", "secret": "swordfish"},
    "unset-power": {"reason": "sold"},
}


@pytest.fixture(scope="module")
def people(service: Running) -> Iterator[dict[str, Browser]]:
    with people_of(service, BROWSERS) as found:
        yield found


@pytest.fixture
def job(service: Running, admin: httpx.Client, system: str) -> Iterator[dict[str, Any]]:
    """Yield the answer about a job of alice that waits for her system; it is cancelled in the end."""
    token = admin.post("/tokens", json={"user": "alice", "role": "submitter"}).json()["token"]
    with service.client(token) as alice:
        found = submit(alice, recipe_for(system))
    admin.get("/jobs", params={"min_position": found["position"]}).raise_for_status()
    yield found
    admin.post(f"/jobs/{found['job_id']}/cancel", json={"reason": "end of the test"}).raise_for_status()


@pytest.fixture
def system(service: Running, admin: httpx.Client) -> str:
    """Return a system of alice that is Manual; others may only view it."""
    fqdn = f"actions-{service.end()}.example.com"
    place = {"lab_controller": "lab.east.example.com", "owner": "alice", "condition": "Manual"}
    machine = {"type": "Machine", "arches": ["x86_64"]}
    admin.post("/systems", json={"fqdn": fqdn, **place, **machine}).raise_for_status()
    policy = {"entries": [{"permission": "view", "everybody": True}]}
    done = admin.put(f"/systems/{fqdn}/access-policy", json=policy)
    admin.get("/jobs", params={"min_position": done.headers["labledger-position"]}).raise_for_status()
    return fqdn


def offered(browser: Browser, path: str, position: int) -> set[str]:
    """Return the actions that a page offers."""
    page = browser.get(path, params={"min_position": position})
    assert page.status_code == 200, page.text
    return set(re.findall(rf'href="{path}/actions/([a-z-]+)"', page.text))


def fill(browser: Browser, path: str, action: str, **fields: str) -> dict[str, str]:
    """Return the filled form of an action."""
    page = browser.get(f"{path}/actions/{action}")
    assert page.status_code == 200, page.text
    assert page.headers["cache-control"] == "no-store"
    hidden = hidden_fields(page.text)
    return {"form_value": form_value(page), **hidden, **FIELDS.get(action, {}), **fields}


def test_job_pages__by_role__offer_and_accept_what_the_owner_may_do(
    service: Running, people: dict[str, Browser], job: dict[str, Any]
) -> None:
    expected = {
        f"/ui/jobs/{job['job_id']}": {"cancel", "keep"},
        f"/ui/recipe-sets/{job['recipe_set_id']}": {"cancel", "priority"},
        f"/ui/recipes/{job['recipe_ids'][0]}": set(),
    }
    for path, possible in expected.items():
        for user, browser in people.items():
            shown = offered(browser, path, service.end())
            assert shown == (possible if user in OWNERS else set()), (path, user)
            assert not offered_in_the_past(browser, path, job["position"])


def test_queue__by_role__offers_the_actions_of_the_sets_that_the_reader_may_change(
    service: Running, people: dict[str, Browser], job: dict[str, Any]
) -> None:
    path = f"/ui/recipe-sets/{job['recipe_set_id']}"
    for user, browser in people.items():
        page = browser.get("/ui/queue", params={"min_position": job["position"], "limit": 500})
        assert f'href="{path}"' in page.text
        shown = set(re.findall(rf'href="{path}/actions/([a-z-]+)"', page.text))
        assert shown == ({"cancel", "priority"} if user in OWNERS else set()), user
        assert not offered_in_the_past(browser, "/ui/queue", job["position"])


def offered_in_the_past(browser: Browser, path: str, position: int) -> bool:
    page = browser.get(path, params={"as_of": position})
    assert page.status_code == 200
    return "/actions/" in page.text


@pytest.mark.parametrize("path", ACTIONS)
def test_actions__by_others_than_the_owner__are_403_and_store_nothing(
    service: Running, people: dict[str, Browser], job: dict[str, Any], system: str, path: str
) -> None:
    key = {
        "jobs": job["job_id"],
        "recipe-sets": job["recipe_set_id"],
        "recipes": job["recipe_ids"][0],
        "systems": system,
    }[path]
    for action in ACTIONS[path]:
        address = f"/ui/{path}/{key}/actions/{action}"
        for user in ("carol", "bob"):
            browser = people[user]
            value = form_value(browser.get("/ui"))
            form = {"form_value": value, "key": "k", "form_version": "1", **FIELDS.get(action, {})}
            end = service.end()
            assert browser.get(address).status_code == 403, (user, action)
            assert browser.post(address, form).status_code == 403, (user, action)
            assert service.end() == end, (user, action)


def test_system_page__in_each_state__the_owner_can_take_each_action(
    people: dict[str, Browser], admin: httpx.Client, system: str
) -> None:
    alice, path = people["alice"], f"/ui/systems/{system}"
    steps = [("drain", "draining", True), ("undrain", "draining", False), ("reserve", "user", "alice")]
    steps += [(action, "draining", False) for action in ("add-note", "power", "unset-power")]
    steps += [("return", "user", None), ("lend", "loaned_to", "carol"), ("end-loan", "loaned_to", None)]
    for action, name, value in [*steps, ("condition", "condition", "Broken")]:
        more = {"condition": "Broken"} if action == "condition" else {}
        done = alice.post(f"{path}/actions/{action}", fill(alice, path, action, **more))
        assert done.status_code == 303, done.text
        position = done.headers["location"].partition("min_position=")[2]
        assert done.headers["location"].startswith(f"{path}?")
        found = admin.get(f"/systems/{system}", params={"min_position": position}).json()
        assert found[name] == value, action


def test_condition__of_a_reserved_system__says_what_ends_its_reservation(
    service: Running, people: dict[str, Browser], system: str
) -> None:
    alice, path = people["alice"], f"/ui/systems/{system}"
    alice.post(f"{path}/actions/reserve", fill(alice, path, "reserve"))
    form = alice.get(f"{path}/actions/condition?min_position={service.end()}").text
    assert "alice has reserved the system. The condition Removed ends the reservation." in form


def test_action__its_subject_is_in_another_state__has_no_form(
    service: Running, people: dict[str, Browser], job: dict[str, Any]
) -> None:
    path = f"/ui/jobs/{job['job_id']}"
    people["alice"].post(f"{path}/actions/cancel", fill(people["alice"], path, "cancel"))
    page = people["alice"].get(f"{path}/actions/cancel?min_position={service.end()}").text
    assert "This is not possible in the present state of the job." in page
    assert "<textarea" not in page and 'name="reason"' not in page


def test_system_page__by_role__offers_what_the_owner_may_do(
    service: Running, people: dict[str, Browser], system: str
) -> None:
    path = f"/ui/systems/{system}"
    of_owner = {"condition", "drain", "reserve", "lend", "add-note", "power", "policy"}
    assert offered(people["alice"], path, service.end()) == of_owner
    # An admin has all permissions but to reserve.
    assert offered(people["admin"], path, service.end()) == of_owner - {"reserve"}
    for user in ("carol", "bob"):
        assert offered(people[user], path, service.end()) == set()


def test_system_policy__changed_by_its_owner__begins_with_the_present_one(
    service: Running, people: dict[str, Browser], admin: httpx.Client, system: str
) -> None:
    address = f"/ui/systems/{system}/actions/policy"
    present = (
        shown(people["alice"].get(address, params={"min_position": service.end()}).text, "entries") or ""
    )
    assert "&#34;permission&#34;: &#34;view&#34;" in present
    entries = '[{"permission": "reserve", "user": "carol"}]'
    done = people["alice"].post(
        address, fill(people["alice"], f"/ui/systems/{system}", "policy", entries=entries)
    )
    assert done.status_code == 303, done.text
    (entry,) = admin.get(f"/systems/{system}/access-policy", params={"min_position": service.end()}).json()[
        "entries"
    ]
    assert (entry["permission"], entry["user"]) == ("reserve", "carol")
    for wrong in ("[", '[{"permission": "view"}]', '[{"permission": "view", "user": "no-such-user"}]'):
        form = fill(people["alice"], f"/ui/systems/{system}", "policy", entries=wrong)
        answer = people["alice"].post(address, form)
        assert answer.status_code == 422
        assert 'id="entries-note" class="small"><strong>' in answer.text, wrong


def test_form__sent_twice__takes_effect_once(
    service: Running, people: dict[str, Browser], job: dict[str, Any]
) -> None:
    path = f"/ui/recipe-sets/{job['recipe_set_id']}"
    form = fill(people["alice"], path, "priority", priority="Urgent")
    first = people["alice"].post(f"{path}/actions/priority", form)
    end = service.end()
    again = people["alice"].post(f"{path}/actions/priority", form)
    assert (first.status_code, again.status_code) == (303, 303)
    assert first.headers["location"] == again.headers["location"]
    # The scheduler may answer the first one meanwhile.
    assert [event for event in service.events(end) if event["actor"] != "scheduler"] == []
    other = people["alice"].post(f"{path}/actions/priority", {**form, "priority": "Low"})
    assert other.status_code == 422
    assert "was used for another request" in other.text


def test_form__version_has_changed__412_shows_what_changed_and_stays_filled(
    people: dict[str, Browser], admin: httpx.Client, job: dict[str, Any]
) -> None:
    path = f"/ui/recipe-sets/{job['recipe_set_id']}"
    form = fill(people["alice"], path, "priority", priority="Urgent")
    changed = admin.patch(f"/recipe-sets/{job['recipe_set_id']}", json={"priority": "Low"})
    admin.get("/jobs", params={"min_position": changed.headers["labledger-position"]}).raise_for_status()
    stale = people["alice"].post(f"{path}/actions/priority", form)
    assert stale.status_code == 412
    assert "recipe-set.priority-changed" in stale.text
    assert "<option selected>Urgent</option>" in stale.text
    fresh = hidden_fields(stale.text)
    assert people["alice"].post(f"{path}/actions/priority", {**form, **fresh}).status_code == 303


def test_form__missing_reason_and_wrong_time__422_names_each_and_stays_filled(
    service: Running, people: dict[str, Browser], system: str
) -> None:
    alice, path = people["alice"], f"/ui/systems/{system}"
    end = service.end()
    wrong = alice.post(f"{path}/actions/drain", fill(alice, path, "drain", reason=" "))
    assert wrong.status_code == 422
    assert "must not be empty" in wrong.text
    late = alice.post(f"{path}/actions/lend", fill(alice, path, "lend", user="nobody-known", until="soon"))
    assert late.status_code == 422
    assert "must be a time with a zone" in late.text
    assert 'value="nobody-known"' in late.text
    unknown = alice.post(f"{path}/actions/lend", fill(alice, path, "lend", user="nobody-known"))
    assert unknown.status_code == 422
    assert "nobody-known" in unknown.text
    assert service.end() == end


@pytest.mark.parametrize(
    "spoil",
    [
        lambda form: {name: value for name, value in form.items() if name != "form_value"},
        lambda form: {**form, "form_value": "0" * 64},
    ],
    ids=["without its value", "with another value"],
)
def test_form__not_of_this_login__403_and_nothing_is_stored(
    service: Running,
    people: dict[str, Browser],
    job: dict[str, Any],
    spoil: Callable[[dict[str, str]], dict[str, str]],
) -> None:
    path = f"/ui/jobs/{job['job_id']}"
    form = fill(people["alice"], path, "cancel")
    end = service.end()
    assert people["alice"].post(f"{path}/actions/cancel", spoil(form)).status_code == 403
    foreign = people["alice"].post(f"{path}/actions/cancel", form, **{"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    others = people["admin"].post(f"{path}/actions/cancel", form)
    assert others.status_code == 403
    assert service.end() == end


def test_cancellation__its_form__says_what_ends_and_needs_a_reason(
    people: dict[str, Browser], admin: httpx.Client, job: dict[str, Any]
) -> None:
    alice, path = people["alice"], f"/ui/jobs/{job['job_id']}"
    page = alice.get(f"{path}/actions/cancel", params={"min_position": job["position"]})
    assert "It ends 1 recipe; 0 of them have a system." in page.text or "1 of them has a system" in page.text
    assert re.search(r'name="reason"[^>]* required', page.text)
    done = alice.post(f"{path}/actions/cancel", fill(alice, path, "cancel"))
    assert done.status_code == 303
    after = alice.get(done.headers["location"])
    assert '<span class="state cancelled">' in after.text
    assert "seen enough" in after.text


@pytest.mark.parametrize(
    "fields", [(), (replace(REASON, is_required=False),), (replace(REASON, name="why"),)]
)
def test_action__ends_something_without_a_required_reason__cannot_be_declared(
    fields: tuple[FormField, ...],
) -> None:
    cancel = JOB.action("cancel")
    with pytest.raises(ValueError, match="action cancel ends something, so it must require a reason"):
        replace(cancel, fields=fields)


def test_field__of_no_model__takes_no_control_characters() -> None:
    assert REASON.fault("as planned:\n\tnew disks") is None
    for text, character in (("\x1b[2Jgone", "U+001B"), ("a\0b", "U+0000")):
        fault = REASON.fault(text)
        assert fault is not None and fault.message == f"must not contain control characters: {character}"


def test_action__says_neither_what_it_does_nor_what_it_ends__cannot_be_declared() -> None:
    priority = RECIPE_SET.action("priority")
    with pytest.raises(ValueError, match="action priority must say what it does"):
        replace(priority, effect="")


@pytest.mark.parametrize("action", ["drain", "lend"])
def test_form__its_effect__is_said_above_its_fields(
    people: dict[str, Browser], system: str, action: str
) -> None:
    page = people["alice"].get(f"/ui/systems/{system}/actions/{action}")
    assert SYSTEM.action(action).effect in page.text.partition('<form method="post" action="/ui/systems')[0]


def test_return__of_a_kept_system__needs_a_reason_which_the_recipe_shows(
    service: Running, people: dict[str, Browser], admin: httpx.Client, machine: str
) -> None:
    keeps = {"reservesys": {"duration_seconds": 7200, "when": "always"}}
    (recipe_id,) = submit(admin, recipe_for(machine, **keeps))["recipe_ids"]
    finish(admin, recipe_id, start(admin, recipe_id))
    path = f"/ui/recipes/{recipe_id}"
    assert offered(people["admin"], path, service.end()) == {"extend", "return"}
    require_reason(service, people["admin"], f"{path}/actions/return")
    done = people["admin"].post(f"{path}/actions/return", fill(people["admin"], path, "return"))
    page = people["admin"].get(done.headers["location"])
    assert '<span class="state completed">' in page.text
    assert ">done<" in page.text


def test_ends__of_loan_and_job__need_a_reason_which_the_log_shows(
    service: Running, people: dict[str, Browser], admin: httpx.Client, system: str
) -> None:
    admin.put(f"/systems/{system}/loan", json={"user": "carol"}).raise_for_status()
    job_id = admin.post("/jobs", json={"open": True}).json()["job_id"]
    admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    for path, action, reason in (
        (f"/ui/systems/{system}", "end-loan", "ended by admin: over"),
        (f"/ui/jobs/{job_id}", "close", "complete"),
    ):
        address = f"{path}/actions/{action}"
        require_reason(service, people["admin"], address)
        end = service.end()
        assert people["admin"].post(address, fill(people["admin"], path, action)).status_code == 303
        assert reasons_after(service, end)[0] == reason


def test_action__unknown_or_of_the_past__404_and_422(people: dict[str, Browser], job: dict[str, Any]) -> None:
    path = f"/ui/jobs/{job['job_id']}/actions"
    assert people["alice"].get(f"{path}/explode").status_code == 404
    assert people["alice"].get(f"{path}/cancel", params={"as_of": 3}).status_code == 422
