"""The life of a second partition in a running service: its labs, its jobs and its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.harness.waiting import wait_until
from tests.rest.actions import recipe_for

EAST, WEST = "lab.east.example.com", "lab.west.example.com"
ARM = "arm-01.west.example.com"
GPU = "/partitions/gpu"
OWN = 'xmlns:l="urn:labledger:job"'


@pytest.fixture(scope="module")
def service(servers: ServerPool) -> Iterator[Running]:
    with servers.databases("embedded").fresh() as database, running(database) as started:
        started.do("lab", "load", str(SAMPLES / "lab.json"))
        started.make_contact()
        yield started


@pytest.fixture
def client(service: Running) -> Iterator[httpx.Client]:
    """Yield a client of a service with the partition gpu, which has no lab; afterwards `default` has all."""
    with service.client() as admin:
        admin.put(GPU, json={}).raise_for_status()
        yield admin
        if admin.get(GPU, params={"min_position": service.end()}).status_code == 200:
            configured(admin, "gpu").raise_for_status()
        configured(admin, "default", WEST).raise_for_status()
        configured(admin, "default").raise_for_status()


def configured(client: httpx.Client, name: str, *labs: str) -> httpx.Response:
    return client.put(f"/partitions/{name}/configuration", json={"lab_controllers": list(labs)})


def submitted(client: httpx.Client, fqdn: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/jobs", json={"recipe_sets": [{"recipes": [recipe_for(fqdn)]}], **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def recipe_of(client: httpx.Client, job: dict[str, Any], state: str) -> dict[str, Any]:
    """Return the recipe of a job once it has a state."""

    def found() -> dict[str, Any] | None:
        recipe: dict[str, Any] = client.get(f"/recipes/{job['recipe_ids'][0]}").json()
        return recipe if recipe.get("state") == state else None

    return wait_until(found, f"the recipe to be {state}")


def machine_in(client: httpx.Client, lab: str) -> str:
    systems = client.get("/systems", params={"lab_controller": lab, "condition": "Automated"}).json()[
        "systems"
    ]
    found: str = next(each["fqdn"] for each in systems if each["fqdn"].startswith("x86"))
    return found


def test_partition__with_a_lab__grants_its_systems_to_its_jobs(
    client: httpx.Client, service: Running
) -> None:
    assert configured(client, "gpu", WEST).status_code == 200
    west, east = machine_in(client, WEST), machine_in(client, EAST)
    # The first names its partition, the second is put where a lab could serve it.
    jobs = [submitted(client, west, partition="gpu"), submitted(client, west), submitted(client, east)]
    recipes = [recipe_of(client, jobs[0], "waiting"), recipe_of(client, jobs[2], "waiting")]
    assert [(each["partition"], each["system"]) for each in recipes] == [("gpu", west), ("default", east)]
    assert client.get(f"/jobs/{jobs[1]['job_id']}").json()["partition"] == "gpu"
    waits = client.get(f"/recipes/{jobs[1]['recipe_ids'][0]}/explanation").json()
    assert [one["fqdn"] for one in waits["waiting"]["systems"]] == [west]
    # A stopped partition does not hold up the other.
    client.post(f"{GPU}/stop").raise_for_status()
    for job in (jobs[0], jobs[2]):
        client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "seen"}).raise_for_status()
    again = submitted(client, east)
    recipe_of(client, again, "waiting")
    assert client.get(f"/recipes/{jobs[1]['recipe_ids'][0]}").json()["state"] == "queued"
    client.post(f"{GPU}/start").raise_for_status()
    recipe_of(client, jobs[1], "waiting")
    for job in (jobs[1], again):
        client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "seen"}).raise_for_status()
    service.do("replay", "verify")


@pytest.mark.parametrize("form", ["json", "xml"])
def test_job__names_its_partition_in_any_form__is_there(client: httpx.Client, form: str) -> None:
    configured(client, "gpu", WEST).raise_for_status()
    body = (SAMPLES / "kernel-smoke.xml").read_text()
    if form == "json":
        job = submitted(client, ARM, partition="gpu")
    else:
        named = body.replace("<job", f"<job {OWN}", 1)
        start = named.index(">", named.index("<job")) + 1
        named = f"{named[:start]}<l:partition>gpu</l:partition>{named[start:]}"
        answer = client.post("/jobs", content=named, headers={"Content-Type": "application/xml"})
        assert answer.status_code == 201, answer.text
        job = answer.json()
    shown = client.get(f"/jobs/{job['job_id']}", params={"min_position": job["position"]}).json()
    assert (shown["partition"], shown["document"]["partition"]) == ("gpu", "gpu")
    client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "seen"}).raise_for_status()


def test_job__names_an_unknown_partition__is_refused_with_the_names(client: httpx.Client) -> None:
    document = {"recipe_sets": [{"recipes": [recipe_for(ARM)]}], "partition": "gup"}
    answer = client.post("/jobs", json=document)
    (error,) = answer.json()["errors"]
    assert answer.status_code == 422
    assert error["message"] == 'there is no partition "gup"; the partitions are default, gpu'


def test_configuration__with_several_faults_of_labs__all_at_once(client: httpx.Client) -> None:
    configured(client, "gpu", WEST).raise_for_status()
    answer = configured(client, "default", "lab.none", WEST, EAST, EAST)
    assert answer.status_code == 422
    assert {(error["where"], error["message"]) for error in answer.json()["errors"]} == {
        ("lab_controllers[0]", 'there is no lab controller "lab.none"'),
        ("lab_controllers[1]", f"{WEST} is in partition gpu; drop it there first"),
        ("lab_controllers[3]", f"{EAST} occurs twice"),
    }


def test_lab__in_use__moves_once_it_is_disabled_and_its_systems_are_free(client: httpx.Client) -> None:
    def enable(is_enabled: bool) -> None:
        client.patch(f"/lab-controllers/{WEST}", json={"enabled": is_enabled}).raise_for_status()

    configured(client, "gpu", WEST).raise_for_status()
    west = machine_in(client, WEST)
    placed, waits = submitted(client, west, partition="gpu"), submitted(client, west, partition="gpu")
    recipe = recipe_of(client, placed, "waiting")["recipe_id"]
    enable(False)
    refused = configured(client, "gpu")
    assert refused.status_code == 409
    in_use = f"lab controller {WEST} cannot change its partition: in use are {west} (recipe {recipe})"
    advice = "wait until its systems are free, or cancel the jobs and return the reservations"
    assert refused.json()["detail"] == f"{in_use}; {advice}, then repeat the change"
    client.post(f"/jobs/{placed['job_id']}/cancel", json={"reason": "moved"}).raise_for_status()
    configured(client, "gpu").raise_for_status()
    configured(client, "default", WEST).raise_for_status()
    there = submitted(client, west, partition="default")
    recipe_of(client, there, "queued")
    enable(True)
    recipe_of(client, there, "waiting")
    # The recipe that waited stays in the old partition, which has no labs now.
    left = client.get(f"/recipes/{waits['recipe_ids'][0]}").json()
    assert (left["state"], left["partition"]) == ("queued", "gpu")
    refused = client.post(
        "/jobs", json={"recipe_sets": [{"recipes": [recipe_for(west)]}], "partition": "gpu"}
    )
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["where"].startswith("line 1, ") and error["where"].endswith(": partition")
    assert error["message"] == "gpu has no labs, so no job can run there"
    for job in (waits, there):
        client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "seen"}).raise_for_status()


@pytest.mark.parametrize("state", ["stop", "drain"])
def test_removal__of_a_partition_with_open_jobs__closes_them(
    client: httpx.Client, service: Running, state: str
) -> None:
    configured(client, "gpu", WEST).raise_for_status()
    opened = client.post("/jobs", json={"recipe_sets": [], "open": True, "partition": "gpu"}).json()
    other = client.post("/jobs", json={"recipe_sets": [], "open": True}).json()
    client.post(f"{GPU}/{state}").raise_for_status()
    removed = client.delete(GPU)
    assert removed.status_code == 200, removed.text
    after = {"min_position": removed.json()["position"]}
    shown = [client.get(f"/jobs/{job['job_id']}", params=after).json()["open"] for job in (opened, other)]
    assert shown == [False, True]
    subject = f"job/{opened['job_id']}"
    (closed,) = [
        event for event in service.events(0) if (event["subject"], event["topic"]) == (subject, "job.closed")
    ]
    assert closed["data"]["reason"] == "partition gpu is removed"
    client.post(f"/jobs/{other['job_id']}/close").raise_for_status()
    service.do("replay", "verify")


@pytest.mark.parametrize("state", ["stop", "drain"])
def test_removal__of_a_partition_with_work__only_by_force(
    client: httpx.Client, service: Running, state: str
) -> None:
    configured(client, "gpu", WEST).raise_for_status()
    west = machine_in(client, WEST)
    placed = submitted(client, west, partition="gpu")
    recipe_of(client, placed, "waiting")
    waits = submitted(client, west, partition="gpu")
    refused = client.delete(GPU)
    assert refused.status_code == 409 and "is active; drain or stop it" in refused.json()["detail"]
    assert refused.json()["title"] == "Cannot remove a partition"
    client.post(f"{GPU}/{state}").raise_for_status()
    refused = client.delete(GPU)
    assert refused.status_code == 409
    detail = refused.json()["detail"]
    assert "has 2 unfinished recipe sets" in detail and "partition remove --force" in detail
    before = configured(client, "gpu")
    assert before.status_code == 409 and west in before.json()["detail"]
    removed = client.delete(GPU, params={"force": "true", "reason": "it moves"})
    assert removed.status_code == 200, removed.text
    assert {**removed.json(), "position": 0} == {
        "position": 0,
        "name": "gpu",
        "removed": True,
        "aborted_recipe_sets": 2,
        "lab_controllers": [WEST],
    }
    for job in (placed, waits):
        recipe = client.get(
            f"/recipes/{job['recipe_ids'][0]}", params={"min_position": removed.json()["position"]}
        ).json()
        assert (recipe["state"], recipe["partition"]) == ("aborted", "gpu")
        assert recipe["reason"] == "partition gpu is removed: it moves"
    assert client.get(GPU, params={"min_position": removed.json()["position"]}).status_code == 404
    assert client.delete(GPU).status_code == 404
    # Its lab is free for another partition, in which the system that was pending is decided about.
    configured(client, "default", WEST).raise_for_status()
    last = submitted(client, west)
    recipe_of(client, last, "waiting")
    client.post(f"/jobs/{last['job_id']}/cancel", json={"reason": "seen"}).raise_for_status()
    client.put(GPU, json={}).raise_for_status()
    numbers = [
        event["data"]["number"] for event in service.events(0) if event["topic"] == "partition.created"
    ]
    assert len(set(numbers)) == len(numbers) > 1
    service.do("replay", "verify")


def test_removal__of_default_or_an_unknown_one__is_refused(client: httpx.Client) -> None:
    assert client.delete("/partitions/default", params={"force": "true"}).status_code == 409
    assert client.delete("/partitions/none").status_code == 404
