"""Claims of recipes that force a busy system, in lists and in the answers about recipes and systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest

from tests.harness.waiting import wait_until
from tests.rest.actions import People, after, cancel_set, in_state, recipe_for, rows_of, submit


class ClaimedMachine(NamedTuple):
    """A busy system, the submitted job of its recipe, and that of the recipe that claims the system."""

    fqdn: str
    holder: dict[str, Any]
    claimant: dict[str, Any]

    @property
    def recipe_id(self) -> int:
        (recipe_id,) = self.claimant["recipe_ids"]
        return int(recipe_id)


@pytest.fixture
def claimed(people: People, machine: str) -> Iterator[ClaimedMachine]:
    """Let alice have a system, and bob force it."""
    holder = submit(people["alice"], recipe_for(machine))
    in_state(people["alice"], holder["recipe_ids"][0], "waiting")
    claimant = submit(people["bob"], recipe_for(machine, host_requires={"force": machine}))
    found = ClaimedMachine(machine, holder, claimant)
    wait_until(lambda: people["bob"].get(f"/claims/{found.recipe_id}").is_success, "the claim to begin")
    yield found
    for who, submitted in (("bob", claimant), ("alice", holder)):
        cancel_set(people[who], submitted)


def test_claim__of_a_forcing_recipe__is_shown_by_recipe_and_system_with_the_same_values(
    client: httpx.Client, claimed: ClaimedMachine
) -> None:
    one = client.get(f"/claims/{claimed.recipe_id}").json()
    (listed,) = rows_of(client, "claims")
    assert listed == {name: value for name, value in one.items() if name != "position"}
    assert (listed["recipe_id"], listed["system"]) == (claimed.recipe_id, claimed.fqdn)
    assert (listed["owner"], listed["job_id"]) == ("bob", claimed.claimant["job_id"])
    shown = client.get(f"/recipes/{claimed.recipe_id}").json()["claim"]
    assert shown == {"system": claimed.fqdn, "forced": True, "since": listed["since"]}
    assert client.get(f"/systems/{claimed.fqdn}").json()["claimed_by"] == claimed.recipe_id


def test_claims__filters_and_pages__select_the_claims(client: httpx.Client, claimed: ClaimedMachine) -> None:
    ours = [claimed.recipe_id]
    asked = [{"system": claimed.fqdn}, {"recipe_id": claimed.recipe_id}, {"limit": 1}]
    found = [[each["recipe_id"] for each in rows_of(client, "claims", **query)] for query in asked]
    assert found == [ours] * 3
    assert rows_of(client, "claims", system="other.example.com") == []
    assert rows_of(client, "claims", recipe_id=claimed.recipe_id + 1) == []
    first = client.get("/claims", params={"limit": 1}).json()
    assert client.get(first["next"]).json()["claims"] == []


def test_claim__claimant_cancelled__has_ended_but_is_there_as_of_before(
    client: httpx.Client, claimed: ClaimedMachine, people: People
) -> None:
    since = client.get(f"/claims/{claimed.recipe_id}").json()["since_position"]
    path = f"/recipe-sets/{claimed.claimant['recipe_set_id']}/cancel"
    asked = after(people["bob"].post(path, json={"reason": "seen enough"}))
    assert rows_of(client, "claims", **asked) == []
    assert client.get(f"/recipes/{claimed.recipe_id}", params=asked).json()["claim"] is None
    assert client.get(f"/systems/{claimed.fqdn}", params=asked).json()["claimed_by"] is None
    then = client.get(f"/recipes/{claimed.recipe_id}", params={"as_of": since}).json()["claim"]
    assert (then["system"], then["forced"]) == (claimed.fqdn, True)
    assert [each["recipe_id"] for each in rows_of(client, "claims", as_of=since)] == [claimed.recipe_id]
    assert rows_of(client, "claims", as_of=since - 1) == []


def test_claim__recipe_without_one_or_unknown_recipe__404_says_which(
    client: httpx.Client, claimed: ClaimedMachine
) -> None:
    (holder,) = claimed.holder["recipe_ids"]
    assert client.get(f"/recipes/{holder}").json()["claim"] is None
    without, unknown = (client.get(f"/claims/{number}") for number in (holder, 2**31 - 1))
    assert (without.status_code, unknown.status_code) == (404, 404)
    assert f"recipe {holder} has no claim" in without.json()["detail"]
    assert unknown.json()["detail"] == f"recipe {2**31 - 1}"


@pytest.mark.parametrize("query", [{"recipe_id": 0}, {"recipe_id": "x"}, {"owner": "bob"}])
def test_claims__faulty_parameter__is_refused(client: httpx.Client, query: dict[str, Any]) -> None:
    answer = client.get("/claims", params=query)
    assert answer.status_code == 422
    assert [error["where"] for error in answer.json()["errors"]] == list(query)


def test_claim__to_a_hidden_system__is_shown_to_those_who_may_view_it(
    client: httpx.Client, claimed: ClaimedMachine, people: People
) -> None:
    body = {"entries": [{"permission": permission, "user": "bob"} for permission in ("view", "submit")]}
    asked = after(client.put(f"/systems/{claimed.fqdn}/access-policy", json=body))
    seen = {}
    for who in ("alice", "bob", "carol", "east", "west"):
        listed = bool(rows_of(people[who], "claims", **asked))
        one = people[who].get(f"/claims/{claimed.recipe_id}", params=asked).status_code == 200
        of_recipe = people[who].get(f"/recipes/{claimed.recipe_id}", params=asked).json()["claim"] is not None
        seen[who] = listed, one, of_recipe
    everything, nothing = (True,) * 3, (False,) * 3
    assert seen == {who: nothing if who in ("carol", "west") else everything for who in seen}


def test_queue_of_a_system__claimed__its_claimant_comes_first_also_page_by_page(
    client: httpx.Client, claimed: ClaimedMachine, people: People
) -> None:
    behind = submit(people["alice"], recipe_for(claimed.fqdn))
    change = {"priority": "Urgent"}
    assert people["alice"].patch(f"/recipe-sets/{behind['recipe_set_id']}", json=change).is_success
    in_state(people["alice"], behind["recipe_ids"][0], "queued")
    expected = [claimed.recipe_id, *behind["recipe_ids"]]
    try:
        whole = client.get("/queue", params={"system": claimed.fqdn}).json()["recipes"]
        assert [each["recipe_id"] for each in whole] == expected
        first = client.get("/queue", params={"system": claimed.fqdn, "limit": 1}).json()
        second = client.get(first["next"]).json()
        assert [each["recipe_id"] for page in (first, second) for each in page["recipes"]] == expected
        explained = client.get(f"/recipes/{expected[1]}/explanation").json()["waiting"]
        (on_system,) = (each for each in explained["systems"] if each["fqdn"] == claimed.fqdn)
        assert f"claimed by recipe {claimed.recipe_id}" in on_system["reasons"]
        assert on_system["ahead"][0]["recipe_id"] == claimed.recipe_id
    finally:
        cancel_set(people["alice"], behind)
