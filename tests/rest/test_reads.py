"""Reads: positions, pages, and the past."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import after, in_state, recipe_for, start, submit
from tests.rest.pinned import PINNED, XML

LISTS = [
    "/jobs",
    "/systems",
    "/idle-pool",
    "/users",
    "/groups",
    "/pools",
    "/distro-trees",
    "/lab-controllers",
]


@pytest.mark.parametrize("path", LISTS)
def test_list__paged_by_one__same_rows_as_in_one_page(client: httpx.Client, path: str) -> None:
    if path == "/jobs":
        for _ in range(2):
            _wait_placed_then_cancel(client, _submit(client, b"Low"))
    at = client.get(path).json()["position"]
    (name,) = client.get(path).json().keys() - {"position", "next"}
    whole = client.get(path, params={"as_of": at, "limit": 1000}).json()[name]
    paged: list[Any] = []
    link: str | None = f"{path}?limit=1&as_of={at}"
    while link:
        answer = client.get(link)
        paged += answer.json()[name]
        link = answer.json()["next"]
        assert ("next" in answer.links) == (link is not None)
    assert paged == whole and whole


def test_queue__recipes_wait__in_rank_order_page_by_page(client: httpx.Client) -> None:
    ids = [_submit(client, priority) for priority in (b"Normal", b"Low", b"Urgent", b"Normal", b"High")]
    first, low, urgent, normal, high = ids
    wait_until(lambda: len(_queued(client)) == 4, "four recipes to wait")
    assert [row["recipe_id"] for row in _queued(client)] == [urgent, high, normal, low]
    paged: list[int] = []
    link: str | None = "/queue?limit=1"
    while link:
        answer = client.get(link).json()
        paged += [row["recipe_id"] for row in answer["recipes"]]
        link = answer["next"]
    assert paged == [urgent, high, normal, low]
    row = _queued(client)[0]
    assert (row["priority"], row["state"], row["whiteboard"]) == ("Urgent", "queued", "")
    for recipe_id in (first, urgent, high, normal, low):
        _wait_placed_then_cancel(client, recipe_id)
    assert _queued(client) == []


def test_jobs__listed__with_their_sets(client: httpx.Client) -> None:
    recipe_id = _submit(client, b"Low")
    _wait_placed_then_cancel(client, recipe_id)
    of_it = client.get(f"/recipes/{recipe_id}").json()
    assert (of_it["priority"], of_it["distro_tree"]["name"]) == ("Low", "RHEL-9.6")
    (job,) = client.get("/jobs", params={"limit": 1}).json()["jobs"]
    assert (job["job_id"], job["recipe_set_ids"]) == (of_it["job_id"], [of_it["recipe_set_id"]])


def test_read__as_of_each_position__equals_the_former_answer(client: httpx.Client, service: Running) -> None:
    start = client.get("/queue").json()["position"]
    recipe_id = _submit(client, b"Normal")
    _wait_placed_then_cancel(client, recipe_id)
    events = [event for event in service.events(start) if event["subject"] == f"recipe/{recipe_id}"]
    ends = {event["commit_end"]: event["topic"].removeprefix("recipe.") for event in events}
    for position, state in ends.items():
        assert client.get(f"/recipes/{recipe_id}", params={"as_of": position}).json()["state"] == state
    new = events[0]["commit_end"]
    assert client.get(f"/recipes/{recipe_id}", params={"as_of": new - 1}).status_code == 404
    when = events[0]["recorded_at"]
    then = client.get(f"/recipes/{recipe_id}", params={"as_of": when})
    assert then.json()["state"] == "new" and then.json()["position"] == new


def test_read__as_of_inside_a_commit__rounds_to_the_end_before(
    client: httpx.Client, service: Running
) -> None:
    commits: dict[int, list[int]] = {}
    for event in service.events():
        commits.setdefault(event["commit_end"], []).append(event["position"])
    inside = next(positions for positions in commits.values() if len(positions) > 2)
    answer = client.get("/systems", params={"as_of": inside[1]})
    assert answer.json()["position"] == inside[0] - 1


def test_read__as_of_a_past_position__omits_later_changes(client: httpx.Client, service: Running) -> None:
    start = client.get("/queue").json()["position"]
    recipe_id = _submit(client, b"Normal")
    _wait_placed_then_cancel(client, recipe_id)
    events = [event for event in service.events(start) if event["subject"] == f"recipe/{recipe_id}"]
    placed = next(event for event in events if event["topic"] == "recipe.waiting")
    then = {"as_of": placed["commit_end"]}
    recipe = client.get(f"/recipes/{recipe_id}", params=then).json()
    assert recipe["as_of"] == placed["recorded_at"]
    *before, last = recipe["history"]
    assert all(entry["until_position"] <= placed["commit_end"] for entry in before)
    assert (last["state"], last["until"], last["until_position"]) == ("waiting", None, None)
    path = "/systems/x86-08.west.example.com/usage"
    last = client.get(path, params=then).json()["intervals"][-1]
    assert (last["usage"], last["until"], last["until_position"]) == ("waiting", None, None)
    assert client.get(path, params={**then, "since": placed["recorded_at"]}).json()["intervals"] == [last]
    assert "as_of" not in client.get(f"/recipes/{recipe_id}").json()


def test_system_usage__as_of_then__is_counted_up_to_it(client: httpx.Client, service: Running) -> None:
    events = service.events()
    registered = [event for event in events if event["topic"] == "system.registered"]
    # One commit may have added all systems, so some time has to pass.
    last = events[-1]
    then = {"as_of": last["commit_end"], "until": "2999-01-01T00:00:00Z"}
    answer = client.get("/system-usage", params=then).json()
    assert answer["until"] == answer["as_of"] == last["recorded_at"]
    first = datetime.fromisoformat(registered[0]["recorded_at"])
    longest = (datetime.fromisoformat(last["recorded_at"]) - first).total_seconds()
    seconds = [sum(s.values()) for group in answer["groups"] for s in group["seconds"].values()]
    assert seconds and max(seconds) <= longest + 1e-3
    assert (
        client.get("/system-usage", params={**then, "since": "2998-01-01T00:00:00Z"}).json()["groups"] == []
    )


def test_read__as_of_a_moment_to_come__is_about_now(client: httpx.Client) -> None:
    answer = client.get("/idle-pool", params={"as_of": "2999-01-01T00:00:00Z"}).json()
    assert datetime.fromisoformat(answer["as_of"]) <= datetime.now(UTC)


def test_read__min_position_beyond_the_log__504(client: httpx.Client) -> None:
    end = client.get("/queue").json()["position"]
    assert client.get("/queue", params={"min_position": end + 1000}).status_code == 504


def test_system_usage__between_two_moments__seconds_add_up(client: httpx.Client, service: Running) -> None:
    registered = [e["recorded_at"] for e in service.events() if e["topic"] == "system.registered"]
    systems = client.get("/systems", params={"limit": 1000}).json()["systems"]
    since = datetime.fromisoformat(max(registered))
    until = datetime.fromisoformat(service.events()[-1]["recorded_at"])
    length = (until - since).total_seconds()
    assert length > 0
    asked = {"since": since.isoformat(), "until": until.isoformat()}
    for group_by, times in (("system", 1), ("lab_controller", None)):
        groups = client.get("/system-usage", params={**asked, "group_by": group_by}).json()["groups"]
        for group in groups:
            members = times or sum(system["lab_controller"] == group["key"] for system in systems)
            total = sum(sum(usages.values()) for usages in group["seconds"].values())
            assert total == pytest.approx(length * members, abs=1e-3)


@pytest.mark.parametrize("since", [None, "2001-01-01T00:00:00Z"])
def test_system_usage__by_pages__is_all_of_it_in_order(client: httpx.Client, since: str | None) -> None:
    systems = [system["fqdn"] for system in client.get("/systems", params={"limit": 1000}).json()["systems"]]
    asked = {} if since is None else {"since": since}
    found, following = list[str](), "/system-usage"
    while following is not None:
        page = client.get(following, params=None if found else {**asked, "limit": 4}).json()
        assert len(page["groups"]) <= 4
        found += [group["key"] for group in page["groups"]]
        following = page["next"]
    assert found == systems and len(found) > 4


def test_system__shown__is_the_document_that_was_given(client: httpx.Client) -> None:
    system = client.get("/systems/x86-01.east.example.com")
    body = system.json()
    assert (body["memory_mb"], body["cpu"]["sockets"], body["pools"]) == (65536, 2, ["big"])
    assert (body["condition"], body["draining"], body["user"]) == ("Automated", False, None)
    assert system.headers["etag"].strip('"').isdigit()


def test_answers__every_one__has_request_id(client: httpx.Client) -> None:
    assert client.get("/queue", headers={"X-Request-Id": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert len(client.get("/nothing").headers["x-request-id"]) == 32


def _submit(client: httpx.Client, priority: bytes) -> int:
    answer = client.post("/jobs", content=PINNED % priority, headers=XML)
    assert answer.status_code == 201, answer.text
    (recipe_id,) = answer.json()["recipe_ids"]
    return int(recipe_id)


def _queued(client: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/queue").json()["recipes"]
    return found


def _wait_placed_then_cancel(client: httpx.Client, recipe_id: int) -> None:
    def placed() -> bool:
        answer = client.get(f"/recipes/{recipe_id}")
        return answer.status_code == 200 and answer.json()["state"] == "waiting"

    wait_until(placed, f"recipe {recipe_id} to be placed")
    # An abort before the start would count as a failure of the machine, which other tests need.
    job_id = client.get(f"/recipes/{recipe_id}").json()["job_id"]
    done = client.post(f"/jobs/{job_id}/cancel", json={"reason": "the test has seen it"})
    assert done.status_code == 200
    client.get("/queue", params=after(done))


def test_recipe__placed__says_how_long_it_was_in_each_state(client: httpx.Client, machine: str) -> None:
    job = submit(client, recipe_for(machine))
    start(client, job["recipe_ids"][0])
    recipe = in_state(client, job["recipe_ids"][0], "running")
    seconds, history = recipe["seconds"], recipe["history"]
    assert set(seconds["by_state"]) == {interval["state"] for interval in history}
    ended = {
        one["state"]: (
            datetime.fromisoformat(one["until"]) - datetime.fromisoformat(one["since"])
        ).total_seconds()
        for one in history
        if one["until"] is not None
    }
    assert seconds["by_state"]["installing"] == pytest.approx(ended["installing"], abs=1e-4)
    assert seconds["provisioning"] == pytest.approx(ended["waiting"] + ended["installing"], abs=1e-4)
    assert seconds["queueing"] == pytest.approx(ended.get("new", 0) + ended.get("scheduled", 0), abs=1e-4)
    of_job = client.get(f"/jobs/{job['job_id']}", params={"as_of": recipe["position"]}).json()["seconds"]
    assert of_job["provisioning"] == pytest.approx(seconds["provisioning"], abs=1e-4)
    client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "not needed"})
