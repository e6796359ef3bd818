"""Positions, repetitions and races of writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.harness.running import Running
from tests.rest.actions import recipe_for

XML = {"Content-Type": "application/xml"}
# No system is viable: the scheduler aborts the recipe, so the lab stays as it was.
GIVEN_UP = b"""<job><whiteboard>gone at once</whiteboard><recipeSet><recipe>
<distroRequires><distro_name op="=" value="RHEL-9.6"/><distro_arch op="=" value="x86_64"/></distroRequires>
<hostRequires><memory op="&gt;" value="1000000000"/></hostRequires><task name="/x"/>
</recipe></recipeSet></job>"""


def test_submission__accepted__answers_where_it_is_and_when(client: httpx.Client) -> None:
    answer = client.post("/jobs", content=GIVEN_UP, headers=XML)
    assert answer.status_code == 201
    job_id = answer.json()["job_id"]
    assert answer.headers["location"] == f"/jobs/{job_id}"
    position = answer.headers["labledger-position"]
    read = client.get(f"/jobs/{job_id}", params={"min_position": position})
    assert read.status_code == 200
    assert int(read.headers["labledger-position"]) >= int(position)


def test_submission__nobody_could_ever_run_it__aborted_with_the_reason(client: httpx.Client) -> None:
    answer = client.post("/jobs", content=GIVEN_UP, headers=XML).json()
    (recipe_id,) = answer["recipe_ids"]
    recipe = _finished(client, recipe_id)
    assert recipe["state"] == "aborted"
    assert recipe["reason"] == "no system matches the host requirements"


def test_submission__no_distro_tree__aborted_with_the_reason(client: httpx.Client) -> None:
    body = GIVEN_UP.replace(b"RHEL-9.6", b"RHEL-1.0")
    (recipe_id,) = client.post("/jobs", content=body, headers=XML).json()["recipe_ids"]
    assert _finished(client, recipe_id)["reason"] == "no distro tree matches the distro requirements"


def test_idempotency_key__same_again__first_answer_and_nothing_new(
    client: httpx.Client, service: Running
) -> None:
    headers = {**XML, "Idempotency-Key": "same"}
    first = client.post("/jobs", content=GIVEN_UP, headers=headers)
    again = client.post("/jobs", content=GIVEN_UP, headers=headers)
    assert first.json() == again.json()
    assert first.headers["labledger-position"] == again.headers["labledger-position"]
    assert _submissions(service, first.json()["job_id"]) == 1
    other = client.post("/jobs", content=GIVEN_UP + b" ", headers=headers)
    assert other.status_code == 422
    assert other.json()["errors"][0]["where"] == "Idempotency-Key"


def test_idempotency_key__sixteen_at_once__one_job(client: httpx.Client, service: Running) -> None:
    headers = {**XML, "Idempotency-Key": "racing"}

    def post(_: int) -> tuple[int, int]:
        answer = client.post("/jobs", content=GIVEN_UP, headers=headers)
        return answer.status_code, answer.json()["job_id"]

    with ThreadPoolExecutor(16) as pool:
        answers = set(pool.map(post, range(16)))
    assert len(answers) == 1
    ((status, job_id),) = answers
    assert status == 201 and _submissions(service, job_id) == 1


def test_submissions__many_at_once__each_is_one_job_in_ascending_numbers(
    client: httpx.Client, service: Running
) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: client.post("/jobs", content=GIVEN_UP, headers=XML), range(64)))
    assert {answer.status_code for answer in answers} == {201}
    ids = {answer.json()["job_id"] for answer in answers}
    assert len(ids) == 64
    logged = {int(e["subject"].split("/")[1]) for e in service.events() if e["topic"] == "job.submitted"}
    assert ids <= logged


def test_document__put_twice__second_changes_nothing(client: httpx.Client, service: Running) -> None:
    first = client.put("/pools/twice", json={"owner_group": "net-qe"})
    again = client.put("/pools/twice", json={"owner_group": "net-qe"})
    assert (first.status_code, again.status_code) == (200, 200)
    changed = client.put("/pools/twice", json={"owner_group": "kernel-qe"})
    outcomes = [(answer.json()["added"], answer.json()["changed"]) for answer in (first, again, changed)]
    assert outcomes == [(True, False), (False, False), (False, True)]
    position = changed.headers["labledger-position"]
    read = client.get("/pools/twice", params={"min_position": position})
    assert read.json()["owner_group"] == "kernel-qe"
    assert read.headers["etag"] == '"2"'
    topics = [event["topic"] for event in service.events() if event["subject"] == "pool/twice"]
    assert topics == ["pool.registered", "pool.changed"]


def test_pool__put_without_a_description__keeps_it(client: httpx.Client) -> None:
    client.put("/pools/described", json={"description": "Machines with two NICs"})
    put = client.put("/pools/described", json={"owner_group": "net-qe"})
    assert put.json()["description"] == "Machines with two NICs"
    position = put.headers["labledger-position"]
    read = client.get("/pools/described", params={"min_position": position}).json()
    assert (read["owner_group"], read["description"]) == ("net-qe", "Machines with two NICs")
    assert client.put("/pools/described", json={"description": ""}).json()["description"] == ""


def test_system__registered_twice__second_is_409(client: httpx.Client) -> None:
    system = {
        "fqdn": "spare.east.example.com",
        "lab_controller": "lab.east.example.com",
        "owner": "alice",
        "condition": "Manual",
        "pools": ["small"],
    }
    assert client.post("/systems", json=system).status_code == 201
    assert client.post("/systems", json=system).status_code == 409


def test_pool__many_systems_added_at_once__all_are_in_it(client: httpx.Client) -> None:
    """Each addition depends on the version of the pool, so all but one of the concurrent ones retry."""
    assert client.put("/pools/crowded", json={}).status_code == 200
    names = [
        f"x86-0{number}.{side}.example.com"
        for number, side in ((1, "east"), (2, "west"), (3, "east"), (4, "west"))
    ]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda name: client.put(f"/pools/crowded/systems/{name}"), names))
    assert {answer.status_code for answer in answers} == {200}
    last = max(int(answer.headers["labledger-position"]) for answer in answers)
    systems = client.get("/systems", params={"min_position": last, "limit": 1000}).json()["systems"]
    assert {system["fqdn"] for system in systems if "crowded" in system["pools"]} == set(names)
    _require_refused(client.delete("/pools/crowded"), "pool crowded has 4 systems (x86-01.east.example.com, ")
    gone = client.delete("/pools/crowded", params={"force": True}).json()
    assert gone["removed"] is True
    systems = client.get("/systems", params={"min_position": gone["position"], "limit": 1000}).json()[
        "systems"
    ]
    assert not any("crowded" in system["pools"] for system in systems)


def test_user_and_pool__in_use__are_removed_with_force_only(client: httpx.Client, machine: str) -> None:
    client.put("/users/busy", json={}).raise_for_status()
    client.put("/pools/in-use", json={}).raise_for_status()
    client.put("/groups/of-busy", json={"members": ["busy"], "owners": ["busy"]}).raise_for_status()
    client.put(f"/systems/{machine}/loan", json={"user": "busy"}).raise_for_status()
    named = [{"element": "pool", "value": "in-use"}, {"element": "hostname", "value": machine}]
    recipe = recipe_for(machine, host_requires={"or": named})
    token = client.post("/tokens", json={"user": "busy", "role": "submitter"}).json()["token"]
    body = {"recipe_sets": [{"recipes": [recipe]}]}
    job = client.post("/jobs", json=body, headers={"Authorization": f"Bearer {token}"}).json()
    refused = client.delete("/users/busy")
    of_user = f"user busy has 1 unfinished job ({job['job_id']}), 1 loan ({machine}), 1 group (of-busy);"
    _require_refused(refused, of_user)
    _require_refused(client.delete("/pools/in-use"), f"pool in-use has 1 unfinished job ({job['job_id']});")
    client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "seen"}).raise_for_status()
    gone = client.delete("/users/busy", params={"force": True}).json()
    assert gone["removed"] is True
    shown = client.get(f"/systems/{machine}", params={"min_position": gone["position"]}).json()
    assert shown["loaned_to"] is None
    # A later user of the name is another one.
    client.put("/users/busy", json={}).raise_for_status()
    token = client.post("/tokens", json={"user": "busy", "role": "submitter"}).json()["token"]
    of_later = {"Authorization": f"Bearer {token}"}
    path, why = f"/jobs/{job['job_id']}", {"reason": "mine"}
    detail = client.post(f"{path}/cancel", json=why, headers=of_later).json()["detail"]
    assert f"{job['job_id']} belongs to an earlier user busy, removed on 20" in detail
    assert client.get(path, params={"as_of": job["position"]}).json()["owner_removed_at"] is None
    removed_at = client.get(path, params={"min_position": gone["position"]}).json()["owner_removed_at"]
    assert removed_at is not None
    assert client.delete("/users/busy").json()["removed"] is True
    assert client.delete("/pools/in-use").json()["removed"] is True
    client.delete("/groups/of-busy").raise_for_status()


def _require_refused(answer: httpx.Response, words: str) -> None:
    detail = answer.json()["detail"]
    assert answer.status_code == 409 and detail.startswith(words), detail
    assert detail.endswith("or use force")


def _finished(client: httpx.Client, recipe_id: int) -> dict[str, object]:
    for _ in range(200):
        answer = client.get(f"/recipes/{recipe_id}", params={"min_position": 1})
        if answer.status_code == 200 and answer.json()["state"] in ("aborted", "completed"):
            found: dict[str, object] = answer.json()
            return found
    raise AssertionError(f"recipe {recipe_id} did not finish")


def _submissions(service: Running, job_id: int) -> int:
    return sum(event["subject"] == f"job/{job_id}" for event in service.events())
