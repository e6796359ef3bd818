"""GET /recipes/{id}/explanation: why a recipe waits, and why it got its system."""

from __future__ import annotations

import base64
import json
import os
import signal
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from api.rest.resources.matches import MAX_ENTRIES, require_few
from domain.errors import FaultyInput
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.jobs.explaining_processes import explainers

TREE = '<distroRequires><distro_name op="=" value="RHEL-9.6"/></distroRequires>'


@pytest.fixture
def submitted(client: httpx.Client) -> Iterator[Callable[[str], int]]:
    """Yield a function that submits a job and returns its recipe id; cancel the jobs afterwards."""
    job_ids: list[int] = []

    def submit(host: str) -> int:
        recipe_id, job_id = submit_job(client, host)
        job_ids.append(job_id)
        return recipe_id

    yield submit
    for job_id in job_ids:
        assert client.post(f"/jobs/{job_id}/cancel", json={"reason": "the test is over"}).is_success


def submit_job(client: httpx.Client, host: str) -> tuple[int, int]:
    job = (
        f"<job><recipeSet><recipe>{TREE}<hostRequires>{host}</hostRequires>"
        '<task name="/distribution/check-install"/></recipe></recipeSet></job>'
    )
    answer = client.post("/jobs", content=job, headers={"Content-Type": "application/xml"})
    assert answer.status_code == 201, answer.text
    (recipe_id,) = answer.json()["recipe_ids"]
    return recipe_id, answer.json()["job_id"]


def named(fqdn: str) -> str:
    return f'<hostname op="=" value="{fqdn}"/><arch op="=" value="x86_64"/>'


def state_of(client: httpx.Client, recipe_id: int) -> str | None:
    state: str | None = client.get(f"/recipes/{recipe_id}").json().get("state")
    return state


def test_explanation__placed_and_waiting__name_each_other(
    client: httpx.Client, machines: Callable[..., str], submitted: Callable[[str], int]
) -> None:
    fqdn = machines()
    runs = submitted(named(fqdn))
    wait_until(lambda: state_of(client, runs) == "waiting", "it to be placed")
    waits = submitted(named(fqdn))
    wait_until(lambda: state_of(client, waits) == "queued", "it to be queued")

    granted = client.get(f"/recipes/{runs}/explanation").json()
    assert granted["waiting"] is None
    assert granted["granted"]["system"] == fqdn == granted["system"]
    assert [choice["fqdn"] for choice in granted["granted"]["choices"]] == [fqdn]

    answer = client.get(f"/recipes/{waits}/explanation")
    explanation = answer.json()
    assert int(answer.headers["Labledger-Position"]) == explanation["position"]
    (candidate,) = explanation["waiting"]["systems"]
    assert (candidate["fqdn"], candidate["before"]) == (fqdn, 0)
    assert candidate["holder"]["recipe_id"] == runs
    assert candidate["holder"]["since"].startswith("20")
    assert candidate["holder"]["until"] > candidate["holder"]["since"]
    assert candidate["holder"]["until_by"] == "watchdog"
    assert [rule["name"] for rule in explanation["waiting"]["rules"]][-2:] == ["access", "loan"]

    past = client.get(f"/recipes/{waits}/explanation", params={"as_of": explanation["position"]}).json()
    assert past["waiting"] == explanation["waiting"]
    one = client.get(f"/recipes/{waits}/explanation", params={"system": "arm-01.east.example.com"}).json()
    assert [each["verdict"] for each in one["waiting"]["systems"]] == ["never"]


def test_explanation__aborted__is_as_of_the_abort(client: httpx.Client) -> None:
    nowhere, _ = submit_job(client, '<memory op="&gt;" value="99999999"/>')
    wait_until(lambda: state_of(client, nowhere) == "aborted", "it to be given up")
    explanation = client.get(f"/recipes/{nowhere}/explanation").json()
    assert (explanation["state"], explanation["summary"]) == (
        "aborted",
        "no system matches the host requirements",
    )
    left = {rule["name"]: rule["left"] for rule in explanation["waiting"]["rules"]}
    assert left["exclusion"] and not left["requirement"]
    assert (explanation["waiting"]["systems"], explanation["granted"]) == ([], None)


