"""Explanations, orders and matches in a service of two partitions: each is asked about its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness.pool import ServerPool
from tests.harness.running import SAMPLES, Running, running
from tests.harness.watching import worker_of
from tests.rest.actions import WEST, after, cancel_set, finish, in_state, recipe_for, start

GPU = "gpu"
EAST_SYSTEM, WEST_SYSTEM, SECOND_WEST_SYSTEM = (
    "x86-01.east.example.com",
    "x86-02.west.example.com",
    "x86-04.west.example.com",
)
X = {"network": {"Exclusive": ["x"]}}
EITHER = {"or": [{"element": "hostname", "value": fqdn} for fqdn in (EAST_SYSTEM, WEST_SYSTEM)]}

Submit = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def two(servers: ServerPool) -> Iterator[Running]:
    """Run a service with the sample lab. Its western lab is in the partition gpu."""
    with servers.databases("embedded").fresh() as database, running(database) as service:
        service.do("lab", "load", str(SAMPLES / "lab.json"))
        service.make_contact()
        with service.client() as admin:
            admin.put(f"/partitions/{GPU}").raise_for_status()
            name_labs(admin, WEST)
        yield service


def name_labs(client: httpx.Client, *labs: str) -> None:
    answer = client.put(f"/partitions/{GPU}/configuration", json={"lab_controllers": list(labs)})
    assert answer.status_code == 200, answer.text


@pytest.fixture
def client(two: Running) -> Iterator[httpx.Client]:
    with two.client() as admin:
        yield admin


@pytest.fixture
def submitted(client: httpx.Client) -> Iterator[Submit]:
    """Yield a function that submits a set to a partition and waits for its state; cancel the sets later."""
    sets: list[dict[str, Any]] = []

    def submit_to(partition: str, fqdn: str, state: str, priority: str = "Normal", **recipe: Any) -> Any:
        recipe_set = {"priority": priority, "recipes": [recipe_for(fqdn, **recipe)]}
        answer = client.post("/jobs", json={"partition": partition, "recipe_sets": [recipe_set]})
        assert answer.status_code == 201, answer.text
        found = answer.json()
        found |= {"recipe_set_id": found["recipe_set_ids"][0], "recipe_id": found["recipe_ids"][0]}
        sets.append(found)
        in_state(client, found["recipe_id"], state)
        return found

    yield submit_to
    for each in sets:
        cancel_set(client, each)


def explainers(service: Running) -> set[bytes]:
    """Return the names of the partitions that child processes of the API worker explain."""
    tasks = Path(f"/proc/{worker_of(service).pid}/task").glob("*/children")
    children = [pid for task in tasks for pid in task.read_text().split()]
    commands = [Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") for pid in children]
    return {command[-3] for command in commands if b"workers.explaining.child" in command}


def test_explanation__of_the_second_partition__is_that_of_its_own_process(
    two: Running, client: httpx.Client, submitted: Submit
) -> None:
    runs = submitted(GPU, WEST_SYSTEM, "waiting")
    waits = submitted(GPU, WEST_SYSTEM, "queued")
    submitted("default", EAST_SYSTEM, "waiting")
    elsewhere = submitted("default", EAST_SYSTEM, "queued", "Urgent", host_requires=EITHER)
    granted = client.get(f"/recipes/{runs['recipe_id']}/explanation").json()
    assert granted["granted"]["system"] == WEST_SYSTEM
    waiting = client.get(f"/recipes/{waits['recipe_id']}/explanation").json()["waiting"]
    west = client.get("/systems", params={"lab_controller": WEST}).json()["systems"]
    assert waiting["counted"]["known"] == len(west)
    (candidate,) = waiting["systems"]
    assert (candidate["fqdn"], candidate["before"]) == (WEST_SYSTEM, 0)
    assert candidate["holder"]["recipe_id"] == runs["recipe_id"]
    assert explainers(two) == {b"gpu"}

    there = client.get(f"/recipes/{elsewhere['recipe_id']}/explanation").json()["waiting"]
    systems = client.get("/systems").json()["systems"]
    assert there["counted"]["known"] == len(systems) - len(west)
    assert [each["fqdn"] for each in there["systems"]] == [EAST_SYSTEM]
    assert explainers(two) == {b"gpu", b"default"}


@pytest.mark.parametrize("partition", ["default", GPU])
def test_explanation__with_a_system_of_the_other_partition__says_so(
    client: httpx.Client, submitted: Submit, partition: str
) -> None:
    own, other = (EAST_SYSTEM, WEST_SYSTEM) if partition == "default" else (WEST_SYSTEM, EAST_SYSTEM)
    placed = submitted(partition, own, "waiting")
    waits = submitted(partition, own, "queued")
    path = f"/recipes/{waits['recipe_id']}/explanation"
    assert client.get(path, params={"system": own}).status_code == 200
    answer = client.get(path, params={"system": other})
    assert answer.status_code == 422
    assert f"but the recipe is in partition {partition}" in answer.text
    assert client.get(f"/recipes/{placed['recipe_id']}/explanation").json()["granted"]["system"] == own


def test_queue__of_one_system__has_the_recipes_of_its_partition_only(
    client: httpx.Client, submitted: Submit
) -> None:
    for partition, fqdn in (("default", EAST_SYSTEM), (GPU, WEST_SYSTEM)):
        submitted(partition, fqdn, "waiting")
    here = submitted("default", EAST_SYSTEM, "queued", "Urgent", host_requires=EITHER)
    there = submitted(GPU, WEST_SYSTEM, "queued", "Low", host_requires=EITHER)
    for fqdn, waits in ((EAST_SYSTEM, here), (WEST_SYSTEM, there)):
        page = client.get("/queue", params={"system": fqdn}).json()
        assert [row["recipe_id"] for row in page["recipes"]] == [waits["recipe_id"]]


def test_queue__page_of_two_partitions__each_row_has_the_weight_and_rules_of_its_own(
    client: httpx.Client, submitted: Submit
) -> None:
    sections = {"lab_controllers": [WEST], "weights": {"base": 3.0}}
    client.put(f"/partitions/{GPU}/configuration", json=sections).raise_for_status()
    for partition, fqdn in (("default", EAST_SYSTEM), (GPU, WEST_SYSTEM)):
        submitted(partition, fqdn, "waiting", locks=X)
    there = submitted(GPU, WEST_SYSTEM, "queued", locks=X)
    here = submitted("default", EAST_SYSTEM, "queued", locks=X)
    rule = {"action": "PAUSE", "priority": 1, "reason": "maintenance"}
    put = client.put("/filters/closed", params={"partition": GPU}, json=rule)
    try:
        rows = client.get("/queue", params=after(put)).json()["recipes"]
        by_id = {row["recipe_id"]: row for row in rows}
        held = {number: by_id[number]["held_back"] for number in (here["recipe_id"], there["recipe_id"])}
        assert not held[here["recipe_id"]]
        assert [each["row"] for each in held[there["recipe_id"]]] == ["job-filter"]
        weights = [by_id[each["recipe_id"]]["weight"] for each in (here, there)]
        assert None not in weights and weights[1] > weights[0]
        one = client.get(f"/recipe-sets/{there['recipe_set_id']}").json()
        assert one["weight"] is not None
        assert one["job_filter"] == {"name": "closed", "action": "PAUSE"}
        assert client.get(f"/recipe-sets/{here['recipe_set_id']}").json()["job_filter"] is None
    finally:
        client.delete("/filters/closed", params={"partition": GPU}).raise_for_status()
        name_labs(client, WEST)


def test_locks__sets_that_wait_in_both_partitions__each_has_what_is_in_its_way(
    client: httpx.Client, submitted: Submit
) -> None:
    here = submitted("default", EAST_SYSTEM, "waiting", locks=X)
    there = submitted(GPU, WEST_SYSTEM, "waiting", locks=X)
    waits = submitted(GPU, SECOND_WEST_SYSTEM, "waiting", locks=X)
    rows = client.get("/locks").json()["locks"]
    blockers = {row["recipe_id"]: row["waits_for"] for row in rows if row["state"] == "awaited"}
    assert blockers == {waits["recipe_id"]: [there["recipe_set_id"]]}
    explained = client.get(f"/recipes/{waits['recipe_id']}/explanation").json()["locking"]
    assert [each["recipe_set_id"] for each in explained["waits_for"]] == [there["recipe_set_id"]]
    assert here["recipe_set_id"] != there["recipe_set_id"]


def test_dry_run__of_a_rule__counts_the_sets_of_its_partition(
    client: httpx.Client, submitted: Submit
) -> None:
    submitted(GPU, WEST_SYSTEM, "waiting")
    waits = submitted(GPU, WEST_SYSTEM, "queued")
    rule = {"action": "PAUSE", "priority": 1, "reason": "maintenance"}
    for partition, expected in (("default", []), (GPU, [waits["recipe_set_id"]])):
        params = {"partition": partition, "dry_run": "true"}
        effects = client.put("/filters/trial", params=params, json=rule).json()["effects"]
        held_back = [each for each in effects["recipe_sets"] if each["after"] is not None]
        assert [each["recipe_set_id"] for each in held_back] == expected
    limited = {"lab_controllers": [WEST], "limits": {"placed_recipes": 1}}
    path = f"/partitions/{GPU}/configuration"
    effects = client.put(path, params={"dry_run": "true"}, json=limited).json()["effects"]
    assert effects["held_back"] == 1


def matches(client: httpx.Client) -> dict[str, list[str] | None]:
    """Return the reasons against each system for a recipe that any x86_64 machine can run."""
    recipe = {**recipe_for("x"), "host_requires": {"element": "arch", "value": "x86_64"}}
    answer = client.post("/matches", json={"recipe_sets": [{"recipes": [recipe]}]})
    assert answer.status_code == 200, answer.text
    systems = answer.json()["systems"]
    assert [each["fqdn"] for each in systems] == sorted(each["fqdn"] for each in systems)
    return {each["fqdn"]: None if each["viable"] else each["reasons"] for each in systems}


def test_matches__of_a_job__are_over_the_systems_of_all_partitions(client: httpx.Client) -> None:
    found = matches(client)
    assert found.keys() == {each["fqdn"] for each in client.get("/systems").json()["systems"]}
    assert found[EAST_SYSTEM] is None and found[WEST_SYSTEM] is None
    assert found["arm-01.east.example.com"]


def test_system__lab_is_in_no_partition__answers_say_so(client: httpx.Client, submitted: Submit) -> None:
    submitted("default", EAST_SYSTEM, "waiting")
    waits = submitted("default", EAST_SYSTEM, "queued")
    before = int(client.get("/queue").headers["Labledger-Position"])
    name_labs(client)
    try:
        found = matches(client)
        assert found[WEST_SYSTEM] == ["the lab of this system is in no partition"]
        assert found[EAST_SYSTEM] is None
        explanation = f"/recipes/{waits['recipe_id']}/explanation"
        for path in ("/queue", explanation):
            answer = client.get(path, params={"system": WEST_SYSTEM})
            assert answer.status_code == 422
            assert "no partition" in answer.text
        past = client.get("/queue", params={"system": WEST_SYSTEM, "as_of": before})
        assert (past.status_code, past.json()["recipes"]) == (200, [])
    finally:
        name_labs(client, WEST)


def test_verify__log_of_all_these_tests__is_sound(
    two: Running, client: httpx.Client, submitted: Submit
) -> None:
    for partition, fqdn in (("default", EAST_SYSTEM), (GPU, WEST_SYSTEM)):
        placed = submitted(partition, fqdn, "waiting")
        assert finish(client, placed["recipe_id"], start(client, placed["recipe_id"])).is_success
    text = two.labledger("replay", "verify")
    assert "  partition gpu (2): " in text


def test_reasons__of_both_partitions__name_the_position_of_each(
    client: httpx.Client, submitted: Submit
) -> None:
    for partition, fqdn in (("default", EAST_SYSTEM), (GPU, WEST_SYSTEM)):
        submitted(partition, fqdn, "waiting")
    here = submitted("default", EAST_SYSTEM, "queued", "Urgent")
    there = submitted(GPU, WEST_SYSTEM, "queued", "Low")
    since = client.get(f"/recipes/{there['recipe_id']}").json()["position"]
    body = client.get("/queue/reasons", params={"min_position": since}).json()
    assert [each["name"] for each in body["partitions"]] == ["default", GPU]
    assert body["position"] == min(each["position"] for each in body["partitions"]) >= since
    found = [(row["code"], row["by_priority"], row["recipes"]) for row in body["reasons"]]
    assert found == [("no-idle-system", {"Urgent": 1, "Low": 1}, 2)]
    one = client.get("/queue/reasons", params={"min_position": since, "partition": GPU}).json()
    assert [row["by_priority"] for row in one["reasons"]] == [{"Low": 1}]
    page = client.get("/queue", params={"reasons": True, "min_position": since}).json()
    codes = {row["recipe_id"]: row["reason"]["code"] for row in page["recipes"]}
    assert codes == dict.fromkeys((here["recipe_id"], there["recipe_id"]), "no-idle-system")


def test_matches__job_of_a_partition_whose_systems_cannot_run_it__says_why_never(
    client: httpx.Client,
) -> None:
    for partition, fqdn, possible in (
        ("default", EAST_SYSTEM, True),
        ("default", WEST_SYSTEM, False),
        (GPU, WEST_SYSTEM, True),
        (GPU, EAST_SYSTEM, False),
    ):
        job = {"partition": partition, "recipe_sets": [{"recipes": [recipe_for(fqdn)]}]}
        (found,) = client.post("/matches", json=job).json()["recipes"]
        # A viable system of another partition does not help.
        assert [each["fqdn"] for each in found["systems"] if each["viable"]] == [fqdn]
        assert (found["why_never"] is None) is possible, (partition, fqdn, found["why_never"])
