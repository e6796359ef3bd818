"""Reviews of recipe sets, and waivers of failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import People, after, finish, happened, recipe_for, report, start, submit

WHY = "the firmware of this board is at fault"


class Ended(NamedTuple):
    """A set of one recipe, whose first task has failed, and whose second one was given up."""

    job: int
    recipe_set: int
    recipe: int
    tasks: list[int]


@pytest.fixture
def ended(people: People, machine: str) -> Ended:
    made = submit(people["alice"], recipe_for(machine), group="kernel-qe")
    (recipe_id,) = made["recipe_ids"]
    tasks = start(people["east"], recipe_id)
    for message in (
        {"task_id": tasks[0], "result": "Pass", "path": "/setup"},
        {"task_id": tasks[0], "result": "Fail", "path": "/boot", "message": "no console"},
        {"state": "aborted", "reason": "the board is gone"},
    ):
        assert report(people["east"], recipe_id, message).status_code == 200
    return Ended(made["job_id"], made["recipe_set_id"], recipe_id, tasks)


def test_review__by_a_group_member__is_shown_as_of_then_and_changes_nothing_else(
    client: httpx.Client, people: People, ended: Ended, service: Running
) -> None:
    path = f"/recipe-sets/{ended.recipe_set}"
    before = client.get(path, params={"min_position": service.end()}).json()
    assert (before["review"], before["waiver"], before["result"]) == (None, None, "Fail")
    body = {"review": "acknowledged", "reason": WHY}
    keyed = {"Idempotency-Key": f"review-{ended.recipe_set}"}
    answers = [people["bob"].post(f"{path}/review", json=body, headers=keyed) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json() and answers[0].json()["changed"] is True
    again = people["alice"].post(f"{path}/review", json={**body, "reason": "seen, too"})
    assert again.json()["changed"] is False
    assert happened(service, before["position"], f"recipe-set/{ended.recipe_set}") == [
        (f"recipe-set/{ended.recipe_set}", "recipe-set.reviewed")
    ]
    shown = client.get(path, params=after(answers[0])).json()
    assert {**shown["review"], "at": None} == {**body, "by": "bob", "at": None}
    ignored = {"review": None, "position": None}
    assert {**shown, **ignored} == {**before, **ignored}
    (in_job,) = client.get(f"/jobs/{ended.job}").json()["recipe_sets"]
    (in_results,) = client.get(f"/jobs/{ended.job}/results").json()["recipe_sets"]
    assert in_job["review"] == in_results["review"] == shown["review"]
    assert client.get(path, params={"as_of": before["position"]}).json()["review"] is None
    revoked = people["bob"].post(f"{path}/review", json={"review": "none", "reason": "too early"})
    assert client.get(path, params=after(revoked)).json()["review"] is None
    assert people["carol"].post(f"{path}/review", json=body).status_code == 403


def results(client: httpx.Client, ended: Ended, **params: Any) -> dict[str, Any]:
    answers = [
        client.get(f"{path}/results", params=params).raise_for_status().json()
        for path in (f"/jobs/{ended.job}", f"/recipes/{ended.recipe}")
    ]
    assert answers[0] == answers[1]
    found: dict[str, Any] = answers[0]
    return found


def test_waiver__of_a_task__is_counted_apart_and_keeps_the_result(
    client: httpx.Client, people: People, ended: Ended, service: Running
) -> None:
    path = f"/recipes/{ended.recipe}/tasks/{ended.tasks[0]}/waiver"
    before = service.end()
    answer = people["alice"].post(path, json={"reason": WHY})
    assert (answer.status_code, answer.json()["changed"]) == (200, True)
    assert people["alice"].post(path, json={"reason": WHY}).json()["changed"] is False
    (event,) = (each for each in service.events(before) if each["topic"] == "recipe-set.waived")
    assert (event["actor"], event["subject"]) == ("alice", f"recipe-set/{ended.recipe_set}")
    assert event["data"] == {"recipe_id": ended.recipe, "task_id": ended.tasks[0], "reason": WHY}
    whole, failed = (results(client, ended, failed=only, **after(answer)) for only in ("false", "true"))
    assert (whole["failed_task_count"], whole["waived_task_count"]) == (1, 1)
    assert [task["task_id"] for task in whole["tasks"]] == ended.tasks
    assert [task["task_id"] for task in failed["tasks"]] == ended.tasks[1:]
    waived, given_up = whole["tasks"]
    assert (waived["result"], given_up["waiver"]) == ("Fail", None)
    assert [result["result"] for result in waived["results"]] == ["Pass", "Fail"]
    assert {**waived["waiver"], "at": None} == {"of": "task", "by": "alice", "reason": WHY, "at": None}
    (of_set,) = client.get(f"/jobs/{ended.job}").json()["recipe_sets"]
    assert (of_set["result"], of_set["failed_task_count"], of_set["waived_task_count"]) == ("Fail", 1, 1)
    (recipe,) = of_set["recipes"]
    for tasks in (recipe["tasks"], client.get(f"/recipes/{ended.recipe}").json()["tasks"]):
        assert [task["waiver"] for task in tasks] == [waived["waiver"], None]
    assert results(client, ended, as_of=before)["waived_task_count"] == 0
    ended_again = people["alice"].post(path, json={"waived": False, "reason": "it is a regression"})
    assert results(client, ended, **after(ended_again))["failed_task_count"] == 2


def test_waiver__of_all_failures__leaves_nothing_to_run_again(
    client: httpx.Client, people: People, ended: Ended
) -> None:
    path = f"/jobs/{ended.job}/rerun"
    waive = f"/recipes/{ended.recipe}/tasks/{{}}/waiver"
    first, last = (
        people["alice"].post(waive.format(task), json={"reason": WHY}).raise_for_status()
        for task in ended.tasks
    )
    copied = client.get(path, params={"failed": "true", "as_of": first.json()["position"]})
    assert copied.json()["recipe_set_ids"] == [ended.recipe_set]
    refused = client.get(path, params={"failed": "true", **after(last)})
    assert (refused.status_code, "not waived" in refused.json()["detail"]) == (409, True)
    assert people["alice"].post(path, json={"failed": True}).status_code == 409
    assert client.get(path).json()["recipe_set_ids"] == [ended.recipe_set]
    waiver = f"/recipe-sets/{ended.recipe_set}/waiver"
    people["alice"].post(waiver, json={"reason": WHY}).raise_for_status()
    revoked = people["alice"].post(waive.format(ended.tasks[0]), json={"waived": False, "reason": WHY})
    assert client.get(path, params={"failed": "true", **after(revoked)}).status_code == 409
    revoked = people["alice"].post(waiver, json={"waived": False, "reason": WHY})
    assert client.get(path, params={"failed": "true", **after(revoked)}).status_code == 200


def test_waiver__of_a_set__is_that_of_its_failed_tasks_without_one(
    client: httpx.Client, people: People, ended: Ended
) -> None:
    path = f"/recipe-sets/{ended.recipe_set}"
    people["bob"].post(
        f"/recipes/{ended.recipe}/tasks/{ended.tasks[0]}/waiver", json={"reason": WHY}
    ).raise_for_status()
    answer = people["alice"].post(f"{path}/waiver", json={"reason": "the whole lab was down"})
    assert answer.json()["changed"] is True
    found = results(client, ended, **after(answer))
    assert [task["waiver"]["of"] for task in found["tasks"]] == ["task", "recipe-set"]
    assert (found["failed_task_count"], found["waived_task_count"]) == (0, 2)
    shown = client.get(path).json()
    assert (shown["waiver"]["by"], shown["waived_task_count"], shown["state"]) == ("alice", 2, "aborted")
    revoked = people["alice"].post(f"{path}/waiver", json={"waived": False, "reason": "it was not"})
    assert results(client, ended, **after(revoked))["failed_task_count"] == 1


def test_review__of_what_is_not_there_or_not_ended__is_refused_and_nothing_is_stored(
    client: httpx.Client, people: People, machines: Callable[..., str], service: Running
) -> None:
    made = submit(people["alice"], recipe_for(machines()))
    (recipe_id,), set_id = made["recipe_ids"], made["recipe_set_id"]
    before, tasks = service.end(), start(people["east"], recipe_id)
    review, waiver = {"review": "rejected", "reason": WHY}, {"reason": WHY}
    task = f"/recipes/{recipe_id}/tasks/{tasks[0]}/waiver"
    for path, body in (
        (f"/recipe-sets/{set_id}/review", review),
        (f"/recipe-sets/{set_id}/waiver", waiver),
        (task, waiver),
    ):
        refused = people["alice"].post(path, json=body)
        said = f"recipe set {set_id} is running: only a set that has ended is reviewed or waived"
        assert (refused.status_code, refused.json()["detail"]) == (409, said)
        assert people["carol"].post(path, json=body).status_code == 403
    finish(people["east"], recipe_id, tasks)
    refused = people["alice"].post(task, json=waiver)
    assert (refused.status_code, "has not failed" in refused.json()["detail"]) == (409, True)
    assert refused.json()["title"] == "Cannot waive the failure of a task"
    assert people["alice"].post(f"/recipe-sets/{set_id}/waiver", json=waiver).status_code == 409
    assert (
        people["alice"].post(f"/recipes/{recipe_id}/tasks/2147483647/waiver", json=waiver).status_code == 404
    )
    assert client.post("/recipes/2147483647/tasks/1/waiver", json=waiver).status_code == 404
    assert client.post("/recipe-sets/2147483647/review", json=review).status_code == 404
    assert happened(service, before, f"recipe-set/{set_id}") == []


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("/recipe-sets/1/review", {"review": "acked"}, ["reason", "review"]),
        ("/recipe-sets/1/review", {"review": "rejected", "reason": ""}, ["reason"]),
        ("/recipe-sets/1/waiver", {"waived": "yes"}, ["reason", "waived"]),
        ("/recipes/1/tasks/1/waiver", {"reason": WHY, "by": "me"}, ["by"]),
    ],
)
def test_review__of_a_wrong_form__names_every_fault(
    client: httpx.Client, path: str, body: dict[str, object], where: list[str]
) -> None:
    refused = client.post(path, json=body)
    assert refused.status_code == 422
    assert sorted(fault["where"] for fault in refused.json()["errors"]) == where
