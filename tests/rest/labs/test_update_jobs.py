"""/updates: jobs that a lab controller submits and cancels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.rest.resources.updates import MAX_LISTED_FAULTS
from tests.harness.running import Running
from tests.rest.actions import EAST, People, after, answers_to, by_people, in_state, recipe_for, start, submit

PATH = f"/lab-controllers/{EAST}/updates"


def job(machine: str, *, sets: int = 1, **more: Any) -> dict[str, Any]:
    return {"recipe_sets": [{"recipes": [recipe_for(machine)]} for _ in range(sets)], **more}


@pytest.fixture
def auditing_lab(client: httpx.Client, service: Running) -> Iterator[httpx.Client]:
    """Yield a client with a token of the lab controller, of a user who may not submit."""
    client.put("/users/reader", json={"roles": ["auditor"]}).raise_for_status()
    wanted = {"user": "reader", "role": "lab-controller", "lab_controller": EAST}
    made = client.post("/tokens", json=wanted).json()
    with service.client(made["token"]) as reader:
        yield reader
    client.delete(f"/tokens/{made['token_id']}").raise_for_status()


def test_job__in_a_message__is_submitted_for_the_user_of_the_token_once(
    client: httpx.Client, people: People, machine: str
) -> None:
    message = [{"job": job(machine, whiteboard="self-test")}, {"drain": "nobody.example.com"}]
    key = {"Idempotency-Key": f"self-test-{machine}"}
    submitted, unknown = answers_to(people["east"], *message, **key)
    assert (submitted["status"], unknown["status"]) == (200, 404)
    job_id = submitted["job"]["job_id"]
    shown = client.get(f"/jobs/{job_id}", params={"min_position": submitted["position"]}).json()
    assert (shown["owner"], shown["whiteboard"]) == ("lab-ops", "self-test")
    assert in_state(client, submitted["job"]["recipe_ids"][0], "waiting")["system"] == machine
    assert answers_to(people["east"], *message, **key)[0] == submitted
    (ended,) = answers_to(people["east"], {"cancel": {"job_id": job_id, "reason": "seen"}})
    # It has started, and only what still waits is cancelled.
    assert ended["status"] == 200
    assert in_state(client, submitted["job"]["recipe_ids"][0], "waiting")
    people["east"].post(PATH, json={"items": [{"release": {"recipe_id": submitted["job"]["recipe_ids"][0]}}]})


def test_job__with_faults__is_answered_with_all_of_them_and_nothing_is_stored(
    people: People, machine: str, service: Running
) -> None:
    before = service.end()
    faulty = job(machine, priority="Soon", retention_tag="for ever")
    answers = answers_to(people["east"], {"job": faulty}, {"job": {"jobs": [job(machine)]}})
    assert [answer["status"] for answer in answers] == [422, 422]
    assert {error["where"] for error in answers[0]["errors"]} == {"job.priority", "job.retention_tag"}
    assert answers[1]["errors"][0]["where"] == "job.jobs"
    assert by_people(service, before) == []


def test_jobs__many_with_many_faults__share_the_bound_of_faults(people: People) -> None:
    faulty = {"job": {f"field{number}": 1 for number in range(60)}}
    answers = answers_to(people["east"], *[faulty] * 50)
    assert {answer["status"] for answer in answers} == {422}
    faults = [error["message"] for answer in answers for error in answer["errors"]]
    assert len([message for message in faults if "field" in message]) <= MAX_LISTED_FAULTS
    # Each faulty item has its number of faults.
    (last,) = answers[-1]["errors"]
    assert last["where"] == "item" and last["message"].endswith("more errors")


def test_cancel__of_a_job__ends_the_sets_that_have_not_started(
    client: httpx.Client, people: People, machine: str
) -> None:
    submitted = people["east"], job(machine, sets=3)
    (answer,) = answers_to(submitted[0], {"job": submitted[1]})
    runs, *wait = answer["job"]["recipe_ids"]
    start(people["east"], runs)
    for recipe_id in wait:
        in_state(client, recipe_id, "queued")
    cancel = {"cancel": {"job_id": answer["job"]["job_id"], "reason": "enough"}}
    (ended,) = answers_to(people["east"], cancel)
    for recipe_id in wait:
        assert in_state(client, recipe_id, "cancelled")["reason"] == "enough"
    assert client.get(f"/recipes/{runs}").json()["state"] == "running"
    (again,) = answers_to(people["east"], cancel)
    assert (ended["status"], again["status"]) == (200, 200)
    # One set is cancelled in any state.
    first = answer["job"]["recipe_set_ids"][0]
    (last,) = answers_to(people["east"], {"cancel": {"recipe_set_id": first, "reason": "that, too"}})
    assert client.get(f"/recipes/{runs}", params={"min_position": last["position"]}).json()["state"] == (
        "cancelled"
    )


def test_cancel__of_a_job_of_somebody_else__is_refused(
    client: httpx.Client, people: People, machine: str, service: Running
) -> None:
    submitted = submit(people["alice"], recipe_for(machine))
    before = service.end()
    answers = answers_to(
        people["east"],
        {"cancel": {"job_id": submitted["job_id"], "reason": "mine"}},
        {"cancel": {"recipe_set_id": submitted["recipe_set_id"], "reason": "mine"}},
        {"cancel": {"job_id": 2**31 - 1, "reason": "mine"}},
        {"cancel": {"reason": "which?"}},
        {"cancel": {"job_id": 1, "recipe_set_id": 1, "reason": "which?"}},
    )
    assert [answer["status"] for answer in answers] == [403, 403, 404, 422, 422]
    assert by_people(service, before) == []
    answer = client.post(f"/jobs/{submitted['job_id']}/cancel", json={"reason": "seen"})
    client.get("/queue", params=after(answer))


def test_job_and_cancel__user_of_the_token_may_not_submit__are_refused(
    auditing_lab: httpx.Client, machine: str, service: Running
) -> None:
    before = service.end()
    answers = answers_to(
        auditing_lab,
        {"job": job(machine)},
        {"cancel": {"job_id": 1, "reason": "because"}},
        {"drain": machine},
    )
    assert [answer["status"] for answer in answers] == [403, 403, 200]
    assert answers[0]["detail"] == "user reader needs the role submitter or admin to submit or cancel jobs"
    assert by_people(service, before) == [(f"system/{machine}", "system.drained")]
