"""/recipes/{id}/estimate and /waits: the compared kind of recipes, recipes without a wait, and sums."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from api.rest.cached_waits import CachedWaits, RecentWaits
from api.rest.estimates import NewRecipe, estimates_of_new, estimates_of_waiting
from api.rest.resources.estimates import estimate_of_recipe
from api.rest.views import View
from domain.errors import Unknown
from domain.estimates.estimate import MIN_RECIPES
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
    (found,) = await estimates_of_new(
        parts, view.at, [NewRecipe(1, priority, wait_properties(requirement, ""))]
    )
    return found


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
    assert "with 39 ahead in the queue, more than one of ten would wait more than" in found["summary"]


def test_estimate__new_recipe_behind_others__is_not_said_to_be_a_wait_that_was_observed(
    models: ProjectedLog, database: TestDatabase
) -> None:
    # Too few starts for a p90, and no wait has lasted longer than 1,000 s.
    start_after(models, 500.0, recipes=40, last=36)
    found = ask(database, of_new_recipe, Priority.Normal, host(1).host_requires)
    assert found["more_than_seconds"] > 1_000.0 and found["ahead"] > 0
    assert f"with {found['ahead']} ahead in the queue, more than " in found["summary"]
    assert "would wait more than" in found["summary"]


async def of_queue(parts: Any, view: View, recipe_ids: list[int]) -> dict[int, Any]:
    rows = await parts.reader.rows("waits_of_recipes", {"at": view.position, "recipe_ids": recipe_ids})
    return await estimates_of_waiting(parts, view.at, CachedWaits(view.position, NOW), rows)


def test_estimates__of_a_queue__are_nearly_those_of_each_recipe(
    models: ProjectedLog, database: TestDatabase
) -> None:
    start_after(models, 200.0, recipes=200, last=60)
    numbers = [141, 170, 200]
    estimates: dict[int, Any] = ask(database, of_queue, numbers)  # type: ignore[assignment]
    assert list(estimates) == numbers
    for number in numbers:
        # In a queue, the wait of the recipe itself is compared, too.
        single, found = ask(database, estimate_of_recipe, number), estimates[number]
        assert found["p50_seconds"] == pytest.approx(single["p50_seconds"], rel=0.05)
        assert found["basis"]["recipes"] - single["basis"]["recipes"] in (0, 1)


def test_recent_waits__of_the_present__are_reused_for_a_while() -> None:
    recent, later = RecentWaits(), NOW + timedelta(seconds=29)
    first = recent.cached(At(5), NOW, is_past=False)
    assert recent.cached(At(9), later, is_past=False) is first
    assert recent.cached(At(4), later, is_past=True).position == 4
    assert recent.cached(At(9), later, is_past=False) is first
    # The read models were rebuilt, the time is over, or there are too many.
    assert recent.cached(At(4), later, is_past=False).position == 4
    assert recent.cached(At(9), later + timedelta(seconds=30), is_past=False).position == 9
    last = recent.cached(At(9), later + timedelta(seconds=31), is_past=False)
    last.size = 200_001
    assert recent.cached(At(9), later + timedelta(seconds=32), is_past=False) is not last


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


def waiting_rows(found: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {row["recipe_id"]: row["estimate"] for row in found["recipes"]}


def test_queue__with_estimates__has_those_of_the_recipes(client: httpx.Client, machine: str) -> None:
    jobs = [submit(client, recipe_for(machine)) for _ in range(3)]
    running, *numbers = [number for job in jobs for number in job["recipe_ids"]]
    in_state(client, running, "waiting")
    for number in numbers:
        in_state(client, number, "queued")
    asked = {"estimates": True, "limit": 1000}
    found = client.get("/queue", params=asked).json()
    estimates = waiting_rows(found)
    assert set(numbers) <= set(estimates)
    # One position for all, of waits that several reads share.
    (position,) = {each["position"] for each in estimates.values()}
    again = client.get("/queue", params={**asked, "min_position": found["position"]}).json()
    assert {each["position"] for each in waiting_rows(again).values()} == {position}
    then = client.get("/queue", params={**asked, "as_of": found["position"]}).json()
    for number, estimate in waiting_rows(then).items():
        single = client.get(f"/recipes/{number}/estimate", params={"as_of": found["position"]}).json()
        assert estimate["position"] == found["position"]
        for name in ("waited_seconds", "ahead"):
            assert single[name] == estimate[name]
        # The queue merges waits of similar length, including the recipe's own. If a kind has only just
        # MIN_RECIPES, the queue may therefore choose it where the single read does not.
        spare = estimate["basis"]["recipes"] - MIN_RECIPES
        if not 0 <= spare < len(waiting_rows(then)):
            assert single["basis"]["kind"] == estimate["basis"]["kind"]
    of_system = client.get("/queue", params={**asked, "system": machine}).json()
    assert set(waiting_rows(of_system)) == set(numbers)
    assert None not in waiting_rows(of_system).values()
    assert set(waiting_rows(client.get("/queue").json()).values()) == {None}
    for job in reversed(jobs):
        cancel_set(client, job)


def test_matches__of_a_job__estimates_are_those_of_its_recipes(client: httpx.Client, machine: str) -> None:
    job = {"recipe_sets": [{"recipes": [recipe_for(machine)], "priority": "High"}]}
    (before,) = client.post("/matches", json=job).json()["recipes"]
    made = client.post("/jobs", json=job).json()
    then = client.get(f"/recipes/{made['recipe_ids'][0]}/estimate", params={"as_of": made["position"]}).json()
    assert (then["waited_seconds"], then["ahead"]) == (0.0, before["estimate"]["ahead"])
    assert then["basis"]["kind"] == before["estimate"]["basis"]["kind"]
    assert then["basis"]["started"] == before["estimate"]["basis"]["started"]
    client.post(f"/jobs/{made['job_id']}/cancel", json={"reason": "the test is over"})
    (alone,) = client.post("/matches", json={"host_requires_xml": "<hostRequires/>"}).json()["recipes"]
    assert alone["estimate"] is None


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
