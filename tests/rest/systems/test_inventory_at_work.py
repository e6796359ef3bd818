"""/inventory: recipes and recipe sets whose systems an import changes."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from tests.harness.running import Running
from tests.rest.actions import WEST, by_people, cancel_set, in_one_commit, in_state, recipe_for, start, submit
from tests.rest.systems.inventories import counts, take


def test_import__conditions_of_systems_at_work__recipes_end_as_by_single_changes(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    first, second, spare = machines(), machines(), machines()
    recipes = submit(client, recipe_for(first), recipe_for(second))["recipe_ids"]
    start(client, recipes[0])
    broken = [{"fqdn": fqdn, "condition": "Broken"} for fqdn in (first, second)]
    answer = take(client, *broken, {"fqdn": spare, "location": "there"})
    assert counts(answer) == (0, 3, 0)
    assert in_one_commit(service, answer) == [
        (f"system/{first}", "system.condition-changed"),
        (f"recipe/{recipes[0]}", "recipe.aborted"),
        (f"system/{first}", "system.idle"),
        (f"system/{second}", "system.condition-changed"),
        (f"recipe/{recipes[1]}", "recipe.aborted"),
        (f"system/{second}", "system.idle"),
        (f"system/{spare}", "system.inventory-changed"),
    ]


def test_import__two_systems_of_a_set_that_waits_for_a_third__each_seen_as_the_one_before_left_it(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    first, second, busy = machines(), machines(), machines()
    in_state(client, submit(client, recipe_for(busy))["recipe_ids"][0], "waiting")
    submitted = submit(client, *map(recipe_for, (first, second, busy)))
    recipes = submitted["recipe_ids"]
    for recipe_id in recipes[:2]:
        in_state(client, recipe_id, "scheduled")
    answer = take(client, *({"fqdn": fqdn, "condition": "Broken"} for fqdn in (first, second)))
    cancel_set(client, submitted)
    events = in_one_commit(service, answer)
    assert events[:3] == [
        (f"system/{first}", "system.condition-changed"),
        (f"recipe/{recipes[0]}", "recipe.assigned"),
        (f"system/{first}", "system.idle"),
    ]
    assert sorted(events[3:]) == sorted(
        [
            (f"system/{second}", "system.condition-changed"),
            *((f"recipe/{recipe_id}", "recipe.queued") for recipe_id in recipes),
            (f"system/{second}", "system.idle"),
        ]
    )


def test_import__lab_of_a_system_at_work__409_and_nothing_stored(
    client: httpx.Client, machines: Callable[..., str], service: Running
) -> None:
    busy, idle = machines(), machines()
    start(client, submit(client, recipe_for(busy))["recipe_ids"][0])
    before = service.end()
    answer = take(client, {"fqdn": idle, "vendor": "x"}, {"fqdn": busy, "lab_controller": WEST})
    assert answer.status_code == 409 and busy in answer.json()["detail"]
    assert by_people(service, before) == []