def test_explanation__cancelled_while_it_waited__says_why(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    waits, job_id = submit_job(client, named(machines(condition="Broken")))
    wait_until(lambda: state_of(client, waits) == "queued", "it to be queued")
    assert client.post(f"/jobs/{job_id}/cancel", json={"reason": "not needed"}).is_success
    explanation = client.get(f"/recipes/{waits}/explanation").json()
    assert (explanation["summary"], explanation["waiting"], explanation["granted"]) == (
        "not needed",
        None,
        None,
    )


def test_explanation__unknown_recipe_or_system__404(client: httpx.Client) -> None:
    assert client.get("/recipes/2147483647/explanation").status_code == 404


def test_matches__host_requirement_alone__judges_only_the_filter(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    fqdn = machines(memory_mb=123_456, condition="Broken")
    wanted = {"host_requires_xml": '<hostRequires><memory op="=" value="123456"/></hostRequires>'}
    explanation = client.post("/matches", json=wanted).json()
    by_name = {one["fqdn"]: (one["viable"], one["reasons"]) for one in explanation["systems"]}
    assert by_name[fqdn] == (True, [])
    assert by_name["arm-01.east.example.com"] == (False, ["it does not match the host requirements"])
    assert [fqdn] == [one["fqdn"] for one in explanation["systems"] if one["viable"]]
    as_form = {"host_requires": {"element": "memory", "op": "==", "value": 123456}}
    assert client.post("/matches", json=as_form).json()["systems"] == explanation["systems"]


def test_matches__job__checks_distro_trees_and_access(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    fqdn = machines(arches=["aarch64"])
    recipes = [
        {
            "distro_requires_xml": TREE,
            "host_requires_xml": f"<hostRequires>{host}</hostRequires>",
            "tasks": [{"name": "/t"}],
        }
        for host in ('<arch op="=" value="x86_64"/>', f'<hostname op="=" value="{fqdn}"/>')
    ]
    before = client.get("/jobs").json()["jobs"]
    explanation = client.post("/matches", json={"recipe_sets": [{"recipes": recipes}]}).json()
    assert [one["where"] for one in explanation["recipes"]] == [
        "recipe_sets[0].recipes[0]",
        "recipe_sets[0].recipes[1]",
    ]
    by_name = {one["fqdn"]: one for one in explanation["systems"]}
    assert by_name["x86-03.east.example.com"]["viable"]
    assert by_name["arm-01.east.example.com"]["reasons"][0].startswith("recipe_sets[0].recipes[0]: ")
    # A dry run.
    assert client.get("/jobs").json()["jobs"] == before


def test_matches__more_recipes_and_systems_than_an_answer_can_have__is_refused() -> None:
    require_few(1, 10 * MAX_ENTRIES)
    require_few(20, MAX_ENTRIES // 20)
    require_few(2000, 0)
    with pytest.raises(FaultyInput, match=r"has 21 recipes .* for 10000 systems at most 20 are allowed"):
        require_few(21, 10_000)


def test_matches__faulty__names_place_and_fault(client: httpx.Client) -> None:
    wanted = {"host_requires_xml": '<hostRequires><memry op="=" value="1"/></hostRequires>'}
    answer = client.post("/matches", json=wanted)
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["where"].startswith("host_requires_xml") and "memry" in fault["message"]


def test_explanation__the_process_that_explains_was_killed__another_answers(
    service: Running, client: httpx.Client, machines: Callable[..., str], submitted: Callable[[str], int]
) -> None:
    fqdn = machines()
    runs = submitted(named(fqdn))
    wait_until(lambda: state_of(client, runs) == "waiting", "it to be placed")
    asked = f"/recipes/{runs}/explanation"
    explanation = client.get(asked).json()
    # Those of the present and of the past.
    killed = explainers(service)
    for explainer in killed:
        os.kill(explainer, signal.SIGKILL)
    again = client.get(asked).json()
    assert again["granted"] == explanation["granted"]
    assert set(killed).isdisjoint(explainers(service))


def with_cursor(path: str, change: Callable[[list[Any]], list[Any]]) -> str:
    """Return the path of a page with another key in its cursor."""
    url = httpx.URL(path)
    key = change(json.loads(base64.urlsafe_b64decode(url.params["cursor"])))
    cursor = base64.urlsafe_b64encode(json.dumps(key).encode()).decode()
    return str(url.copy_merge_params({"cursor": cursor}))


def with_moment(path: str, hours: float) -> str:
    def change(key: list[Any]) -> list[Any]:
        moment = datetime.fromisoformat(key[0]) + timedelta(hours=hours)
        return [moment.isoformat(), *key[1:]]

    return with_cursor(path, change)


def test_queue__of_one_system__is_in_the_order_in_which_it_asks(
    client: httpx.Client, machines: Callable[..., str], submitted: Callable[[str], int]
) -> None:
    fqdn = machines()
    runs = submitted(named(fqdn))
    wait_until(lambda: state_of(client, runs) == "waiting", "it to be placed")
    capped = {
        "entries": [{"permission": "submit", "everybody": True, "maximum_effective_priority": "Medium"}]
    }
    assert client.put(f"/systems/{fqdn}/access-policy", json=capped).is_success
    first, second = submitted(named(fqdn)), submitted(named(fqdn))
    wait_until(lambda: state_of(client, second) == "queued", "them to be queued")
    urgent = client.get(f"/recipes/{second}").json()["recipe_set_id"]
    assert client.patch(f"/recipe-sets/{urgent}", json={"priority": "Urgent"}).is_success
    asked = {"system": fqdn, "limit": 1}
    page = client.get("/queue", params=asked).json()
    (explanation,) = page["recipes"]
    assert (explanation["recipe_id"], explanation["priority"], explanation["effective_priority"]) == (
        second,
        "Urgent",
        "Medium",
    )
    following = page["next"]
    (explanation,) = client.get(following).json()["recipes"]
    assert (explanation["recipe_id"], explanation["priority"], explanation["effective_priority"]) == (
        first,
        "Normal",
        "Medium",
    )
    assert 0.9 < explanation["weight"] <= 1
    # The cursor has the moment at which all pages are weighed, here half an hour ago and an hour hence.
    for hours, weight in ((-0.5, 1), (1, 0)):
        (explanation,) = client.get(with_moment(following, hours)).json()["recipes"]
        assert (explanation["recipe_id"], explanation["weight"]) == (first, weight)
    for moment in ("", "soon", "0001-01-01T00:00:00+14:00"):
        answer = client.get(with_cursor(following, lambda key, moment=moment: [moment, *key[1:]]))
        assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "cursor")
    assert client.get("/queue", params={"system": "no.such"}).status_code == 404


def test_explanation__priorities_were_changed__names_user_and_event(
    client: httpx.Client, machines: Callable[..., str], submitted: Callable[[str], int]
) -> None:
    fqdn = machines()
    runs, raised, lowered = (submitted(named(fqdn)) for _ in range(3))
    wait_until(lambda: state_of(client, lowered) == "queued", "all of them to be answered")
    positions = {}
    for recipe_id, priority in ((raised, "High"), (lowered, "Low")):
        path = f"/recipe-sets/{client.get(f'/recipes/{recipe_id}').json()['recipe_set_id']}"
        changed = client.patch(path, json={"priority": priority})
        positions[recipe_id] = int(changed.headers["labledger-position"])
    explanation = client.get(f"/recipes/{lowered}/explanation").json()
    own, (ahead,) = explanation["priority_change"], explanation["waiting"]["systems"][0]["ahead"]
    assert (own["position"], own["was"], own["became"]) == (positions[lowered], "Normal", "Low")
    assert (ahead["recipe_id"], ahead["priority_change"]["position"]) == (raised, positions[raised])
    assert ahead["priority_change"]["actor"] == own["actor"] == "admin"
    assert client.get(f"/recipes/{runs}/explanation").json()["priority_change"] is None
