"""Power settings of systems: the paths, who gets the secret, and where it must not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import EAST, People
from tests.rest.systems.conftest import MISSING
from tests.rest.systems.tables_with import tables_with

SECRET = "swordfish-of-the-east"
ILO = {"type": "ilo", "address": "bmc-1.example.com", "port": "3", "user": "root", "secret": SECRET}


def test_power__set__is_shown_without_its_secret_but_to_its_lab_controller(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    path, of_lab = f"/systems/{machine}/power", f"/lab-controllers/{EAST}/power-settings/{machine}"
    assert client.get(path).status_code == people["east"].get(of_lab).status_code == 404
    done = people["alice"].put(path, json=ILO)
    assert (done.status_code, done.json()["changed"]) == (200, True)
    assert SECRET not in done.text
    assert people["alice"].put(path, json=ILO).json()["changed"] is False
    shown = people["carol"].get(path)
    assert {name: shown.json()[name] for name in ("type", "address", "port", "user", "has_secret")} == {
        **{name: ILO[name] for name in ("type", "address", "port", "user")},
        "has_secret": True,
    }
    found = people["east"].get(of_lab)
    assert (found.json()["secret"], found.headers["cache-control"]) == (SECRET, "no-store")
    # Neither another lab controller, nor people, nor an admin, also not as the lab controller.
    west = "lab.west.example.com"
    assert people["west"].get(of_lab).status_code == 403
    assert people["west"].get(of_lab.replace(EAST, west)).status_code == 404
    assert people["alice"].get(of_lab).status_code == client.get(of_lab).status_code == 403
    acting = client.get(of_lab, headers={"Labledger-Acts-As": EAST})
    assert acting.status_code == 403
    below = [client.get(f"/systems/{machine}{path}") for path in ("", "/history", "/access-policy")]
    assert not any(SECRET in answer.text for answer in (shown, acting, *below))
    own = f"own secret of {machine}"
    usual = people["alice"].put(path, json={**ILO, "secret": own})
    assert (usual.status_code, usual.json()["warnings"]) == (200, [])
    client.get(f"/systems/{machine}", params={"min_position": service.end()}).raise_for_status()
    assert tables_with(service, own) == ["secret.power_settings"]
    unusual = people["alice"].put(path, json={**ILO, "type": "ipmi-tool", "secret": own}).json()
    message = 'no other system has the power type "ipmi-tool"; did you mean ipmitool?'
    assert unusual["warnings"] == [{"where": "type", "message": message}]
    removed = client.delete(path, params={"reason": "sold"})
    assert removed.json()["changed"] is True
    event = client.get(f"/events/{removed.json()['position']}").json()["event"]
    assert event["data"] == {"is_set": False, "reason": "sold"}
    assert client.get(path).status_code == people["east"].get(of_lab).status_code == 404


def test_list__of_power_settings__has_those_of_visible_systems_without_secrets(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> None:
    shown, hidden, bare = machines(), machines(), machines()
    for fqdn in (shown, hidden):
        client.put(f"/systems/{fqdn}/power", json=ILO).raise_for_status()
    client.put(f"/systems/{hidden}/access-policy", json={"entries": []}).raise_for_status()

    def listed(by: httpx.Client) -> dict[str, Any]:
        """Return the settings by system, from pages of one."""
        rows, page = [], by.get("/power-settings", params={"limit": 1}).json()
        while page["next"] is not None:
            rows += page["power_settings"]
            page = by.get(page["next"]).json()
        rows += page["power_settings"]
        by_name = {row["fqdn"]: row for row in rows}
        assert len(by_name) == len(rows)
        return by_name

    of_all = listed(client)
    assert of_all.keys() >= {shown, hidden} and bare not in of_all
    public = {name: ILO[name] for name in ("type", "address", "port", "user")}
    assert of_all[shown] == {"fqdn": shown, **public, "has_secret": True}
    assert listed(people["carol"]).keys() & {shown, hidden} == {shown}
    assert client.get("/power-settings", params={"as_of": 1}).status_code == 422


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"type": "a b"}, "type"),
        ({"address": ""}, "address"),
        ({"secret": f"{SECRET}\n"}, "secret"),
        ({"secret": SECRET * 60}, "secret"),
        ({"secret": [SECRET]}, "secret"),
        ({SECRET: 1}, SECRET),
    ],
)
def test_power__of_a_wrong_form__names_the_field_alone(
    client: httpx.Client, machine: str, service: Running, change: dict[str, Any], where: str
) -> None:
    before = service.end()
    answer = client.put(f"/systems/{machine}/power", json={**ILO, **change})
    assert answer.status_code == 422
    assert [each["where"] for each in answer.json()["errors"]] == [where]
    assert where == SECRET or SECRET not in answer.text
    assert client.put(f"/systems/{MISSING}/power", json=ILO).status_code == 404
    found = client.get("/events", params={"after": before, "subject": f"system/{machine}"}).json()["events"]
    assert found == []
