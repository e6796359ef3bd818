"""Open jobs over HTTP: further recipe sets, the close, and keys of jobs."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.rest.actions import EAST, People, by_people, finish, in_state, start
from tests.rest.jobs.open_jobs import add, recipe_set, shown, submitted


@pytest.fixture
def job(people: People) -> int:
    """Submit an open job without sets for alice."""
    made = submitted(people["alice"], open=True)
    assert shown(people["alice"], made["job_id"], made["position"])["open"]
    return int(made["job_id"])


def test_open_job__on_the_command_line__shows_its_stage_and_that_it_is_open(
    people: People, service: Running, job: int
) -> None:
    said = service.labledger("job", str(job))
    assert "  stage: new\n" in said
    assert f"  open: yes, it takes more recipe sets (labledger close-job {job})\n" in said
    answer = people["alice"].post(f"/jobs/{job}/close").json()
    shown(people["alice"], job, answer["position"])
    said = service.labledger("job", str(job))
    assert "  stage: completed\n" in said and "open" not in said


def test_open_job__sets_are_added_and_it_is_closed__is_over_only_then(
    people: People, machine: str, job: int
) -> None:
    alice = people["alice"]
    before = shown(alice, job, 0)
    assert (before["state"], before["stage"], before["open"]) == ("new", "new", True)
    answer = add(alice, job, recipe_set(machine))
    assert answer.status_code == 200, answer.text
    added = answer.json()
    assert (added["job_id"], added["partition"], added["warnings"]) == (job, "default", [])
    (recipe_id,) = added["recipe_ids"]
    in_state(alice, recipe_id, "waiting")
    found = shown(alice, job, added["position"])
    assert (found["stage"], [each["recipe_set_id"] for each in found["recipe_sets"]]) == (
        "running",
        added["recipe_set_ids"],
    )
    assert len(found["document"]["recipe_sets"]) == 1
    finish(people["east"], recipe_id, start(people["east"], recipe_id))
    in_state(alice, recipe_id, "completed")
    ended = shown(alice, job, 0)
    assert (ended["state"], ended["stage"]) == ("completed", "completing")
    closed = alice.post(f"/jobs/{job}/close").json()
    assert closed["closed"]
    over = shown(alice, job, closed["position"])
    assert (over["stage"], over["open"]) == ("completed", False)
    assert not alice.post(f"/jobs/{job}/close").json()["closed"]
    late = add(alice, job, recipe_set(machine))
    assert (late.status_code, late.json()["detail"]) == (
        409,
        f"job {job} is closed and takes no further recipe sets",
    )
    then = alice.get(f"/jobs/{job}", params={"as_of": added["position"]}).json()
    assert (then["stage"], then["open"]) == ("new", True)


def test_add__same_key_again__adds_nothing_more(people: People, machine: str, job: int) -> None:
    key = {"Idempotency-Key": str(uuid.uuid4())}
    one, two = (add(people["alice"], job, recipe_set(machine), **key).json() for _ in range(2))
    assert one == two
    people["alice"].post(f"/jobs/{job}/cancel", json={"reason": "enough"})


def test_add__as_xml__is_read_like_a_job(people: People, machine: str, job: int) -> None:
    recipe = (
        f'<recipe><distroRequires><distro_name op="=" value="Fedora-39"/></distroRequires>'
        f'<hostRequires force="{machine}"/><task name="/a"/></recipe>'
    )
    body = f"<job><recipeSet>{recipe}</recipeSet></job>"
    headers = {"Content-Type": "application/xml"}
    answer = people["alice"].post(f"/jobs/{job}/recipe-sets", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    people["alice"].post(f"/jobs/{job}/cancel", json={"reason": "enough"})


LINE = re.compile(r"line 1, column \d+(: )?|line 1(: )?")

BAD: list[tuple[Callable[[str], dict[str, Any]], list[str]]] = [
    (lambda _: {}, [""]),
    (lambda _: {"recipe_sets": []}, ["recipe_sets"]),
    (lambda machine: {"recipe_sets": [recipe_set(machine, priority="Soon")]}, ["recipe_sets[0].priority"]),
    (lambda machine: {"recipe_sets": [recipe_set(machine)], "user": "bob", "open": True}, ["open", "user"]),
    (
        lambda machine: {"recipe_sets": [recipe_set(machine, depends_on=[{"recipe_set": -1}])]},
        ["recipe_sets[0].depends_on[0].recipe_set"],
    ),
]


@pytest.mark.parametrize(("document", "places"), BAD)
def test_add__faulty_sets__422_with_all_places_and_nothing_is_stored(
    people: People,
    machine: str,
    job: int,
    service: Running,
    document: Callable[[str], dict[str, Any]],
    places: list[str],
) -> None:
    before = service.end()
    answer = people["alice"].post(f"/jobs/{job}/recipe-sets", json=document(machine))
    assert answer.status_code == 422, answer.text
    found = [LINE.sub("", error["where"]) for error in answer.json()["errors"]]
    assert sorted(found) == places
    assert by_people(service, before) == []


def test_add__no_sets__422_without_the_rule_of_submissions(people: People, job: int) -> None:
    answer = people["alice"].post(f"/jobs/{job}/recipe-sets", json={"recipe_sets": []})
    assert (answer.status_code, answer.json()["errors"]) == (
        422,
        [{"where": "line 1, column 2: recipe_sets", "message": "must not be empty"}],
    )


def test_add__of_another_user__403_and_unknown_job_404(people: People, machine: str, job: int) -> None:
    assert add(people["bob"], job, recipe_set(machine)).status_code == 403
    assert add(people["alice"], 2**31 - 1, recipe_set(machine)).status_code == 404
    assert people["bob"].post(f"/jobs/{job}/close").status_code == 403


def test_cancel__open_job__closes_it_in_one_commit(
    people: People, machine: str, job: int, service: Running
) -> None:
    add(people["alice"], job, recipe_set(machine))
    before = service.end()
    cancelled = people["alice"].post(f"/jobs/{job}/cancel", json={"reason": "enough"}).json()
    topics = [topic for _, topic in by_people(service, before)]
    assert topics[-1] == "job.closed" and "recipe.cancelled" in topics
    assert shown(people["alice"], job, cancelled["position"])["stage"] == "cancelled"


def test_key__used_twice__409_names_the_first_job(people: People, machine: str) -> None:
    key = f"nightly-{machine}"
    first = submitted(people["alice"], key=key, open=True)["job_id"]
    again = people["alice"].post("/jobs", json={"key": key, "open": True})
    assert (again.status_code, again.json()["detail"]) == (
        409,
        f'alice has used the key "{key}" for job {first}',
    )
    assert submitted(people["bob"], key=key, open=True)["job_id"] != first
    twice = people["alice"].post(
        "/jobs", json={"jobs": [{"key": "x", "open": True}, {"key": "x", "open": True}]}
    )
    assert twice.status_code == 422 and twice.json()["errors"][0]["where"].endswith("jobs[1].key")


def test_key__submitted_by_many_at_once__is_of_one_job(people: People, machine: str) -> None:
    key = f"race-{machine}"

    def submit(_: int) -> int:
        return people["alice"].post("/jobs", json={"key": key, "open": True}).status_code

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(submit, range(8))) == [201, *[409] * 7]


def test_recipe_set__in_a_message_of_a_lab__is_added_to_its_open_job(
    client: httpx.Client, people: People, machine: str
) -> None:
    path = f"/lab-controllers/{EAST}/updates"
    items = [{"job": {"open": True, "recipe_sets": []}}]
    (made,) = people["east"].post(path, json={"items": items}).json()["items"]
    job_id = made["job"]["job_id"]
    added, faulty, alien = (
        people["east"]
        .post(
            path,
            json={
                "items": [
                    {"recipe_set": {"job_id": job_id, **recipe_set(machine)}},
                    {"recipe_set": {"job_id": job_id, **recipe_set(machine, priority="Soon")}},
                    {"recipe_set": {"job_id": 2**31 - 1, **recipe_set(machine)}},
                ]
            },
        )
        .json()["items"]
    )
    assert (added["status"], faulty["status"], alien["status"]) == (200, 422, 404)
    assert [error["where"] for error in faulty["errors"]] == ["recipe_set.priority"]
    assert (
        shown(client, job_id, added["position"])["recipe_sets"][0]["recipe_set_id"]
        in added["job"]["recipe_set_ids"]
    )
    client.post(f"/jobs/{job_id}/cancel", json={"reason": "enough"})
