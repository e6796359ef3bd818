"""Updates of lab controllers: order of the items, size limits, and permissions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.harness.running import Running
from tests.rest.actions import EAST, happened, in_state, recipe_for, start, submit


def tell(client: Any, *items: dict[str, Any]) -> list[dict[str, Any]]:
    answer = client.post(f"/lab-controllers/{EAST}/updates", json={"items": list(items)})
    assert answer.status_code == 200, answer.text
    answers: list[dict[str, Any]] = answer.json()["items"]
    return answers


def test_updates__drained_and_then_released__takes_nothing_new(
    client: Any, people: Any, machine: str, service: Running
) -> None:
    first = submit(people["alice"], recipe_for(machine))["recipe_ids"][0]
    start(people["east"], first)
    waiting = submit(people["alice"], recipe_for(machine))
    in_state(client, waiting["recipe_ids"][0], "queued")
    before = service.end()
    answers = tell(people["east"], {"drain": machine}, {"release": {"recipe_id": first}})
    assert [item["status"] for item in answers] == [200, 200]
    topics = [topic for _, topic in happened(service, before, f"system/{machine}")]
    people["alice"].post(f"/recipe-sets/{waiting['recipe_set_id']}/cancel", json={"reason": "not needed"})
    assert topics == ["system.drained", "system.idle"]


def test_updates__pools_of_a_new_system__are_not_a_lab_controllers_to_choose(
    client: Any, people: Any
) -> None:
    assert client.put("/pools/of-others", json={}).status_code == 200
    system = {"fqdn": "intruder.east.example.com", "owner": "alice", "pools": ["of-others"]}
    (answers,) = tell(people["east"], {"system": system})
    assert answers["status"] == 422
    assert "pools" in str(answers["errors"])
    assert client.get("/systems/intruder.east.example.com").status_code == 404


def test_updates__same_new_system_reported_at_once__succeeds_for_each(people: Any, service: Running) -> None:
    system = {"fqdn": "twice.east.example.com", "arches": ["x86_64"], "condition": "Manual"}

    def once(_: int) -> int:
        with service.client() as own:
            own.headers["authorization"] = people["east"].headers["authorization"]
            return int(tell(own, {"system": system})[0]["status"])

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(once, range(6))) == [200] * 6


def test_updates__item_larger_than_a_body_may_be__is_refused(people: Any, machine: str) -> None:
    large = {"K": ["x" * 4000] * 300}
    (answers,) = tell(people["east"], {"system": {"fqdn": machine, "key_values": large}})
    assert answers["status"] == 422
    assert "larger than" in str(answers["errors"])


@pytest.mark.parametrize("speed", [1e19, 1e20, 1e300])
def test_system__speed_beyond_all_machines__is_refused(
    client: Any, people: Any, machine: str, speed: float
) -> None:
    answer = people["alice"].patch(f"/systems/{machine}", json={"cpu": {"speed_mhz": speed}})
    assert answer.status_code == 422
    assert client.get(f"/systems/{machine}").status_code == 200


def test_cancel__same_key_at_once__same_answer(people: Any, machine: str, service: Running) -> None:
    for number in range(6):
        recipe_set_id = submit(people["alice"], recipe_for(machine))["recipe_set_id"]
        key = {"Idempotency-Key": f"at-once-{number}"}

        def once(
            _: int, path: str = f"/recipe-sets/{recipe_set_id}/cancel", key: dict[str, str] = key
        ) -> Any:
            with service.client() as own:
                own.headers["authorization"] = people["alice"].headers["authorization"]
                answer = own.post(path, json={"reason": "not needed"}, headers=key)
                return answer.status_code, answer.headers["labledger-position"], answer.json()

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(once, range(4)))
        assert all(answer == answers[0] for answer in answers), answers


def test_system__name_that_differs_only_in_case__is_taken(client: Any, machine: str) -> None:
    # A job that forces a system by name must name exactly one.
    system = {"fqdn": machine.upper(), "lab_controller": EAST, "owner": "alice", "condition": "Manual"}
    answer = client.post("/systems", json=system)
    assert answer.status_code == 409
    assert machine in answer.json()["detail"]
