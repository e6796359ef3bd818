"""The states of the partition: start, drain and stop."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import People, by_people, recipe_for

PATH = "/partitions/default"
SUBJECT = "partition/default"
CHANGED = (SUBJECT, "partition.state-changed")


@pytest.fixture(autouse=True)
def _started(client: httpx.Client) -> Iterator[None]:
    yield
    client.post(f"{PATH}/start").raise_for_status()


def test_partition__before_any_event__is_active(client: httpx.Client) -> None:
    labs = [lab["fqdn"] for lab in client.get("/lab-controllers").json()["lab_controllers"]]
    shown = {"name": "default", "state": "active", "lab_controllers": labs}
    # Tests of all paths may have created others before.
    assert client.get("/partitions").json()["partitions"][0] == shown
    assert client.get(PATH).json()["state"] == "active"


@pytest.mark.parametrize("path", ["", "/start", "/drain", "/stop"])
def test_partition__of_another_name__is_unknown(client: httpx.Client, path: str) -> None:
    answer = client.request("POST" if path else "GET", f"/partitions/other{path}")
    assert (answer.status_code, answer.json()["title"]) == (404, "Partition other not found")


def test_move__to_each_state__is_shown_as_of_then_and_the_same_again_makes_no_event(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()
    drained = client.post(f"{PATH}/drain")
    assert (drained.status_code, drained.json()["state"], drained.json()["changed"]) == (
        200,
        "draining",
        True,
    )
    again = client.post(f"{PATH}/drain")
    assert (again.status_code, again.json()["changed"]) == (200, False)
    refused = client.post(f"{PATH}/stop")
    assert refused.status_code == 409
    assert "is draining; only one that is active can stop" in refused.json()["detail"]
    for move in ("start", "stop", "start"):
        client.post(f"{PATH}/{move}").raise_for_status()
    assert by_people(service, before) == [CHANGED] * 4
    shown = client.get(PATH, params={"as_of": drained.json()["position"]}).json()
    assert shown["state"] == "draining"
    assert client.get(PATH, params={"as_of": before}).json()["state"] == "active"


def test_move__of_a_submitter__is_refused(people: People, service: Running) -> None:
    before = service.end()
    assert people["alice"].post(f"{PATH}/stop").status_code == 403
    assert by_people(service, before) == []


def test_move__if_match_of_another_version__is_stale(client: httpx.Client) -> None:
    answer = client.post(f"{PATH}/stop", headers={"If-Match": '"100000"'})
    assert answer.status_code == 412


@pytest.mark.parametrize(("move", "state"), [("drain", "draining"), ("stop", "stopped")])
def test_submission__partition_takes_no_jobs__is_refused_and_nothing_is_stored(
    client: httpx.Client, service: Running, move: str, state: str
) -> None:
    client.post(f"{PATH}/{move}").raise_for_status()
    before = service.end()
    document = {"recipe_sets": [{"recipes": [recipe_for("machine-01.east.example.com")]}]}
    answer = client.post("/jobs", json=document)
    assert answer.status_code == 409, answer.text
    assert answer.json()["detail"] == (
        f"the partition default is {state} and takes no new jobs; what it has goes on"
    )
    assert by_people(service, before) == []
