"""GET /recipes/{id}/explanation: why a recipe waits, and why it got its system, over HTTP."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from tests.harness.waiting import until

TREE = '<distroRequires><distro_name op="=" value="RHEL-9.6"/></distroRequires>'


def submitted(client: httpx.Client, host: str, priority: str = "Normal") -> int:
    job = (
        f'<job><recipeSet priority="{priority}"><recipe>{TREE}<hostRequires>{host}</hostRequires>'
        '<task name="/distribution/check-install"/></recipe></recipeSet></job>'
    )
    answer = client.post("/jobs", content=job, headers={"Content-Type": "application/xml"})
    assert answer.status_code == 201, answer.text
    (recipe_id,) = answer.json()["recipe_ids"]
    return int(recipe_id)


def named(fqdn: str) -> str:
    return f'<hostname op="=" value="{fqdn}"/><arch op="=" value="x86_64"/>'


def state_of(client: httpx.Client, recipe_id: int) -> str | None:
    state: str | None = client.get(f"/recipes/{recipe_id}").json().get("state")
    return state


def test_explanation__placed_and_waiting__tell_each_other(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    fqdn = machines()
    runs = submitted(client, named(fqdn))
    until(lambda: state_of(client, runs) == "waiting", "it to be placed")
    waits = submitted(client, named(fqdn))
    until(lambda: state_of(client, waits) == "queued", "it to be queued")

    granted = client.get(f"/recipes/{runs}/explanation").json()
    assert granted["waiting"] is None
    assert granted["granted"]["system"] == fqdn == granted["system"]
    assert [choice["fqdn"] for choice in granted["granted"]["choices"]] == [fqdn]

    answer = client.get(f"/recipes/{waits}/explanation")
    told = answer.json()
    assert int(answer.headers["Labledger-Position"]) == told["position"]
    (candidate,) = told["waiting"]["systems"]
    assert (candidate["fqdn"], candidate["before"]) == (fqdn, 0)
    assert candidate["holder"]["recipe_id"] == runs
    assert candidate["holder"]["since"].startswith("20")
    assert [rule["name"] for rule in told["waiting"]["rules"]][-2:] == ["access", "loan"]

    past = client.get(f"/recipes/{waits}/explanation", params={"as_of": told["position"]}).json()
    assert past["waiting"] == told["waiting"]
    one = client.get(f"/recipes/{waits}/explanation", params={"system": "arm-01.east.example.com"}).json()
    assert [each["verdict"] for each in one["waiting"]["systems"]] == ["never"]


def test_explanation__nobody_or_nothing_of_that_name__is_unknown(client: httpx.Client) -> None:
    assert client.get("/recipes/2147483647/explanation").status_code == 404
