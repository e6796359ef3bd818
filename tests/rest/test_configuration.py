"""GET and PUT of the configuration of the partition, and its operation table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from api.rest.contract.inputs.partitions import Configuration as Described
from domain.admission.configuration import Configuration, configuration_to_json, stored_configuration
from tests.harness.running import Running
from tests.rest.actions import People, after, by_people, cancel_set, happened, in_state, recipe_for, submit

PATH = "/partitions/default/configuration"
OPERATIONS = "/partitions/default/operations"
SUBJECT = "partition/default"
DEFAULTS = configuration_to_json(Configuration())
MOVE = {"operation": "move", "tasks": ["/lab/move"], "locks": {"network": {"Exclusive": ["{NET}"]}}}
STRICT = {
    "order": {"assigned_first": "always"},
    "weights": {"values": {"maybe": 1.25}},
    "preemption": {"enabled": True, "after_seconds": 600},
    "operations": [MOVE],
}


@pytest.fixture(autouse=True)
def _restored(client: httpx.Client) -> Iterator[None]:
    yield
    client.put(PATH, json={}).raise_for_status()


def content(document: dict[str, Any]) -> dict[str, Any]:
    return {section: document[section] for section in DEFAULTS}


def test_description__of_the_body__has_the_defaults_of_the_domain() -> None:
    described = Described().model_dump(by_alias=True)
    assert configuration_to_json(stored_configuration(described)) == DEFAULTS
    # Only the queues and the rules have fields with null for nothing.
    assert {name: described[name] for name in DEFAULTS if name not in ("queues", "placement")} == {
        name: value for name, value in DEFAULTS.items() if name not in ("queues", "placement")
    }


def test_configuration__put__is_in_force_as_of_then_and_equal_content_makes_no_event(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()
    dry = client.put(PATH, json=STRICT, params={"dry_run": "true"})
    done = client.put(PATH, json=STRICT)
    # Every section that STRICT changes, with its former value.
    assert dry.json()["replaced"] == done.json()["replaced"] == {name: DEFAULTS[name] for name in STRICT}
    assert (done.status_code, done.json()["changed"], done.json()["dry_run"]) == (200, True, False)
    shown = client.get(PATH, params=after(done))
    assert shown.json()["order"] == {"assigned_first": "always", "most_overtaken": 8}
    assert shown.json()["weights"]["values"] == {**DEFAULTS["weights"]["values"], "maybe": 1.25}
    assert shown.json()["preemption"] == {**DEFAULTS["preemption"], **STRICT["preemption"]}
    assert content(shown.json()) == content(done.json())
    # What was shown, with all its fields, is equal content.
    same = client.put(PATH, json=content(shown.json()), headers={"If-Match": shown.headers["etag"]})
    assert (same.status_code, same.json()["changed"], same.json()["replaced"]) == (200, False, {})
    assert by_people(service, before) == [(SUBJECT, "partition.configured")]
    assert content(client.get(PATH, params={"as_of": before}).json()) == DEFAULTS


def test_configuration__put__the_log_has_its_author_and_the_whole_content(client: httpx.Client) -> None:
    done = client.put(PATH, json=STRICT)
    asked = {"subject": SUBJECT, "after": done.json()["position"] - 1}
    (event,) = client.get("/events", params=asked).json()["events"]
    assert (event["topic"], event["actor"]) == ("partition.configured", "admin")
    assert event["data"]["configuration"] == content(done.json())


def test_if_match__of_another_version__is_stale_and_nothing_is_stored(
    client: httpx.Client, service: Running
) -> None:
    shown = client.get(PATH, params=after(client.put(PATH, json=STRICT)))
    old = {"If-Match": shown.headers["etag"]}
    client.put(PATH, json={"limits": {"placed_recipes": 5}}).raise_for_status()
    before = service.end()
    for dry_run in ("true", "false"):
        answer = client.put(PATH, json={}, headers=old, params={"dry_run": dry_run})
        assert (answer.status_code, answer.json()["title"]) == (412, "Version mismatch")
    # Job filters count together with the configuration.
    now = {"If-Match": client.get(PATH, params={"min_position": before}).headers["etag"]}
    client.put("/filters/between", json={"action": "CONTINUE"}).raise_for_status()
    client.delete("/filters/between").raise_for_status()
    assert client.put(PATH, json={}, headers=now).status_code == 412
    assert [topic for _, topic in happened(service, before, SUBJECT)] == [
        "partition.job-filter-put",
        "partition.job-filter-removed",
    ]


def test_dry_run__of_a_lower_maximum__says_which_sets_it_would_hold_back(
    client: httpx.Client, machine: str
) -> None:
    running = submit(client, recipe_for(machine))
    in_state(client, running["recipe_ids"][0], "waiting")
    waiting = submit(client, recipe_for(machine))
    in_state(client, waiting["recipe_ids"][0], "queued")
    body = {"limits": {"placed_recipes": 1}}
    effects = client.put(PATH, json=body, params={"dry_run": "true"}).json()["effects"]
    held_back = [row["recipe_set_id"] for row in effects["recipe_sets"]]
    assert waiting["recipe_set_id"] in held_back and running["recipe_set_id"] not in held_back
    assert (effects["held_back"], effects["freed"]) == (len(held_back), 0)
    reasons = {row["after"]["reason"] for row in effects["recipe_sets"]}
    assert reasons == {"no room under a limit: placed recipes (1)"}
    assert client.put(PATH, json=body).json()["effects"] is None
    freed = client.put(PATH, json={}, params={"dry_run": "true"}).json()["effects"]
    assert waiting["recipe_set_id"] in [row["recipe_set_id"] for row in freed["recipe_sets"]]
    client.put(PATH, json={}).raise_for_status()
    for submitted in (waiting, running):
        cancel_set(client, submitted)


def test_dry_run__of_other_and_of_equal_content__stores_nothing(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()
    for body, changed in ((STRICT, True), ({}, False)):
        answer = client.put(PATH, json=body, params={"dry_run": "true"}).json()
        assert (answer["changed"], answer["dry_run"]) == (changed, True)
    assert client.put(PATH, json={"limits": 1}, params={"dry_run": "true"}).status_code == 422
    assert by_people(service, before) == []


# Each with the places of its faults.
FAULTY: list[tuple[Any, list[str]]] = [
    ([], ["body"]),
    (
        {"order": {"assigned_first": "never", "most_overtaken": -1}},
        ["order.assigned_first", "order.most_overtaken"],
    ),
    ({"weights": {"tick_seconds": 0.5, "coefficient": 0}}, ["weights.tick_seconds", "weights.coefficient"]),
    ({"weights": {"base": 0.0005, "values": {"sure": -1}}}, ["weights.base", "weights.values.sure"]),
    ({"limits": {"placed_recipes": "many"}, "colour": 1}, ["colour", "limits.placed_recipes"]),
    ({"claims": {"after_ticks": -1, "for_ticks": None}}, ["claims.after_ticks", "claims.for_ticks"]),
    ({"claims": {"after_ticks": "60", "for_ticks": 0}}, ["claims.after_ticks", "claims.for_ticks"]),
    ({"claims": {"after": 60}}, ["claims.after"]),
    (
        {"preemption": {"after_seconds": -1, "again_after_seconds": -0.5, "most_per_job": None}},
        ["preemption.after_seconds", "preemption.again_after_seconds", "preemption.most_per_job"],
    ),
    (
        {"preemption": {"enabled": 1, "max_per_job": 3, "most_per_job": -1}},
        ["preemption.max_per_job", "preemption.enabled", "preemption.most_per_job"],
    ),
    (
        {"operations": [{"operation": "a"}, {"operation": "a", "locks": {"node": "Odd"}}]},
        ["operations[1].locks.node", "operations[1].operation"],
    ),
]


def test_operations__unknown_pool_or_system__refused_in_a_dry_run_too(
    client: httpx.Client, service: Running, machine: str
) -> None:
    existing = {"system": {"Shared": [machine, "$system", "{HOST}"]}, "network": {"Shared": ["any"]}}
    unknown = {"NodeGroup": [{"Shared": ["$pools", "nopool"]}, {"Exclusive": ["{POOL}"]}], **existing}
    rows = [{"operation": "mv", "locks": existing}, {"operation": "cp", "locks": unknown}]
    before = service.end()
    for dry_run in ("true", "false"):
        answer = client.put(PATH, json={"operations": rows}, params={"dry_run": dry_run})
        where = "operations[1].locks.NodeGroup[0].Shared[1]"
        assert answer.status_code == 422
        assert answer.json()["errors"] == [{"where": where, "message": 'there is no pool "nopool"'}]
    assert by_people(service, before) == []
    assert client.put(PATH, json={"operations": rows[:1]}).status_code == 200


@pytest.mark.parametrize(("body", "places"), FAULTY)
def test_configuration__wrong__422_with_every_fault_and_nothing_stored(
    client: httpx.Client, service: Running, body: Any, places: list[str]
) -> None:
    before = service.end()
    answer = client.put(PATH, json=body)
    assert answer.status_code == 422
    assert [fault["where"] for fault in answer.json()["errors"]] == places
    assert by_people(service, before) == []


def test_configuration__very_many_faults__the_first_ones_and_a_count(client: httpx.Client) -> None:
    errors = client.put(PATH, json={"operations": [1] * 150}).json()["errors"]
    assert (len(errors), errors[-1]) == (101, {"where": "body", "message": "and 50 more errors"})


def test_configuration__of_others_and_elsewhere__refused(
    client: httpx.Client, people: People, service: Running
) -> None:
    before = service.end()
    for person in ("alice", "east"):
        assert people[person].get(PATH).status_code == 200
        assert people[person].put(PATH, json=STRICT).status_code == 403
    for method in ("GET", "PUT"):
        answer = client.request(method, "/partitions/other/configuration", json={})
        assert (answer.status_code, answer.json()["title"]) == (404, "Partition other not found")
    assert (
        client.put(PATH, content=b'{"order":', headers={"Content-Type": "application/json"}).status_code
        == 400
    )
    assert client.put(PATH, content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert by_people(service, before) == []


def test_operations__rows_added_and_replaced__say_where_they_are_from(client: httpx.Client) -> None:
    reserve = {"operation": "reserve", "tasks": ["/keep"], "locks": {"system": {"Exclusive": ["$system"]}}}
    shipped = client.get(OPERATIONS).json()["operations"]
    assert {row["source"] for row in shipped} == {"shipped"}
    done = client.put(PATH, json={"operations": [MOVE, reserve]})
    rows = client.get(OPERATIONS, params=after(done)).json()["operations"]
    changed = {row["operation"]: row for row in rows if row["source"] == "configuration"}
    assert changed == {
        "move": {**MOVE, "source": "configuration", "replaces_shipped": False},
        "reserve": {**reserve, "source": "configuration", "replaces_shipped": True},
    }
    assert len(rows) == len(shipped) + 1
    past = client.get(OPERATIONS, params={"as_of": done.json()["position"] - 1}).json()
    assert past["operations"] == shipped


def test_operations__configured__declare_the_locks_of_later_jobs(client: httpx.Client, machine: str) -> None:
    client.put(PATH, json=STRICT).raise_for_status()
    tasks = [{"name": "/lab/move", "params": {"NET": "vlan-3"}}]
    submitted = submit(client, {**recipe_for(machine), "tasks": tasks})
    subject = f"recipe-set/{submitted['recipe_set_id']}"
    (event, *_) = client.get("/events", params={"subject": subject}).json()["events"]
    assert event["data"]["profile"] == {"network": {"Exclusive": ["vlan-3"]}}


def test_maximum__of_placed_recipes__larger_sets_are_refused_from_then_on(
    client: httpx.Client, machine: str, service: Running
) -> None:
    two = {"recipe_sets": [{"recipes": [recipe_for(machine)] * 2}]}
    client.put(PATH, json={"limits": {"placed_recipes": 1}}).raise_for_status()
    before = service.end()
    answer = client.post("/jobs", json=two)
    assert answer.status_code == 422
    (fault,) = answer.json()["errors"]
    assert fault["where"].endswith("recipe_sets[0]") or "recipe_sets[0]" in fault["message"]
    assert "needs 2 systems; the maximum of placed recipes (limits.placed_recipes) is 1" in fault["message"]
    assert by_people(service, before) == []
    # A dry run of matching does not submit.
    assert client.post("/matches", json=two).status_code == 200
    client.put(PATH, json={"limits": {"placed_recipes": 2}}).raise_for_status()
    submitted = submit(client, *two["recipe_sets"][0]["recipes"])
    client.post(f"/jobs/{submitted['job_id']}/cancel", json={"reason": "seen"}).raise_for_status()


def test_configurations__of_all_versions__are_listed_and_shown_as_of_any_moment(
    client: httpx.Client, service: Running
) -> None:
    before = service.end()
    documents = [{"limits": {"placed_recipes": number}} for number in (7, 8)]
    done = [client.put(PATH, json=document) for document in documents]
    versions = client.get(f"{PATH}s", params=after(done[1])).json()["configurations"][-2:]
    assert [each["position"] for each in versions] == [each.json()["position"] for each in done]
    assert {each["actor"] for each in versions} == {"admin"}
    for version, put in zip(versions, done, strict=True):
        shown = client.get(f"{PATH}s/{version['version']}", params=after(done[1])).json()
        assert (shown["version"], content(shown)) == (version["version"], content(put.json()))
    past = client.get(f"{PATH}s", params={"as_of": done[0].json()["position"]}).json()["configurations"]
    assert past[-1] == versions[0]
    number = versions[0]["version"]
    answer = client.get(f"{PATH}s/{number}", params={"as_of": before})
    title = f"Version {number} of the configuration of partition default not found"
    assert (answer.status_code, answer.json()["title"]) == (404, title)


def test_configuration__put_or_tried__says_which_queues_change(client: httpx.Client) -> None:
    def put(*queues: dict[str, Any], **params: Any) -> dict[str, Any]:
        answer = client.put(PATH, json={"queues": {"queues": list(queues)}}, params=params)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()["queue_changes"]
        return found

    put({"name": "a"}, {"name": "b", "max": 3})
    wanted = {"name": "b", "max": 4}, {"name": "c"}
    tried = put(*wanted, dry_run=True)
    assert tried == {"added": ["root.c"], "changed": ["root.b"], "drained": ["root.a"]}
    assert put(*wanted) == tried
    assert put(*wanted) == {"added": [], "changed": [], "drained": []}


def test_configuration__dry_run_of_queues__shows_the_sets_that_it_holds_back(
    client: httpx.Client, machines: Callable[..., str]
) -> None:
    # A queue of its own, because other tests may leave systems in use.
    client.put(PATH, json={"queues": {"queues": [{"name": "own"}]}}).raise_for_status()
    held = submit(client, recipe_for(machines(condition="Manual")), queue="own")

    def tried(queue: dict[str, Any]) -> list[str]:
        document = {"queues": {"queues": [{"name": "own", **queue}]}}
        effects = client.put(PATH, json=document, params={"dry_run": True}).json()["effects"]
        rows = [row for row in effects["recipe_sets"] if row["job_id"] == held["job_id"]]
        assert effects["held_back"] == len(rows)
        return [row["after"]["reason"] for row in rows]

    assert tried({"max": 0}) == ["no room under a limit: max 0 systems in queue root.own"]
    assert tried({"state": "stopped"}) == ["held back by the stopped queue root.own"]
    assert tried({"max": 1}) == []
    cancel_set(client, held)
