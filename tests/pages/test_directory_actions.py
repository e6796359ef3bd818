"""Actions of the directory: who is offered which, and that each takes effect as in the API, once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any, NamedTuple

import httpx
import pytest

from tests.harness.running import Running
from tests.pages.browser import PASSWORD, Browser, form_value, hidden_fields
from tests.pages.people import ADMIN, AUDITOR, OTHER, OWNER, filled, reasons_after, require_reason, shown
from tests.rest.actions import EAST

TREE = "4711"


class Case(NamedTuple):
    """An action on a subject: the principals who may take it, and fields with which it changes something."""

    path: str
    action: str
    may: set[str]
    fields: dict[str, str]


CREATIONS = [
    Case("users", "create", {ADMIN}, {"name": "made-user", "roles": "submitter\nauditor", "email": "a@b.c"}),
    Case(
        "groups", "create", {ADMIN}, {"name": "made-group", "owners": OWNER, "members": f"{OWNER}\n{OTHER}"}
    ),
    Case("pools", "create", {ADMIN}, {"name": "made-pool", "owner_group": "of-olga", "description": "new"}),
    Case("lab-controllers", "create", {ADMIN}, {"fqdn": "made.example.com", "enabled": "yes"}),
    Case(
        "distro-trees",
        "create",
        {ADMIN},
        {
            "id": "4712",
            "name": "Made-1",
            "family": "Made",
            "arch": "x86_64",
            "urls": f"{EAST} http://t.org/x",
        },
    ),
]
SUBJECTS = {
    "users": "changed-user",
    "groups": "olgas-group",
    "pools": "olgas",
    "lab-controllers": "changed.example.com",
    "distro-trees": TREE,
}
WHY = {"reason": "it moves to Brno"}
ACTIONS = [
    Case("users", "change", {ADMIN}, {"roles": "auditor", "email": "new@b.c"}),
    Case("users", "password", {ADMIN}, {"password": "another long password"}),
    Case("users", "remove", {ADMIN}, {"force": "yes", **WHY}),
    Case("groups", "change", {ADMIN, OWNER}, {"owners": OWNER, "members": f"{OTHER}\n{OWNER}"}),
    Case("groups", "remove", {ADMIN}, WHY),
    Case("pools", "change", {ADMIN, OWNER}, {"owner_group": "of-olga", "description": "changed"}),
    Case("pools", "add-system", {ADMIN, OWNER}, {"system": "olgas.example.com"}),
    Case("pools", "remove-system", {ADMIN, OWNER}, {"system": "in-pool.example.com", **WHY}),
    Case("pools", "policy", {ADMIN, OWNER}, {"entries": '[{"permission": "view", "everybody": true}]'}),
    Case("pools", "remove", {ADMIN}, {"force": "yes", **WHY}),
    Case("lab-controllers", "change", {ADMIN}, {"broken_after": "7"}),
    Case("lab-controllers", "disable", {ADMIN}, WHY),
    Case("lab-controllers", "remove", {ADMIN}, {"force": "yes", **WHY}),
    Case("distro-trees", "change", {ADMIN}, {"name": "T-2", "family": "T", "arch": "x86_64", "urls": EAST}),
    Case("distro-trees", "remove", {ADMIN}, WHY),
]
ALL = [*CREATIONS, *ACTIONS]


def named(cases: list[Case]) -> list[Any]:
    return [pytest.param(case, id=f"{case.path}-{case.action}") for case in cases]


@pytest.fixture(autouse=True)
def directory(service: Running, people: dict[str, Browser], admin: httpx.Client) -> Iterator[None]:
    """Register the subjects of SUBJECTS, and remove them and those of CREATIONS in the end."""
    bodies: dict[str, dict[str, Any]] = {
        "/users/changed-user": {"roles": ["submitter"]},
        "/groups/of-olga": {"owners": [OWNER], "members": []},
        "/groups/olgas-group": {"owners": [OWNER], "members": []},
        "/pools/olgas": {"owner_group": "of-olga", "description": "of Olga"},
        "/lab-controllers/changed.example.com": {},
        f"/distro-trees/{TREE}": {"name": "T-1", "family": "T", "arch": "x86_64", "urls": {}},
    }
    for path, body in bodies.items():
        admin.put(path, json=body).raise_for_status()
    for fqdn in ("olgas.example.com", "in-pool.example.com"):
        if admin.get(f"/systems/{fqdn}").status_code == 404:
            system = {"fqdn": fqdn, "lab_controller": EAST, "owner": OWNER, "condition": "Manual"}
            admin.post("/systems", json=system).raise_for_status()
    admin.put("/pools/olgas/systems/in-pool.example.com").raise_for_status()
    admin.get("/jobs", params={"min_position": service.end()}).raise_for_status()
    yield
    made = [f"/{case.path}/{next(iter(case.fields.values()))}" for case in CREATIONS]
    for path in ("/pools/made-pool", "/pools/olgas", *reversed(made), *reversed(bodies)):
        is_used = path.startswith(("/pools/", "/users/"))
        answer = admin.delete(path, params={"force": True} if is_used else {})
        assert answer.status_code in (200, 404), answer.text


def page_of(case: Case) -> str:
    return f"/ui/{case.path}" if case in CREATIONS else f"/ui/{case.path}/{SUBJECTS[case.path]}"


def form_of(case: Case) -> str:
    return f"/ui/new/{case.path}" if case in CREATIONS else f"{page_of(case)}/actions/{case.action}"


@pytest.mark.parametrize("case", named(ALL))
def test_action__by_each_role__is_offered_and_accepted_exactly_if_the_api_permits_it(
    service: Running, people: dict[str, Browser], case: Case
) -> None:
    address, at_end = form_of(case), {"min_position": service.end()}
    for user, browser in people.items():
        page = browser.get(page_of(case), params=at_end)
        assert page.status_code == 200
        assert (f'href="{address}"' in page.text) == (user in case.may), user
        assert f'href="{address}' not in browser.get(page_of(case), params={"as_of": service.end()}).text
        if user not in case.may:
            end = service.end()
            form = {
                "form_value": form_value(browser.get("/ui")),
                "key": "k",
                "form_version": "1",
                **case.fields,
            }
            assert browser.get(address).status_code == 403, user
            assert browser.post(address, form).status_code == 403, user
            assert service.end() == end, user
    # The one with the least rights of those who may; each test begins with the same directory.
    user = OWNER if OWNER in case.may else ADMIN
    done = people[user].post(address, filled(people[user], address, **case.fields))
    assert done.status_code == 303, done.text
    assert service.end() > at_end["min_position"]
    assert people[user].get(done.headers["location"]).status_code == 200


@pytest.mark.parametrize("case", named(ALL))
def test_action__form_sent_twice__takes_effect_once(
    service: Running, people: dict[str, Browser], case: Case
) -> None:
    address = form_of(case)
    form = filled(people[ADMIN], address, **case.fields)
    first = people[ADMIN].post(address, form)
    end = service.end()
    again = people[ADMIN].post(address, form)
    assert (first.status_code, again.status_code) == (303, 303), again.text
    assert first.headers["location"] == again.headers["location"]
    # The scheduler may answer the first one meanwhile.
    assert [event for event in service.events(end) if event["actor"] != "scheduler"] == []


@pytest.mark.parametrize("case", named(ALL))
def test_action__form_of_another_origin_or_login__is_403_and_stores_nothing(
    service: Running, people: dict[str, Browser], case: Case
) -> None:
    address = form_of(case)
    form = filled(people[ADMIN], address, **case.fields)
    end = service.end()
    foreign = people[ADMIN].post(address, form, **{"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    assert people[ADMIN].post(address, {**form, "form_value": "0" * 64}).status_code == 403
    assert service.end() == end


@pytest.mark.parametrize("case", named([each for each in ACTIONS if "reason" in each.fields]))
def test_action__that_ends_something__needs_a_reason_which_the_log_shows(
    service: Running, people: dict[str, Browser], case: Case
) -> None:
    address = form_of(case)
    more = {name: value for name, value in case.fields.items() if name != "reason"}
    require_reason(service, people[ADMIN], address, **more)
    end = service.end()
    assert people[ADMIN].post(address, filled(people[ADMIN], address, **case.fields)).status_code == 303
    assert WHY["reason"] in reasons_after(service, end)
    log = people[ADMIN].get("/ui/events", params={"min_position": service.end()})
    assert f"<bdi>{WHY['reason']}</bdi>" in log.text


CHANGES: dict[str, dict[str, Any]] = {
    "users": {"email": "meanwhile@b.c"},
    "groups": {"owners": [OWNER], "members": [AUDITOR]},
    "pools": {"owner_group": "of-olga", "description": "meanwhile"},
    "lab-controllers": {"broken_after": 9},
    "distro-trees": {"name": "T-9", "family": "T", "arch": "x86_64"},
}


@pytest.mark.parametrize("case", named(ACTIONS))
def test_action__version_has_changed__412_shows_what_changed_and_stays_filled(
    people: dict[str, Browser], admin: httpx.Client, case: Case
) -> None:
    address = form_of(case)
    form = filled(people[ADMIN], address, **case.fields)
    api = address.removeprefix("/ui").partition("/actions/")[0]
    changed = admin.put(api, json=CHANGES[case.path]).raise_for_status()
    admin.get("/jobs", params={"min_position": changed.headers["labledger-position"]}).raise_for_status()
    stale = people[ADMIN].post(address, form)
    assert stale.status_code == 412, stale.text
    assert "Changes since the form was made" in stale.text
    for name, value in case.fields.items():
        if name != "password":
            assert unescape(shown(stale.text, name) or "") == value
        assert "another long password" not in stale.text
    fresh = hidden_fields(stale.text)
    assert people[ADMIN].post(address, {**form, **fresh}).status_code == 303


@pytest.mark.parametrize("case", named(CREATIONS))
def test_creation__name_is_taken__says_so_and_stays_filled(
    service: Running, people: dict[str, Browser], case: Case
) -> None:
    address = form_of(case)
    form = filled(people[ADMIN], address, **case.fields)
    other = filled(people[ADMIN], address, **case.fields)
    assert people[ADMIN].post(address, form).status_code == 303
    end = service.end()
    stale = people[ADMIN].post(address, other)
    assert stale.status_code == 409
    assert re.search('role="alert">there is already a [a-z ]+ [^<]+</p>', stale.text), stale.text
    assert "Changes since" not in stale.text
    for name, value in case.fields.items():
        assert shown(stale.text, name) == value
    assert service.end() == end


@pytest.mark.parametrize(
    ("path", "fields", "faults"),
    [
        ("new/users", {"name": "-", "email": "nobody"}, ["name", "email"]),
        ("new/users", {"name": "fine", "roles": "submitter boss"}, ["roles"]),
        ("new/groups", {"name": "", "members": "no-such-user"}, ["name"]),
        ("new/groups", {"name": "fine", "members": "no-such-user"}, ["members"]),
        ("new/pools", {"name": "fine", "owner_group": "no-such-group"}, ["owner_group"]),
        (
            "new/lab-controllers",
            {"fqdn": "a..b", "broken_after": "x", "enabled": "maybe"},
            ["fqdn", "enabled"],
        ),
        ("new/distro-trees", {"id": "x", "urls": "nowhere http://a"}, ["id", "name", "family", "arch"]),
        ("new/tokens", {"user": ADMIN, "role": "boss", "expires_at": "soon"}, ["expires_at"]),
        ("pools/olgas/actions/add-system", {"system": ""}, ["system"]),
        ("pools/olgas/actions/add-system", {"system": "no-such-system"}, ["system"]),
        ("users/changed-user/actions/password", {"password": ""}, ["password"]),
    ],
)
def test_form__faulty_fields__422_with_a_fault_beside_each_and_nothing_is_stored(
    service: Running, people: dict[str, Browser], path: str, fields: dict[str, str], faults: list[str]
) -> None:
    end = service.end()
    wrong = people[ADMIN].post(f"/ui/{path}", {**filled(people[ADMIN], f"/ui/{path}"), **fields})
    assert wrong.status_code == 422, wrong.text
    for name in faults:
        assert re.search(rf'id="{name}-note"[^>]*><strong>[^<]+</strong>', wrong.text), (name, wrong.text)
        assert re.search(rf'id="{name}"[^>]* aria-invalid="true"', wrong.text), name
    assert service.end() == end


def test_form__several_lines_and_a_fault__keeps_the_lines(people: dict[str, Browser]) -> None:
    fields = {"name": "lines", "members": "alice\r\nno-such-user\r\n", "owners": "alice\r\nbob"}
    wrong = people[ADMIN].post("/ui/new/groups", {**filled(people[ADMIN], "/ui/new/groups"), **fields})
    assert wrong.status_code == 422, wrong.text
    texts = re.findall(r"<textarea[^>]*>\n(.*?)</textarea>", wrong.text, re.DOTALL)
    assert sorted(texts) == ["alice\nbob", "alice\nno-such-user\n"]


def test_change__its_form__begins_with_the_present_values(people: dict[str, Browser]) -> None:
    page = people[OWNER].get("/ui/groups/olgas-group/actions/change").text
    assert (shown(page, "owners"), shown(page, "members")) == (OWNER, "")
    assert shown(people[OWNER].get("/ui/pools/olgas/actions/change").text, "description") == "of Olga"


def test_pool__given_away_by_a_member_alone__403_and_the_form_stays_filled(
    service: Running, people: dict[str, Browser], admin: httpx.Client
) -> None:
    admin.put("/groups/of-olga", json={"owners": [], "members": [OWNER]}).raise_for_status()
    address, end = "/ui/pools/olgas/actions/change", service.end()
    form = filled(people[OWNER], address, owner_group="", description="mine")
    refused = people[OWNER].post(address, form)
    assert refused.status_code == 403
    assert "may give the pool to another group" in refused.text
    assert shown(refused.text, "description") == "mine"
    assert service.end() == end


def test_lab_controller__enabled_again__offers_to_disable_it(people: dict[str, Browser]) -> None:
    path = "/ui/lab-controllers/changed.example.com"
    for action, other, fields in (("disable", "enable", WHY), ("enable", "disable", {})):
        address = f"{path}/actions/{action}"
        done = people[ADMIN].post(address, filled(people[ADMIN], address, **fields))
        page = people[ADMIN].get(done.headers["location"]).text
        assert f'href="{path}/actions/{other}"' in page
        assert f'href="{address}"' not in page


def test_removal__its_form__says_what_it_ends_and_leads_to_the_list(people: dict[str, Browser]) -> None:
    address = "/ui/users/changed-user/actions/remove"
    assert "revokes the user&#39;s tokens" in people[ADMIN].get(address).text
    done = people[ADMIN].post(address, filled(people[ADMIN], address, force="no", **WHY))
    assert done.headers["location"].startswith("/ui/users?min_position=")
    assert "changed-user" not in people[ADMIN].get(done.headers["location"]).text


def test_password__set_by_its_owner__needs_the_current_one(people: dict[str, Browser]) -> None:
    address = f"/ui/users/{OTHER}/actions/password"
    form = filled(people[OTHER], address, password="yet another password")
    assert "is required to change the password" in people[OTHER].post(address, form).text
    wrong = people[OTHER].post(address, {**form, "current_password": "a wrong password"})
    assert (wrong.status_code, "the current password is wrong" in wrong.text) == (403, True)
    right = people[OTHER].post(address, {**form, "current_password": PASSWORD})
    assert right.status_code == 303
    assert people[OTHER].get(right.headers["location"]).status_code == 200
    form = filled(people[OTHER], address, password=PASSWORD, current_password="yet another password")
    assert people[OTHER].post(address, form).status_code == 303


def test_token__created_by_its_user__is_shown_once_and_can_be_revoked(
    service: Running, people: dict[str, Browser]
) -> None:
    olga, address = people[OWNER], "/ui/new/tokens"
    assert f'href="{address}"' in olga.get("/ui/tokens").text
    assert shown(olga.get(address).text, "user") == OWNER
    until = shown(olga.get(address).text, "expires_at")
    assert until
    form = filled(olga, address, user=OWNER, role="submitter", expires_at=until)
    made = olga.post(address, form)
    end = service.end()
    again = olga.post(address, form)
    assert made.status_code == 200, made.text
    (token,) = re.findall(r"<code>(ll_[^<]+)</code>", made.text)
    (token_id,) = set(re.findall(r'href="/ui/tokens/([0-9a-f]+)"', made.text))
    assert made.headers["cache-control"] == "no-store"
    assert again.status_code == 200
    assert "ll_" not in again.text
    assert f"/ui/tokens/{token_id}" in again.text
    assert service.end() == end
    with service.client(token) as client:
        assert client.get("/whoami").json()["user"] == OWNER
        revoke = f"/ui/tokens/{token_id}/actions/revoke"
        for user in (OTHER, AUDITOR):
            assert people[user].get(revoke).status_code == 403
        assert f'href="{revoke}"' in olga.get(f"/ui/tokens/{token_id}", params={"min_position": end}).text
        require_reason(service, olga, revoke)
        form = filled(olga, revoke, **WHY)
        done = [olga.post(revoke, form) for _ in range(2)]
        assert [each.status_code for each in done] == [303, 303]
        assert service.end() == end + 1
        assert reasons_after(service, end) == [WHY["reason"]]
        page = olga.get(done[0].headers["location"]).text
        assert "revoked" in page
        assert revoke not in page
        assert client.get("/whoami").status_code == 401


def test_token__for_somebody_else__only_from_an_admin(service: Running, people: dict[str, Browser]) -> None:
    address, end = "/ui/new/tokens", service.end()
    form = filled(people[OWNER], address, user=OTHER, role="submitter")
    refused = people[OWNER].post(address, form)
    assert (refused.status_code, "ll_" in refused.text) == (403, False)
    assert people[OWNER].post(address, form, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert people[AUDITOR].get(address).status_code == 403
    assert f'href="{address}"' not in people[AUDITOR].get("/ui/tokens").text
    assert service.end() == end
    made = people[ADMIN].post(address, filled(people[ADMIN], address, user=OTHER, role="submitter"))
    assert "<code>ll_" in made.text
