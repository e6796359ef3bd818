"""Resource locks of recipes: held, awaited, given up, and listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import httpx
import pytest

from tests.harness.running import Running
from tests.harness.waiting import wait_until
from tests.rest.actions import (
    EAST,
    People,
    after,
    cancel_set,
    commands,
    happened,
    in_state,
    recipe_for,
    report,
    rows_of,
    submit,
)

Locks = dict[str, Any]


class Two(NamedTuple):
    """Two submitted sets of one recipe on a system each: `first` has its locks, `second` waits for them."""

    network: str
    first: dict[str, Any]
    second: dict[str, Any]
    systems: tuple[str, str]

    @property
    def holder(self) -> int:
        return int(self.first["recipe_ids"][0])

    @property
    def waiter(self) -> int:
        return int(self.second["recipe_ids"][0])


def exclusive(*names: str) -> Locks:
    return {"network": {"Exclusive": list(names)}}


@pytest.fixture
def two(client: httpx.Client, machines: Callable[..., str]) -> Iterator[Two]:
    systems = machines(), machines()
    network = f"net-{systems[0]}"
    first = submit(client, recipe_for(systems[0], locks=exclusive(network, f"{network}-b")))
    in_state(client, first["recipe_ids"][0], "waiting")
    second = submit(client, recipe_for(systems[1], guests=1, locks=exclusive(network)))
    in_state(client, second["recipe_ids"][0], "waiting")
    yield Two(network, first, second, systems)
    for each in (first, second):
        cancel_set(client, each)


def test_locks__two_sets_want_one__one_holds_it_and_the_other_waits_for_that(
    client: httpx.Client, two: Two
) -> None:
    held, awaited = rows_of(client, "locks", name=two.network, level="network")
    assert (held["state"], held["recipe_id"], held["mode"]) == ("held", two.holder, "Exclusive")
    assert (held["overtaken"], held["owed"], held["waits_for"]) == (None, None, [])
    assert (awaited["state"], awaited["recipe_id"]) == ("awaited", two.waiter)
    assert (awaited["overtaken"], awaited["owed"]) == (0, False)
    assert awaited["waits_for"] == [two.first["recipe_set_id"]] and awaited["waits_for_count"] == 1
    assert (awaited["job_id"], awaited["lab_controller"]) == (two.second["job_id"], EAST)
    assert rows_of(client, "locks", name=two.network, state="held") == [held]


def test_locks__of_a_moment_of_the_past__are_those_of_then(client: httpx.Client, two: Two) -> None:
    page = client.get("/locks", params={"name": two.network, "state": "awaited"}).json()
    (awaited,), then = page["locks"], page["position"]
    answer = report(client, two.holder, {"locks": exclusive(f"{two.network}-b")})
    assert answer.status_code == 200, answer.text
    wait_until(
        lambda: not rows_of(client, "locks", name=two.network, state="awaited"), "the other to have its locks"
    )
    (held,) = rows_of(client, "locks", name=two.network)
    assert (held["recipe_id"], held["state"]) == (two.waiter, "held")
    past = rows_of(client, "locks", name=two.network, as_of=then)
    assert [row["recipe_id"] for row in past] == [two.holder, two.waiter]
    assert past[1] == awaited


def test_locks__paged_by_one__same_rows_as_in_one_page(client: httpx.Client, two: Two) -> None:
    listed = rows_of(client, "locks", limit=1000)
    everything = [(row["level"], row["name"], row["recipe_id"]) for row in listed]
    rows, path = [], "/locks?limit=1"
    while path:
        page = client.get(path).json()
        rows += [(row["level"], row["name"], row["recipe_id"]) for row in page["locks"]]
        path = page["next"]
    assert rows == everything and len(rows) >= 3


def test_recipe__holds_or_awaits_locks__shows_declared_and_held_ones(client: httpx.Client, two: Two) -> None:
    holder, waiter = (client.get(f"/recipes/{number}").json() for number in (two.holder, two.waiter))
    both = exclusive(two.network, f"{two.network}-b")
    assert (holder["awaits_locks"], holder["locks"]) == (False, {"declared": both, "held": both})
    assert (waiter["awaits_locks"], waiter["deadline"]) == (True, None)
    assert waiter["locks"] == {"declared": exclusive(two.network), "held": None}
    assert waiter["history"][-1]["awaits_locks"] and waiter["seconds"]["provisioning"] == 0
    (shown,) = client.get(f"/jobs/{two.second['job_id']}").json()["recipe_sets"]
    assert [recipe["awaits_locks"] for recipe in shown["recipes"]] == [True, True]


def test_explanation__set_waits_for_its_locks__who_is_in_its_way_since_when(
    client: httpx.Client, two: Two
) -> None:
    explained = client.get(f"/recipes/{two.waiter}/explanation").json()
    holder = two.first["recipe_set_id"]
    assert explained["summary"] == f"its recipe set waits for resource locks, after recipe set {holder}"
    locking = explained["locking"]
    assert (locking["locks"], locking["waits_for_count"]) == (exclusive(two.network), 1)
    assert (locking["overtaken"], locking["max_overtaken"], locking["owed"]) == (0, 8, False)
    (blocker,) = locking["waits_for"]
    shown = (blocker["recipe_set_id"], blocker["job_id"], blocker["why"])
    assert shown == (holder, two.first["job_id"], "holds conflicting locks")
    for row in rows_of(client, "locks", name=two.network):
        since = blocker if row["state"] == "held" else locking
        assert (since["since"], since["since_position"]) == (row["since"], row["since_position"])
    assert explained["granted"]["system"] == two.systems[1]
    assert client.get(f"/recipes/{two.holder}/explanation").json()["locking"] is None
    # As of a moment of the past, too.
    cancel_set(client, two.first)
    wait_until(lambda: not client.get(f"/recipes/{two.waiter}").json()["awaits_locks"], "its locks")
    assert client.get(f"/recipes/{two.waiter}/explanation").json()["locking"] is None
    then = {"as_of": explained["position"]}
    assert client.get(f"/recipes/{two.waiter}/explanation", params=then).json()["locking"] == locking


def test_break__system_of_a_set_that_waits_for_locks__sibling_keeps_its_own(
    client: httpx.Client, two: Two, machines: Callable[..., str]
) -> None:
    one, other = machines(), machines()
    recipes = [recipe_for(fqdn, locks=exclusive(two.network)) for fqdn in (one, other)]
    submitted = submit(client, *recipes)
    kept, lost = submitted["recipe_ids"]
    assert in_state(client, lost, "waiting")["awaits_locks"]
    answer = client.patch(f"/systems/{other}", json={"condition": "Removed", "reason": "sold"})
    assert answer.status_code == 200, answer.text
    then = {"as_of": answer.headers["labledger-position"]}
    states = [client.get(f"/recipes/{number}", params=then).json()["state"] for number in (kept, lost)]
    assert states == ["scheduled", "assigned"]
    rows = rows_of(client, "locks", name=two.network, state="awaited", **then)
    assert submitted["recipe_set_id"] not in [row["recipe_set_id"] for row in rows]
    assert commands(client, EAST, one) == []
    explained = client.get(f"/recipes/{kept}/explanation", params=then).json()
    assert (explained["granted"]["system"], explained["locking"]) == (one, None)
    cancel_set(client, submitted)
    assert commands(client, EAST, one) == []


def test_commands__set_waits_for_its_locks__provisioned_when_it_has_them(
    client: httpx.Client, two: Two
) -> None:
    assert commands(client, EAST, two.systems[1]) == []
    assert report(client, two.waiter, {"state": "installing"}).status_code == 409
    cancel_set(client, two.first)
    wait_until(lambda: commands(client, EAST, two.systems[1]), "the command")
    (command,) = commands(client, EAST, two.systems[1])
    assert (command["kind"], command["recipe_id"], len(command["guests"])) == ("provision", two.waiter, 1)
    assert not in_state(client, two.waiter, "waiting")["awaits_locks"]


def test_commands__cancelled_before_its_locks__nothing_to_release(client: httpx.Client, two: Two) -> None:
    cancel_set(client, two.second)
    in_state(client, two.waiter, "cancelled")
    assert commands(client, EAST, two.systems[1]) == []


def test_report_locks__covered__gives_up_the_others(
    client: httpx.Client, people: People, two: Two, service: Running
) -> None:
    before, kept = service.end(), {"network": {"Shared": [f"{two.network}-b"]}}
    answer = report(people["east"], two.holder, {"locks": {"Network": kept["network"]}})
    assert answer.status_code == 200, answer.text
    subject = f"recipe/{two.holder}"
    assert happened(service, before, subject) == [(subject, "recipe.locks-narrowed")]
    recipe = client.get(f"/recipes/{two.holder}", params=after(answer)).json()
    assert recipe["locks"]["held"] == kept
    before = service.end()
    assert report(people["east"], two.holder, {"locks": kept}).status_code == 200
    assert happened(service, before, subject) == [], "a repetition changes nothing"
    # All of them are given up.
    assert report(client, two.holder, {"locks": {}}).status_code == 200
    assert report(client, two.holder, {"locks": kept}).status_code == 409


def test_report_locks__not_covered_or_not_started__409(
    client: httpx.Client, people: People, two: Two
) -> None:
    for locks, missing in (
        ({"network": "AllShared"}, "network (AllShared)"),
        ({"system": {"Shared": ["a"]}}, "system a (Shared)"),
        ({"whole_lab": True}, "whole_lab"),
    ):
        answer = report(client, two.holder, {"locks": locks})
        assert (answer.status_code, f"does not hold {missing}" in answer.text) == (409, True)
    answer = report(client, two.waiter, {"locks": {}})
    assert (answer.status_code, "has not started" in answer.text) == (409, True)
    assert report(people["west"], two.holder, {"locks": {}}).status_code == 403


def test_report_locks__faulty__422_with_every_place(client: httpx.Client, two: Two) -> None:
    faulty = {"rack": "None", "pool": {"Shared": []}, "Node": "Shared", "network": {"Shared": ["x" * 256, 3]}}
    answer = report(client, two.holder, {"locks": faulty})
    assert answer.status_code == 422
    assert sorted(fault["where"] for fault in answer.json()["errors"]) == [
        "locks.Node",
        "locks.network.Shared[0]",
        "locks.network.Shared[1]",
        "locks.pool.Shared",
        "locks.rack",
    ]
    (fault,) = report(client, two.holder, {"locks": {"system": {"Exclusive": ["$system"]}}}).json()["errors"]
    assert (fault["where"], "real name" in fault["message"]) == ("locks.system.Exclusive[0]", True)
    assert report(client, two.holder, {"locks": {}, "watchdog_seconds": 5}).status_code == 422
    assert report(client, two.holder, {"locks": 3}).status_code == 422
    many = {"network": {"Shared": [f"n{number}" for number in range(2_000)]}}
    (fault,) = report(client, two.holder, {"locks": many}).json()["errors"]
    assert fault == {"where": "locks", "message": "must not have more than 1000 names"}


def test_updates__locks__as_one_of_many(client: httpx.Client, people: People, two: Two) -> None:
    items = [
        {"progress": {"recipe_id": two.holder, "locks": exclusive(two.network)}},
        {"progress": {"recipe_id": two.holder, "locks": exclusive(f"{two.network}-b")}},
        {"progress": {"recipe_id": two.holder, "locks": {"rack": 1}}},
    ]
    answer = people["east"].post(f"/lab-controllers/{EAST}/updates", json={"items": items})
    assert [item["status"] for item in answer.json()["items"]] == [200, 409, 422]


def test_metrics__held_and_awaited__are_counted(client: httpx.Client, two: Two) -> None:
    lines = client.get("/metrics").text.splitlines()
    samples = (line.rpartition(" ") for line in lines if line.startswith("labledger_lock"))
    found = {name: float(value) for name, _, value in samples}
    assert found['labledger_locks{level="network",state="held"}'] >= 2
    assert found['labledger_locks{level="network",state="awaited"}'] >= 1
    assert 'labledger_locks{level="whole_lab",state="held"}' in found
    assert "labledger_lock_wait_seconds_count" in found
