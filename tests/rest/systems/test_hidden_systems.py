"""Hidden systems in lists, events and answers about jobs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from domain.scheduling.supply.reasons import NO_ACCESS
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import EAST, People, after, cancel_set, in_state, recipe_for, submit
from tests.rest.systems.conftest import MISSING, OPEN
from workers.explaining.answers import NOT_SHOWN

LISTS: list[tuple[str, dict[str, Any], str, str]] = [
    ("/systems", {}, "systems", "fqdn"),
    ("/systems", {"lab_controller": EAST, "condition": "Automated"}, "systems", "fqdn"),
    ("/inventory", {}, "systems", "fqdn"),
    ("/idle-pool", {}, "systems", "fqdn"),
    ("/timeline", {}, "systems", "fqdn"),
    ("/system-usage", {"group_by": "system"}, "groups", "key"),
    ("/system-usage", {"group_by": "system", "since": "2020-01-01T00:00:00Z"}, "groups", "key"),
]


@pytest.mark.parametrize(("path", "query", "name", "key"), LISTS)
def test_list__system_hidden_from_some__is_in_it_for_the_others(
    client: httpx.Client,
    people: People,
    secret: tuple[str, str],
    path: str,
    query: dict[str, Any],
    name: str,
    key: str,
) -> None:
    fqdn, position = secret
    seen = {}
    for who in ("alice", "bob", "carol", "east", "west"):
        params = {**query, "limit": 1000, "min_position": position}
        seen[who] = fqdn in [row[key] for row in people[who].get(path, params=params).json()[name]]
    assert seen == {"alice": True, "bob": True, "carol": False, "east": True, "west": False}
    # The present policy also decides about the past.
    then = {**query, "limit": 1000, "as_of": int(position) - 1}
    assert fqdn not in [row[key] for row in people["carol"].get(path, params=then).json()[name]]
    assert fqdn in [row[key] for row in client.get(path, params=then).json()[name]]


def test_sums__of_hidden_systems__count_under_other_names(
    client: httpx.Client, people: People, secret: tuple[str, str]
) -> None:
    params = {"group_by": "lab_controller", "as_of": secret[1]}
    everything = client.get("/system-usage", params=params).json()["groups"]
    assert people["carol"].get("/system-usage", params=params).json()["groups"] == everything


def test_below__a_hidden_system__404_as_for_one_that_is_not_there(
    people: People, secret: tuple[str, str]
) -> None:
    fqdn, position = secret
    for below in ("", "/usage", "/history", "/access-policy", "/notes"):
        params = {"min_position": position}
        hidden = people["carol"].get(f"/systems/{fqdn}{below}", params=params)
        missing = people["carol"].get(f"/systems/missing.example.com{below}", params=params)
        assert (hidden.status_code, missing.status_code) == (404, 404)
        assert hidden.json()["detail"] == missing.json()["detail"].replace("missing.example.com", fqdn)
        assert people["bob"].get(f"/systems/{fqdn}{below}", params=params).status_code == 200


def test_near_names__of_a_hidden_system_to_which_one_may_submit__are_not_suggested(
    client: httpx.Client, people: People, secret: tuple[str, str]
) -> None:
    fqdn, _ = secret
    entries = [{"permission": "submit", "everybody": True}, {"permission": "view", "user": "bob"}]
    client.put(f"/systems/{fqdn}/access-policy", json={"entries": entries}).raise_for_status()
    before = client.get(f"/systems/{fqdn}").json()["arches"]
    changed = {"key_values": {"ZEBRAFISH": ["1"]}, "arches": [*before, "zebra64le"]}
    client.patch(f"/systems/{fqdn}", json=changed).raise_for_status()
    parts = [{"element": "key_value", "key": "ZEBRAFISK"}, {"element": "arch", "value": "zebra64lx"}]
    for who, count in (("bob", 2), ("carol", 0)):
        recipe = {"host_requires": {"or": parts}, "distro_requires": {}, "tasks": [{"name": "/t"}]}
        answer = people[who].post("/jobs", json={"recipe_sets": [{"recipes": [recipe]}]})
        said = " ".join(warning["message"] for warning in answer.json()["warnings"])
        assert (who, said.count("there is no")) == (who, 2)
        assert (who, said.count("did you mean zebra") + said.count("did you mean ZEBRA")) == (who, count)
    client.patch(f"/systems/{fqdn}", json={"key_values": None, "arches": before}).raise_for_status()


def test_locks__with_the_name_of_a_hidden_system__are_left_out_at_every_level(
    client: httpx.Client, people: People, machine: str
) -> None:
    named = {level: {"Exclusive": ["$system"]} for level in ("guest", "system", "system_resource", "network")}
    ids = submit(people["alice"], recipe_for(machine, locks=named))
    in_state(client, ids["recipe_ids"][0], "waiting")
    body = {"entries": [{"permission": "view", "user": "bob"}]}
    asked = after(client.put(f"/systems/{machine}/access-policy", json=body))
    seen = {}
    for who in ("alice", "bob", "carol", "east", "west"):
        locks = people[who].get("/locks", params={**asked, "limit": 1000}).json()["locks"]
        seen[who] = {lock["level"] for lock in locks if lock["name"] == machine}
    everywhere: set[str] = set(named)
    assert seen == {"alice": everywhere, "bob": everywhere, "carol": set(), "east": everywhere, "west": set()}
    client.put(f"/systems/{machine}/access-policy", json=OPEN).raise_for_status()
    cancel_set(client, ids)


def test_events__of_a_hidden_system__left_out_page_by_page(
    client: httpx.Client, people: People, secret: tuple[str, str]
) -> None:
    fqdn, position = secret
    for query in ({}, {"subject": f"system/{fqdn}"}, {"types": "system.registered"}):
        seen = {}
        for who, one in (("admin", client), ("bob", people["bob"]), ("carol", people["carol"])):
            seen[who] = f"system/{fqdn}" in subjects(one, {**query, "min_position": position, "limit": 7})
        assert seen == {"admin": True, "bob": True, "carol": False}


def subjects(client: httpx.Client, query: dict[str, Any]) -> list[str]:
    found, after = [], 0
    while after is not None:
        page = client.get("/events", params={**query, "after": after}).json()
        found += [event["subject"] for event in page["events"]]
        after = page["next"]
    return found


def test_pools__take_in_a_hidden_system_and_let_it_go__the_events_are_left_out(
    client: httpx.Client, people: People, secret: tuple[str, str], service: Running
) -> None:
    fqdn, _ = secret
    before, query = service.end(), {"types": "pool.system-added,pool.system-removed"}
    client.put(f"/pools/big/systems/{fqdn}").raise_for_status()
    done = client.delete(f"/pools/big/systems/{fqdn}")
    asked = {**query, "after": before, "min_position": done.headers["labledger-position"]}
    found = {
        who: [event["data"]["system"] for event in one.get("/events", params=asked).json()["events"]]
        for who, one in (("admin", client), ("bob", people["bob"]), ("carol", people["carol"]))
    }
    assert found == {"admin": [fqdn, fqdn], "bob": [fqdn, fqdn], "carol": []}


def test_if_match__of_a_hidden_system__404_whatever_is_named(people: People, secret: tuple[str, str]) -> None:
    """Check that no answer is 412, which would reveal the existence and the version of the system."""
    fqdn, _ = secret
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", "", {"json": {"memory_mb": 1}}),
        ("DELETE", "", {}),
        ("PUT", "/access-policy", {"json": {"entries": []}}),
        ("PUT", "/loan", {"json": {}}),
        ("DELETE", "/loan", {}),
        ("PUT", "/reservation", {"json": {}}),
        ("DELETE", "/reservation", {}),
    ]
    stale = {"If-Match": '"99"'}
    for method, below, more in asked:
        answer = people["carol"].request(method, f"/systems/{fqdn}{below}", headers=stale, **more)
        assert (method, below, answer.status_code) == (method, below, 404)
    assert people["carol"].put(f"/pools/big/systems/{fqdn}", headers=stale).status_code == 404


def test_import__hidden_system_in_other_letters__is_refused_as_one_that_is_not_there(
    people: People, secret: tuple[str, str]
) -> None:
    fqdn, _ = secret
    answers = [
        people["carol"].post(
            "/inventory", json={"systems": [{"fqdn": name, "lab_controller": EAST, "owner": "alice"}]}
        )
        for name in (fqdn, fqdn.upper(), "missing.example.com")
    ]
    assert {(answer.status_code, answer.json()["detail"]) for answer in answers} == {
        (403, "only an admin may add systems")
    }


def test_stream__system_becomes_hidden__ends_and_is_resumed_without_it(
    client: httpx.Client, people: People, machines: Callable[..., str], service: Running
) -> None:
    fqdn = machines(condition="Manual")
    before = service.end()
    headers = {"Accept": "text/event-stream"}
    with people["carol"].stream("GET", "/events", params={"after": before}, headers=headers) as stream:
        lines = stream.iter_lines()
        client.patch(f"/systems/{fqdn}", json={"memory_mb": 17})
        assert any("system.inventory-changed" in each for each in lines)
        client.put(f"/systems/{fqdn}/access-policy", json={"entries": []})
        # The stream ends by itself, within a second.
        assert sum(each.startswith("id:") for each in lines) <= 2
    client.patch(f"/systems/{fqdn}", json={"memory_mb": 18})

    def resumed() -> list[str]:
        page = people["carol"].get("/events", params={"after": before}).json()
        return [event["subject"] for event in page["events"]]

    assert wait_until(lambda: f"system/{fqdn}" not in resumed(), "it to be hidden")
    client.put(f"/systems/{fqdn}/access-policy", json=OPEN).raise_for_status()


def test_changes__with_other_faults__hidden_system_is_answered_like_a_missing_one(
    people: People, secret: tuple[str, str]
) -> None:
    """Checks that precede the visibility check do not reveal the existence of the system."""
    fqdn, _ = secret
    asked: list[tuple[str, str, Any]] = [
        ("PATCH", "/systems/{}", {"memory_mb": "much"}),
        ("PATCH", "/systems/{}", {"lab_controller": "no.example.com", "owner": "nobody"}),
        ("PUT", "/systems/{}/reservation", {"distro_tree": 999_999, "until": "2020-01-01T00:00:00Z"}),
        ("PUT", "/systems/{}/loan", {"user": "nobody"}),
        ("PUT", "/systems/{}/access-policy", {"entries": [{"permission": "view", "user": "nobody"}]}),
        ("PUT", "/pools/no-such-pool/systems/{}", {}),
        ("PUT", "/pools/big/systems/{}", {}),
        ("DELETE", "/pools/big/systems/{}", None),
    ]
    for method, path, body in asked:
        more = {} if body is None else {"json": body}
        answers = []
        for name in (fqdn, MISSING):
            answer = people["carol"].request(method, path.format(name), **more)
            answers.append((answer.status_code, answer.text.replace(name, "NAME")))
        assert (method, path, *answers[0]) == (method, path, *answers[1])


def test_matches__hidden_system__is_not_shown(
    client: httpx.Client, people: People, secret: tuple[str, str]
) -> None:
    fqdn, _ = secret
    for who, seen in ((client, True), (people["bob"], True), (people["carol"], False)):
        systems = who.post("/matches", json={"host_requires": {}}).json()["systems"]
        assert (fqdn in [one["fqdn"] for one in systems]) is seen


def test_explanation__hidden_system__is_counted_and_not_shown(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> None:
    wanted = machines(condition="Manual")
    ids = submit(people["carol"], recipe_for(wanted))
    (recipe_id,) = ids["recipe_ids"]
    before = in_state(client, recipe_id, "queued")["position"]
    hidden = machines(condition="Manual")
    for fqdn in (hidden, wanted):
        body = {
            "entries": [{"permission": "view", "user": "bob"}, {"permission": "submit", "everybody": True}]
        }
        client.put(f"/systems/{fqdn}/access-policy", json=body).raise_for_status()
    path = f"/recipes/{recipe_id}/explanation"
    # Also as of the past, when the other system did not exist.
    for asked in ({}, {"as_of": before}):
        for who, seen in ((client, [wanted]), (people["bob"], [wanted]), (people["carol"], [])):
            answer = who.get(path, params=asked)
            assert answer.status_code == 200, answer.text
            assert answer.json()["waiting"]["counted"]["viable"] == 1
            assert [one["fqdn"] for one in answer.json()["waiting"]["systems"]] == seen
    assert people["carol"].get(path, params={"system": wanted}).status_code == 404
    client.post(f"/jobs/{ids['job_id']}/cancel", json={"reason": "over"}).raise_for_status()


def test_explanation__granted_system_is_hidden__shows_neither_its_queue_nor_its_state(
    client: httpx.Client, people: People, machine: str
) -> None:
    (recipe_id,) = submit(people["alice"], recipe_for(machine))["recipe_ids"]
    in_state(client, recipe_id, "waiting")
    body = {"entries": [{"permission": "view", "user": "bob"}]}
    hidden = after(client.put(f"/systems/{machine}/access-policy", json=body))
    answers = {
        who: people[who].get(f"/recipes/{recipe_id}/explanation", params=hidden).json()
        for who in ("alice", "bob", "carol")
    }
    for who in ("alice", "bob"):
        assert (who, answers[who]["granted"]["system"]) == (who, machine)
        assert (who, answers[who]["summary"]) == (who, f"it was new, and {machine} was idle")
    assert answers["carol"]["granted"] is None
    assert answers["carol"]["summary"] == NOT_SHOWN
    client.put(f"/systems/{machine}/access-policy", json=OPEN).raise_for_status()


def test_jobs__that_ask_for_a_hidden_system__are_answered_as_if_it_were_not_there(
    client: httpx.Client, people: People, secret: tuple[str, str]
) -> None:
    """Warnings, suggestions and reasons are those of a name that no system has."""
    fqdn, _ = secret
    key = f"ONLY-{fqdn.partition('.')[0].upper()}"
    done = client.patch(f"/systems/{fqdn}", json={"key_values": {key: ["1"]}})
    asked = (
        ({"force": fqdn}, {"force": MISSING}),
        ({"element": "key_value", "key": key}, {"element": "key_value", "key": "NO-SUCH-KEY"}),
    )
    for hidden, missing in asked:
        answers = [_submitted(client, people["carol"], form, after(done)) for form in (hidden, missing)]
        names = [str(form.get("force") or form.get("key")) for form in (hidden, missing)]
        shown = [str(one).replace(name, "NAME") for one, name in zip(answers, names, strict=True)]
        # Suggestions depend on the letters of the name.
        first, second = (_without_near_names(one) for one in shown)
        assert first == second
    misspelt = {"element": "hostname", "op": "==", "value": f"{fqdn}m"}
    assert fqdn not in str(_submitted(client, people["carol"], misspelt, after(done))).replace(f"{fqdn}m", "")
    # Bob may view the system, but not submit there.
    (_, reason) = _submitted(client, people["bob"], {"force": fqdn}, after(done))
    assert reason == NO_ACCESS


def _without_near_names(text: str) -> str:
    return re.sub(r"; did you mean [^?]*[?]", "", text).replace(". This part", " This part")


def _submitted(
    client: httpx.Client, who: httpx.Client, host_requires: dict[str, Any], seen: dict[str, str]
) -> tuple[Any, str]:
    """Return the warnings of a job, and the reason for which its recipe is given up."""
    who.get("/queue", params=seen).raise_for_status()
    trees, tasks = "<distroRequires/>", [{"name": "/t"}]
    recipe = {"distro_requires_xml": trees, "host_requires": host_requires, "tasks": tasks}
    answer = who.post("/jobs", json={"recipe_sets": [{"recipes": [recipe]}]})
    assert answer.status_code == 201, answer.text
    ended = in_state(client, answer.json()["recipe_ids"][0], "aborted")
    return answer.json().get("warnings"), ended["reason"]


def test_explanation__system_unknown_to_its_reader__is_in_no_count(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> None:
    wanted, unknown = machines(condition="Manual"), machines(condition="Manual")
    ids = submit(people["carol"], recipe_for(wanted))
    (recipe_id,) = ids["recipe_ids"]
    in_state(client, recipe_id, "queued")
    path = f"/recipes/{recipe_id}/explanation"

    def registered_count(who: httpx.Client) -> int:
        counted = who.get(path).json()["waiting"]["counted"]
        assert counted["viable"] == 1
        return int(counted["known"])

    before = {
        who: registered_count(asking) for who, asking in (("carol", people["carol"]), ("admin", client))
    }
    body = {"entries": [{"permission": "view", "user": "bob"}]}
    done = client.put(f"/systems/{unknown}/access-policy", json=body)
    people["carol"].get("/systems", params=after(done)).raise_for_status()
    assert (registered_count(people["carol"]), registered_count(client)) == (
        before["carol"] - 1,
        before["admin"],
    )
    client.post(f"/jobs/{ids['job_id']}/cancel", json={"reason": "over"}).raise_for_status()
    client.put(f"/systems/{unknown}/access-policy", json=OPEN).raise_for_status()
