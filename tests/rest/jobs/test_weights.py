"""Weights: the dry run of POST /weights, and those of waiting recipes and sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.rest.actions import People, in_state, recipe_for, submit


def test_weights__locks_beside_placed_recipes__answers_weight_and_cells(client: httpx.Client) -> None:
    question = {
        "locks": {"network": {"Exclusive": ["b"]}, "Node": ["AllShared", {"Exclusive": ["x"]}]},
        "running": [{"network": {"Shared": ["a", "b"]}}, {"system": {"Shared": ["y"]}}],
        "whole_lab": False,
        "base_value": 1,
        "age_ticks": 15,
        "coefficient": 30,
    }
    answer = client.post("/weights", json=question)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert int(answer.headers["Labledger-Position"]) == body.pop("position")
    cells = {"pool": 0, "guest": 0, "system": 0.5, "system_resource": 0, "network": 3}
    assert body == {"weight": 2.25, "static_weight": 4.5, "cells": cells}


def test_weights__faulty__names_every_place(client: httpx.Client) -> None:
    question = {"locks": {"rack": "None"}, "running": [{"pool": "Shared"}], "coefficient": 0, "age": 1}
    answer = client.post("/weights", json=question)
    assert answer.status_code == 422
    places = {fault["where"] for fault in answer.json()["errors"]}
    assert places == {"locks.rack", "running[0].pool", "coefficient", "age"}
    assert (
        client.post("/weights", content=b"{", headers={"Content-Type": "application/json"}).status_code == 400
    )
    assert client.post("/weights", content=b"<locks/>").status_code == 415


def test_weights__submitter__may_ask(people: People) -> None:
    assert people["bob"].post("/weights", json={}).json()["weight"] == 1


@pytest.fixture
def contended(client: httpx.Client, machines: Callable[..., str]) -> Iterator[list[dict[str, Any]]]:
    """Yield three jobs: the first runs with vlan-7, the second waits and wants it, too, the third waits."""
    one, other = machines(), machines()
    jobs = [submit(client, {**recipe_for(one), "locks": VLAN}), submit(client, recipe_for(other))]
    for job in jobs:
        in_state(client, job["recipe_ids"][0], "waiting")
    jobs += [submit(client, {**recipe_for(other), "locks": VLAN}), submit(client, recipe_for(other))]
    for job in jobs[2:]:
        in_state(client, job["recipe_ids"][0], "queued")
    yield [jobs[0], *jobs[2:]]
    for job in jobs:
        client.post(f"/jobs/{job['job_id']}/cancel", json={"reason": "the test is over"})


VLAN = {"network": {"Exclusive": ["vlan-7"]}}
NO_CELLS = {"pool": 0, "guest": 0, "system": 0, "system_resource": 0, "network": 0}


def test_queue__sets_with_and_without_locks__have_weights(
    client: httpx.Client, contended: list[dict[str, Any]]
) -> None:
    _, wants, free = (job["recipe_ids"][0] for job in contended)
    queue = client.get("/queue", params={"limit": 1000}).json()
    found = {row["recipe_id"]: row["weight"] for row in queue["recipes"]}
    assert 3.5 < found[wants] <= 4
    assert 0.8 < found[free] <= 1
    # At a position, both are weighed when it was recorded; a later time is the present.
    past = client.get("/queue", params={"limit": 1000, "as_of": queue["position"]}).json()
    assert {
        row["recipe_id"]: row["weight"] for row in past["recipes"] if row["recipe_id"] in (wants, free)
    } == {
        wants: 4,
        free: 1,
    }


def test_recipe_set__waits_for_a_contended_lock__shows_locks_weight_and_recipe(
    client: httpx.Client, contended: list[dict[str, Any]]
) -> None:
    runs, wants, free = (client.get(f"/recipe-sets/{job['recipe_set_id']}").json() for job in contended)
    assert wants["locks"] == {"declared": VLAN, "held": None}
    assert 3.5 < wants["weight"] <= wants["static_weight"] == 4
    assert wants["ticks"] in (0, 1, 2)
    assert wants["cells"] == {**NO_CELLS, "network": 3}
    assert wants["worst_recipes"] == {**dict.fromkeys(NO_CELLS), "network": contended[0]["recipe_ids"][0]}
    assert free["locks"] == {"declared": {}, "held": None}
    assert (free["static_weight"], free["cells"]) == (1, NO_CELLS)
    assert free["worst_recipes"] == dict.fromkeys(NO_CELLS)
    assert runs["locks"]["declared"] == VLAN
    assert runs["locks"]["held"] is not None
    assert [runs[name] for name in ("weight", "static_weight", "ticks", "cells", "worst_recipes")] == [
        None
    ] * 5


def test_weight__of_one_set__is_the_same_in_queue_set_and_explanation(
    client: httpx.Client, contended: list[dict[str, Any]]
) -> None:
    _, wants, _ = contended
    recipe_id = wants["recipe_ids"][0]
    at = {"as_of": client.get(f"/recipes/{recipe_id}").json()["position"]}
    queue = client.get("/queue", params=at).json()["recipes"]
    shown = {
        *(row["weight"] for row in queue if row["recipe_id"] == recipe_id),
        client.get(f"/recipe-sets/{wants['recipe_set_id']}", params=at).json()["weight"],
        client.get(f"/recipes/{recipe_id}/explanation", params=at).json()["waiting"]["weight"],
    }
    assert len(shown) == 1
