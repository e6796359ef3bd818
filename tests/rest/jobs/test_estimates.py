"""/recipes/{id}/estimate and /waits: the compared kind of recipes, recipes without a wait, and sums."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from api.rest.resources.estimates import estimate_of, estimate_of_recipe, new_recipe
from api.rest.views import View
from domain.errors import Unknown
from domain.estimates.kinds import wait_properties
from domain.priority import Priority
from projections.reader import At, Reader, ReadProgress
from store.datastore import SERVICE_ROLE
from tests.harness.databases import TestDatabase
from tests.projections.happened import guest, host, submitted, waiting
from tests.projections.happened import scheduled as granted
from tests.projections.projected_log import ProjectedLog, projected_log
from tests.projections.timed_commits import BEGINNING, commit_at
from tests.rest.actions import cancel_set, finish, in_state, recipe_for, start, submit

ARM = '{"element":"arch","op":"==","value":"aarch64"}'
NOW = BEGINNING + timedelta(seconds=1_000)


@pytest.fixture
def models(database: TestDatabase) -> Iterator[ProjectedLog]:
    with projected_log(database) as models:
        yield models


def start_after(models: ProjectedLog, seconds: float, *, recipes: int, last: int, **fields: Any) -> None:
    """Submit recipes, and start all but the last ones after some seconds."""
    numbers = range(1, recipes + 1)
    starts = numbers[: recipes - last]
    commit_at(
        models,
        [
            (0.0, submitted(*(host(number, **fields) for number in numbers))),
            *((seconds + number, [*granted("a", number), *waiting("a", number)]) for number in starts),
        ],
    )


def ask(database: TestDatabase, question: Callable[..., Any], *asked: Any, at: int = 10**9) -> dict[str, Any]:
    """Return the answer of a function of a view, at a moment of the tests."""

    async def answer() -> Any:
        reader = Reader(database.service_url, SERVICE_ROLE, 1, ReadProgress())
        await reader.open()
        try:
            parts: Any = SimpleNamespace(reader=reader, clock=lambda: NOW)
            view = View(None, At(at), frozenset(), False, None)  # type: ignore[arg-type]
            return await question(parts, view, *asked)
        finally:
            await reader.close()

    found: dict[str, Any] = asyncio.run(answer())
    return found


async def of_new_recipe(parts: Any, view: View, priority: Priority, requirement: str) -> dict[str, Any]:
    recipe = await new_recipe(parts, view, 1, priority, wait_properties(requirement, ""))
    return await estimate_of(parts, view, recipe)


@pytest.mark.parametrize(
    ("recipes", "kind"), [(30, "requirement and priority"), (29, "partition")], ids=["enough", "one too few"]
)
def test_estimate__recipes_of_a_kind__enough_or_a_wider_kind(
    models: ProjectedLog, database: TestDatabase, recipes: int, kind: str
) -> None:
    start_after(models, 60.0, recipes=recipes, last=0)
    found = ask(database, of_new_recipe, Priority.Normal, host(1).host_requires)
    assert (found["basis"]["kind"], found["basis"]["recipes"], found["ahead"]) == (kind, recipes, 0)
    assert found["p50_seconds"] is not None
    assert found["summary"].startswith("half of comparable recipes start within ")


@pytest.mark.parametrize(
    ("priority", "requirement", "kind"),
    [
        (Priority.Normal, "same", "requirement and priority"),
        # As many recipes as with its priority, but they need the same machines.
        (Priority.High, "same", "requirement"),
        (Priority.Normal, "other", "architecture and priority"),
        (Priority.Normal, ARM, "priority"),
        (Priority.High, ARM, "partition"),
    ],
)
def test_estimate__new_recipe__is_of_the_narrowest_kind(
    models: ProjectedLog, database: TestDatabase, priority: Priority, requirement: str, kind: str
) -> None:
    start_after(models, 60.0, recipes=40, last=0)
    requirements = {"same": host(1).host_requires, "other": '{"element":"memory","op":">","value":1}'}
    found = ask(database, of_new_recipe, priority, requirements.get(requirement, requirement))
    assert found["basis"]["kind"] == kind


def test_estimate__waiting_recipe__counts_its_wait_and_those_that_still_wait(
    models: ProjectedLog, database: TestDatabase
) -> None:
    start_after(models, 2_000.0, recipes=40, last=35)
    found = ask(database, estimate_of_recipe, 40)
    assert (found["waited_seconds"], found["ahead"]) == (1_000.0, 39)
    # Recipes 6 to 39 still wait; those before them have waited more for each place.
    assert (found["basis"]["started"], found["basis"]["waiting"]) == (5, 34)
    assert found["p90_seconds"] is None
    assert found["more_than_seconds"] > 0
    assert "more than" in found["summary"]


def test_estimate__as_of_before_any_start__says_nothing_of_later(
    models: ProjectedLog, database: TestDatabase
) -> None:
    start_after(models, 60.0, recipes=40, last=1)
    then = ask(database, estimate_of_recipe, 5, at=42)
    assert (then["basis"]["started"], then["state"]) == (0, "new")
    assert ask(database, estimate_of_recipe, 5)["summary"] == "the recipe has started"


def test_estimate__guest__is_that_of_its_host(models: ProjectedLog, database: TestDatabase) -> None:
    models.commit(*submitted(host(1), guest(2, host_id=1)))
    hosts, guests = (ask(database, estimate_of_recipe, number) for number in (1, 2))
    assert {**hosts, "recipe_id": 2} == guests


def test_estimate__nothing_to_compare__says_so(models: ProjectedLog, database: TestDatabase) -> None:
    models.commit(*submitted(host(1)))
    found = ask(database, estimate_of_recipe, 1)
    assert found["basis"]["words"].startswith("no recipe of the partition")
    assert found["summary"] == "there is no recipe to compare this one with"
    with pytest.raises(Unknown):
        ask(database, estimate_of_recipe, 2)


def test_estimate_and_waits__of_the_service__answer_as_declared(client: httpx.Client, machine: str) -> None:
    running = submit(client, recipe_for(machine))
    (first,) = running["recipe_ids"]
    tasks = start(client, first)
    waiting_job = submit(client, recipe_for(machine))
    (second,) = waiting_job["recipe_ids"]
    in_state(client, second, "queued")
    found = client.get(f"/recipes/{second}/estimate").json()
    assert (found["recipe_id"], found["state"]) == (second, "queued")
    assert found["waited_seconds"] > 0
    assert client.get(f"/recipes/{first}/estimate").json()["summary"] == "the recipe has started"
    cancel_set(client, waiting_job)
    in_state(client, second, "cancelled")
    assert client.get(f"/recipes/{second}/estimate").json()["basis"] is None
    assert client.get("/recipes/999999/estimate").status_code == 404
    finish(client, first, tasks)

    sums = {}
    for by in ("priority", "group", "requirement"):
        groups = client.get("/waits", params={"by": by}).json()["groups"]
        assert all(group["recipes"] == sum(group["buckets"]) for group in groups)
        sums[by] = sum(group["recipes"] for group in groups)
    assert set(sums.values()) == {sums["priority"]}
    assert sums["priority"] >= 1
    paged, path = [], "/waits?by=requirement&limit=1"
    while path is not None:
        page = client.get(path).json()
        paged += page["groups"]
        path = page["next"]
    assert sum(group["recipes"] for group in paged) == sums["requirement"]
    assert client.get("/waits", params={"by": "system"}).status_code == 422
