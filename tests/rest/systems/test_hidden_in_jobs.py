"""Jobs, matches and explanations do not mention systems that the caller may not view."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx

from domain.scheduling.supply.reasons import NO_ACCESS
from tests.rest.actions import People, after, in_state, recipe_for, submit
from tests.rest.systems.conftest import MISSING, OPEN
from workers.explaining.answers import NOT_SHOWN


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
