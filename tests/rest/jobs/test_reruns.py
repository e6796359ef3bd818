"""Copies of jobs over HTTP: chosen recipe sets, edited copies, and the links between a job and its copies."""

from __future__ import annotations

import json
import uuid
from typing import Any

import httpx
import pytest

from tests.intake.jobs import job_xml, read_json, read_xml, sample
from tests.rest.actions import People, after, finish, in_state, recipe_for, report, start
from tests.rest.jobs.open_jobs import add, recipe_set, submitted

XML = {"Content-Type": "application/xml"}


def rerun(client: httpx.Client, job_id: int, *, key: str | None = None, **asked: Any) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(f"/jobs/{job_id}/rerun", json=asked, headers=headers)


def draft(client: httpx.Client, job_id: int, **query: Any) -> dict[str, Any]:
    answer = client.get(f"/jobs/{job_id}/rerun", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def job_after(client: httpx.Client, job_id: int, answer: httpx.Response) -> dict[str, Any]:
    assert answer.is_success, answer.text
    found: dict[str, Any] = client.get(f"/jobs/{job_id}", params=after(answer)).json()
    return found


def end(client: httpx.Client, *answers: httpx.Response) -> None:
    """Cancel the submitted jobs, which must not stay in the queue."""
    for answer in answers:
        job_id = answer.json()["job_id"]
        client.post(f"/jobs/{job_id}/cancel", json={"reason": "seen enough"}).raise_for_status()


def fail(client: httpx.Client, recipe_id: int, result: str) -> None:
    """End a recipe with a result of its first task."""
    tasks = start(client, recipe_id)
    report(client, recipe_id, {"task_id": tasks[0], "result": result})
    finish(client, recipe_id, tasks)


def test_rerun__job_as_xml__is_an_equal_job_of_the_caller(client: httpx.Client, people: People) -> None:
    posted = sample("guests.xml")
    first = client.post("/jobs", content=posted, headers=XML)
    job_id = first.json()["job_id"]
    end(client, first)
    answer = rerun(people["bob"], job_id)
    assert (answer.status_code, answer.headers["location"]) == (201, f"/jobs/{answer.json()['job_id']}")
    copy = job_after(client, answer.json()["job_id"], answer)
    original = job_after(client, job_id, answer)
    assert (copy["origin"], copy["copies"], copy["owner"], copy["submitter"]) == (job_id, [], "bob", "bob")
    assert (original["origin"], original["copies"]) == (None, [copy["job_id"]])
    assert copy["document"] == original["document"]
    # The bytes of the copy are of the kind of those of its origin.
    bytes_of = people["bob"].get(f"/jobs/{copy['job_id']}/original")
    assert bytes_of.headers["content-type"] == "application/xml"
    assert read_xml(bytes_of.content) == read_xml(posted)
    end(people["bob"], answer)


def test_rerun__job_as_json__is_an_equal_job_as_json(client: httpx.Client, machine: str) -> None:
    locks = {"system": {"Exclusive": ["$system"]}}
    recipe = recipe_for(machine, guests=1, locks=locks, reservesys={"when": "onfail"}, ks_meta="a=b")
    first = client.post("/jobs", json={"whiteboard": "nightly", "recipe_sets": [{"recipes": [recipe]}]})
    shown = draft(client, first.json()["job_id"], **after(first))
    assert (shown["media_type"], shown["warnings"]) == ("application/json", [])
    assert shown["recipe_set_ids"] == first.json()["recipe_set_ids"]
    answer = rerun(client, first.json()["job_id"])
    copy, original = (job_after(client, each.json()["job_id"], answer) for each in (answer, first))
    assert copy["document"] == original["document"]
    assert read_json(json.loads(shown["job"])).document == original["document"]
    end(client, first, answer)


def test_rerun__what_failed__has_the_sets_with_a_bad_result(people: People, machine: str) -> None:
    alice, east = people["alice"], people["east"]
    first = alice.post("/jobs", json={"recipe_sets": [recipe_set(machine) for _ in range(4)]})
    job_id, sets, recipes = (first.json()[name] for name in ("job_id", "recipe_set_ids", "recipe_ids"))
    refused = rerun(alice, job_id, failed=True)
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        f"no recipe set of job {job_id} has failed: none has the result Warn, Fail or Panic",
    )
    finish(east, recipes[0], start(east, recipes[0]))
    in_state(alice, recipes[0], "completed")
    fail(east, recipes[1], "Fail")
    # A cancelled set did not pass either; the last one has not ended.
    alice.post(f"/recipe-sets/{sets[2]}/cancel", json={"reason": "late"}).raise_for_status()
    # At once: the results count that were reported before.
    answer = rerun(alice, job_id, failed=True)
    assert answer.status_code == 201, answer.text
    assert len(answer.json()["recipe_set_ids"]) == 2
    shown = draft(alice, job_id, failed="true", **after(answer))
    assert shown["recipe_set_ids"] == sets[1:3]
    then = alice.get(f"/jobs/{job_id}/rerun", params={"failed": "true", "as_of": first.json()["position"]})
    assert then.status_code == 409
    end(alice, first, answer)


