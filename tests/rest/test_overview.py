"""/overview: its sums, what needs attention, and what it says about hidden systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.rest.resources.overview_sums import ACTIVITIES, activity_of, all_labs_of, labs_of, queue_of, sets_of
from domain.system.lifecycle import CONDITIONS, USAGE
from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import EAST, WEST, People, after, cancel_set, in_state, recipe_for, submit

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("condition", "usage", "flags", "activity"),
    [
        ("Automated", "idle", "", "idle"),
        ("Automated", "pending", "", "idle"),
        ("Automated", "waiting", "", "starting"),
        # Draining, but its recipe goes on.
        ("Automated", "running", "draining", "running"),
        ("Broken", "running", "", "running"),
        ("Broken", "idle", "draining", "broken"),
        ("Automated", "idle", "draining", "draining"),
        ("Manual", "idle", "", "manual"),
        ("Manual", "running", "reserved", "had_by_people"),
        ("Removed", "idle", "", None),
        ("Removed", "running", "", "running"),
    ],
)
def test_activity__any_condition_and_usage__is_one_word_for_both(
    condition: str, usage: str, flags: str, activity: str | None
) -> None:
    found = activity_of(condition, usage, is_draining=flags == "draining", is_reserved=flags == "reserved")
    assert found == activity


counts = st.lists(
    st.fixed_dictionaries(
        {
            "lab_controller": st.sampled_from(["lab.a", "lab.b"]),
            "condition": st.sampled_from(CONDITIONS),
            "usage": st.sampled_from(USAGE.states),
            "draining": st.booleans(),
            "is_reserved": st.booleans(),
            "systems": st.integers(1, 9),
        }
    )
)


@given(counts)
def test_labs__whatever_their_systems_do__every_system_is_counted_once(rows: list[dict[str, Any]]) -> None:
    def is_counted(row: dict[str, Any]) -> bool:
        flags = {"is_draining": row["draining"], "is_reserved": row["is_reserved"]}
        return activity_of(row["condition"], row["usage"], **flags) is not None

    labs = labs_of([], rows, {}, {})
    assert sum(lab["systems"] for lab in labs) == sum(row["systems"] for row in rows if is_counted(row))
    totals = all_labs_of(labs)
    assert totals["systems"] == sum(totals["doing"].values()) == sum(lab["systems"] for lab in labs)
    for lab in labs:
        assert tuple(lab["doing"]) == ACTIVITIES
        assert sum(lab["doing"].values()) == lab["systems"]


def test_queue__waits__are_those_of_each_priority() -> None:
    # The other one by a clock that is ahead.
    first, second = NOON - timedelta(minutes=10), NOON + timedelta(seconds=1)
    rows = [
        {"priority": 5, "recipes": 1, "oldest_submitted_at": first},
        {"priority": 3, "recipes": 2, "oldest_submitted_at": second},
    ]
    assert queue_of(rows, NOON) == {
        "recipes": 3,
        "by_priority": {
            "Urgent": {"recipes": 1, "oldest_submitted_at": first, "longest_wait_seconds": 600.0},
            "Normal": {"recipes": 2, "oldest_submitted_at": second, "longest_wait_seconds": 0.0},
        },
    }


def test_sets__of_recipes__have_their_systems_together() -> None:
    recipes = [
        {"recipe_id": number, "recipe_set_id": 5, "usage": "running", "system": f"s{number}"}
        for number in (3, 2)
    ]
    (only,) = sets_of(recipes)
    assert (only["recipes"], only["systems"]) == (2, ["s2", "s3"])


def overview(client: httpx.Client, **params: Any) -> dict[str, Any]:
    answer = client.get("/overview", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def doing(found: dict[str, Any], lab: str) -> dict[str, int]:
    (activities,) = [row["doing"] for row in found["labs"] if row["lab_controller"] == lab]
    return dict(activities)


def test_overview__systems_of_the_labs__are_those_of_the_list(client: httpx.Client, service: Running) -> None:
    found = overview(client, as_of=service.end())
    listed = client.get("/systems", params={"as_of": found["position"], "limit": 1000}).json()["systems"]
    for lab in (EAST, WEST):
        expected = dict.fromkeys(ACTIVITIES, 0)
        for row in listed:
            activity = activity_of(
                row["condition"],
                row["usage"],
                is_draining=row["draining"],
                is_reserved=row["user"] is not None,
            )
            if row["lab_controller"] == lab and activity is not None:
                expected[activity] += 1
        assert doing(found, lab) == expected


@pytest.fixture
def waiting(client: httpx.Client, people: People) -> Iterator[list[int]]:
    """Yield one placed recipe and two that wait for its system, all of alice."""
    recipe = recipe_for("x86-01.east.example.com")
    sets = [{"priority": "Normal"}, {"priority": "Urgent"}, {"priority": "Normal"}]
    made = [
        people["alice"].post("/jobs", json={"recipe_sets": [{**one, "recipes": [recipe]}]}).json()
        for one in sets
    ]
    ids = [one["recipe_ids"][0] for one in made]
    in_state(client, ids[0], "waiting")
    for recipe_id in ids[1:]:
        in_state(client, recipe_id, "queued")
    yield ids
    # Those that wait first, or they would get the system.
    for one in reversed(made):
        cancel_set(client, {"recipe_set_id": one["recipe_set_ids"][0]})


def test_overview__recipes_wait__oldest_first_and_counted_by_priority(
    client: httpx.Client, service: Running, waiting: list[int]
) -> None:
    found = overview(client, min_position=service.end())
    queue = found["queue"]
    assert [row["recipe_id"] for row in queue["oldest"]] == waiting[1:]
    assert {name: row["recipes"] for name, row in queue["by_priority"].items()} == {"Urgent": 1, "Normal": 1}
    longest = queue["by_priority"]["Urgent"]["longest_wait_seconds"]
    assert queue["recipes"] == 2 and longest == queue["oldest"][0]["wait_seconds"] > 0
    listed = client.get("/queue", params={"as_of": found["position"]}).json()["recipes"]
    assert {row["recipe_id"] for row in listed} == {row["recipe_id"] for row in queue["oldest"]}


def test_overview__placed_recipe__is_with_its_set_and_system(
    client: httpx.Client, service: Running, waiting: list[int]
) -> None:
    placed = overview(client, min_position=service.end())["placed"]
    assert (placed["recipes"], placed["not_shown"]) == (1, 0)
    (shown,) = placed["recipe_sets"]
    assert (shown["systems"], shown["usage"]) == (["x86-01.east.example.com"], ["waiting"])
    assert (shown["owner"], shown["priority"], shown["partition"]) == ("alice", "Normal", "default")


def test_overview__of_the_past__contains_nothing_later(
    client: httpx.Client, service: Running, people: People
) -> None:
    before = service.end()
    then = overview(people["alice"], as_of=before)
    made = submit(people["alice"], recipe_for("x86-01.east.example.com"))
    in_state(client, made["recipe_ids"][0], "waiting")
    cancel_set(client, made)
    assert overview(people["alice"], as_of=before, min_position=service.end()) == then
    assert then["queue"]["held_back_now"] is None
    assert {lab["last_heard_at"] for lab in then["labs"]} == {None}
    now = overview(people["alice"], min_position=service.end())
    assert now["queue"]["held_back_now"] == {}
    assert None not in {lab["last_heard_at"] for lab in now["labs"]}
    assert made["job_id"] in {job["job_id"] for job in now["jobs"]}
    assert made["job_id"] not in {job["job_id"] for job in then["jobs"]}


def test_overview__own_jobs__unfinished_ones_come_first(
    client: httpx.Client, service: Running, people: People, waiting: list[int]
) -> None:
    finished = submit(people["alice"], recipe_for("x86-01.east.example.com"))
    cancel_set(client, finished)
    jobs = overview(people["alice"], min_position=service.end())["jobs"]
    states = [job["state"] for job in jobs]
    assert "cancelled" in states and states[:3].count("cancelled") == 0
    first = [job["job_id"] for job in jobs[:3]]
    assert first == sorted(first, reverse=True)
    assert {job["owner"] for job in jobs} == {"alice"}


def test_overview__own_systems__those_that_the_person_has_come_first(
    client: httpx.Client, people: People, machines: Callable[..., str]
) -> None:
    owned, reserved = machines(), machines(owner="bob")
    client.patch(f"/systems/{reserved}", json={"condition": "Manual"}).raise_for_status()
    done = client.put(f"/systems/{reserved}/reservation", json={"user": "alice"})
    assert done.status_code == 200, done.text
    found = overview(people["alice"], **after(done))["systems"]
    assert found["systems"][0]["fqdn"] == reserved
    assert owned in [row["fqdn"] for row in found["systems"]]
    assert found["count"] == len(found["systems"])
    assert reserved not in str(overview(people["carol"], **after(done))["systems"])


def test_overview__broken_system__is_named_with_the_reason_and_own_ones_come_first(
    client: httpx.Client, service: Running, people: People, machines: Callable[..., str]
) -> None:
    other, own = machines(owner="bob"), machines(owner="bob")
    before = overview(client, min_position=service.end())["broken"]["count"]
    client.patch(f"/systems/{own}", json={"owner": "alice"}).raise_for_status()
    for fqdn, reason in ((own, "no power"), (other, "no network")):
        client.patch(f"/systems/{fqdn}", json={"condition": "Broken", "reason": reason}).raise_for_status()
    found = overview(people["alice"], min_position=service.end())
    broken = found["broken"]
    assert (broken["count"], broken["owned"]) == (before + 2, 1)
    reasons = {row["fqdn"]: row["reason"] for row in broken["systems"]}
    assert broken["systems"][0]["fqdn"] == own
    assert (reasons[own], reasons[other]) == ("no power", "no network")
    assert doing(found, EAST)["broken"] >= 2
    assert [event["data"]["reason"] for event in found["problems"][:2]] == ["no network", "no power"]


def test_overview__repaired_systems__are_no_problems(
    client: httpx.Client, service: Running, machine: str
) -> None:
    for condition in ("Broken", "Automated"):
        client.patch(f"/systems/{machine}", json={"condition": condition}).raise_for_status()
    latest = overview(client, min_position=service.end())["problems"][0]
    assert (latest["subject"], latest["data"]["condition"]) == (f"system/{machine}", "Broken")


def test_overview__hidden_system__counts_and_is_in_no_byte(
    client: httpx.Client, service: Running, people: People, machines: Callable[..., str]
) -> None:
    seen, secret = machines(), machines()
    made = submit(people["alice"], recipe_for(secret))
    in_state(client, made["recipe_ids"][0], "waiting")
    view = {"entries": [{"permission": "view", "user": "bob"}]}
    client.put(f"/systems/{secret}/access-policy", json=view).raise_for_status()
    client.patch(f"/systems/{seen}", json={"condition": "Broken"}).raise_for_status()
    for name in ("bob", "carol"):
        found = people[name].get("/overview", params={"min_position": service.end()})
        assert (name, secret in found.text) == (name, name == "bob")
        assert doing(found.json(), EAST)["starting"] == 1
        assert found.json()["placed"]["recipes"] == 1
        assert (name, found.json()["placed"]["not_shown"]) == (name, int(name == "carol"))
    cancel_set(client, made)
    done = client.patch(f"/systems/{secret}", json={"condition": "Broken", "reason": "smoke"})
    for name in ("bob", "carol"):
        found = people[name].get("/overview", params=after(done))
        assert (name, secret in found.text) == (name, name == "bob")
        assert (name, "smoke" in found.text) == (name, name == "bob")
        assert doing(found.json(), EAST)["broken"] >= 2
    client.delete(f"/systems/{secret}/access-policy")


def test_overview__lab_is_disabled__shows_its_state(client: httpx.Client, service: Running) -> None:
    def enable(is_enabled: bool) -> None:
        client.patch(f"/lab-controllers/{WEST}", json={"enabled": is_enabled}).raise_for_status()

    enable(False)
    try:
        found = overview(client, min_position=service.end())
        states = {row["lab_controller"]: row["enabled"] for row in found["labs"]}
        assert (states[EAST], states[WEST]) == (True, False)
        assert found["problems"][0]["topic"] == "lab-controller.disabled"
    finally:
        enable(True)
        wait_until(lambda: len(client.get("/idle-pool").json()["systems"]) > 0, "idle systems")