def test_rerun__sets_by_number__are_checked_all_at_once(people: People, machine: str) -> None:
    alice = people["alice"]
    sets = [recipe_set(machine, priority=name) for name in ("Low", "High", "Urgent")]
    first = alice.post("/jobs", json={"recipe_sets": sets})
    job_id, numbers = first.json()["job_id"], first.json()["recipe_set_ids"]
    answer = rerun(alice, job_id, sets=[numbers[2], numbers[0]])
    copy = job_after(alice, answer.json()["job_id"], answer)
    assert [each["priority"] for each in copy["document"]["recipe_sets"]] == ["Low", "Urgent"]
    wrong = rerun(alice, job_id, sets=[1, numbers[1], 2**31 - 1])
    assert wrong.status_code == 422
    message = f"is not in job {job_id}; it has {', '.join(map(str, numbers))}"
    assert wrong.json()["errors"] == [
        {"where": f"sets[{place}]", "message": f"recipe set {number} {message}"}
        for place, number in ((0, 1), (2, 2**31 - 1))
    ]
    both = [
        rerun(alice, job_id, failed=True, sets=numbers),
        rerun(alice, job_id, failed=True, job="<job/>"),
        alice.get(f"/jobs/{job_id}/rerun", params={"failed": "true", "sets": numbers[0]}),
    ]
    assert [(each.status_code, each.json()["errors"][0]["where"]) for each in both] == [(422, "failed")] * 3
    unread = alice.get(f"/jobs/{job_id}/rerun", params={"sets": "1,x"})
    assert (unread.status_code, unread.json()["errors"][0]["where"]) == (422, "sets")
    end(alice, first, answer)


def test_rerun__open_job_with_added_sets__has_them_and_is_closed(people: People, machine: str) -> None:
    alice = people["alice"]
    first = alice.post("/jobs", json={"open": True, "key": str(uuid.uuid4()), "recipe_sets": []})
    job_id = first.json()["job_id"]
    empty = rerun(alice, job_id)
    assert (empty.status_code, empty.json()["detail"]) == (409, f"job {job_id} has no recipe sets")
    add(alice, job_id, recipe_set(machine), recipe_set(machine, depends_on=[{"recipe_set": -1}]))
    answer = rerun(alice, job_id)
    copy = job_after(alice, answer.json()["job_id"], answer)
    assert (copy["open"], "key" in copy["document"]) == (False, False)
    dependency = {"recipe_set": -1, "states": ["completed", "aborted"]}
    assert [each.get("depends_on") for each in copy["document"]["recipe_sets"]] == [None, [dependency]]
    end(alice, first, answer)


def test_rerun__group_of_others__is_left_out_with_a_warning(people: People, machine: str) -> None:
    first = people["alice"].post("/jobs", json={"group": "kernel-qe", "recipe_sets": [recipe_set(machine)]})
    job_id = first.json()["job_id"]
    answers = {name: rerun(people[name], job_id) for name in ("alice", "carol")}
    copies = {name: job_after(people[name], each.json()["job_id"], each) for name, each in answers.items()}
    assert {name: (copy["owner"], copy["group"]) for name, copy in copies.items()} == {
        "alice": ("alice", "kernel-qe"),
        "carol": ("carol", None),
    }
    assert answers["alice"].json()["warnings"] == []
    assert answers["carol"].json()["warnings"] == [
        {"where": "group", "message": "the copy is for no group, because carol is not in kernel-qe"}
    ]
    for name, answer in answers.items():
        end(people[name], answer)
    end(people["alice"], first)


def test_rerun__edited_job__is_submitted_or_refused_with_every_line(people: People, machine: str) -> None:
    alice = people["alice"]
    first = alice.post("/jobs", json={"recipe_sets": [recipe_set(machine)]})
    job_id = first.json()["job_id"]
    wrong = job_xml(recipe_set='priority="Soon"', recipe='colour="red"').decode()
    refused = rerun(alice, job_id, job=wrong)
    assert refused.status_code == 422
    assert [fault["where"].split(",")[0] for fault in refused.json()["errors"]] == ["line 2", "line 3"]
    for text in ("", "job", "{", "<job", '{"jobs": [{"recipe_sets": []}]}'):
        assert rerun(alice, job_id, job=text).status_code == 422
    edited = draft(alice, job_id, **after(first))
    document = {**json.loads(edited["job"]), "whiteboard": "edited"}
    answer = rerun(alice, job_id, job=json.dumps(document))
    copy = job_after(alice, answer.json()["job_id"], answer)
    assert (copy["origin"], copy["whiteboard"]) == (job_id, "edited")
    end(alice, first, answer)


def test_rerun__repeated_under_a_key__is_one_copy(people: People, machine: str) -> None:
    alice = people["alice"]
    job_id = submitted(alice, recipe_sets=[recipe_set(machine)])["job_id"]
    alice.post(f"/jobs/{job_id}/cancel", json={"reason": "seen enough"}).raise_for_status()
    key = str(uuid.uuid4())
    answers = [rerun(alice, job_id, key=key, failed=True) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert rerun(alice, job_id, key=key).status_code == 422
    found = job_after(alice, job_id, answers[1])
    assert found["copies"] == [answers[0].json()["job_id"]]
    (event,) = alice.get(
        "/events", params={"subject": f"job/{found['copies'][0]}", "types": "job.submitted"}
    ).json()["events"]
    assert event["data"]["origin"] == job_id
    end(alice, answers[0])


def test_copies__of_the_past__are_those_of_then(people: People, machine: str) -> None:
    alice = people["alice"]
    first = alice.post("/jobs", json={"recipe_sets": [recipe_set(machine)]})
    job_id = first.json()["job_id"]
    answers = [rerun(alice, job_id) for _ in range(2)]
    numbers = [answer.json()["job_id"] for answer in answers]
    assert job_after(alice, job_id, answers[1])["copies"] == numbers[::-1]
    then = alice.get(f"/jobs/{job_id}", params={"as_of": answers[0].json()["position"]}).json()
    assert then["copies"] == numbers[:1]
    end(alice, first, *answers)


@pytest.mark.parametrize("asked", [{}, {"job": job_xml().decode()}])
def test_rerun__unknown_job__404(client: httpx.Client, asked: dict[str, Any]) -> None:
    answer = rerun(client, 2**31 - 1, **asked)
    assert (answer.status_code, str(2**31 - 1) in answer.text) == (404, True)
