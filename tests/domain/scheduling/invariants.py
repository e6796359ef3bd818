"""What must be true of a world at every moment, asked of its plain dictionaries."""

from __future__ import annotations

from collections import Counter

from domain.recipe.lifecycle import FINISHED
from domain.scheduling.decide import Decision
from tests.domain.scheduling.reference import could_use, rank, triggers
from tests.domain.scheduling.world import World

# Recipe and system move together; reserved recipes keep their system running.
USAGE_OF_STATE = {
    "scheduled": "scheduled",
    "waiting": "waiting",
    "installing": "installing",
    "running": "running",
    "reserved": "running",
}


def nobody_double_booked(world: World) -> None:
    holders = Counter(recipe.system for recipe in world.placed())
    assert all(count == 1 for count in holders.values()), f"on one system: {holders}"


def in_step(world: World) -> None:
    for recipe in world.recipes.values():
        if recipe.system is None or recipe.state in FINISHED:
            continue
        system = world.systems[recipe.system]
        expected = USAGE_OF_STATE[recipe.state], recipe.recipe_id
        assert (system.usage, system.recipe_id) == expected, f"{recipe.subject} and {system.subject}"
    held = {recipe.system for recipe in world.placed()}
    for system in world.systems.values():
        assert (system.recipe_id is not None) == (system.fqdn in held), f"{system.subject} is left over"


def nobody_starves_an_idle_system(world: World) -> None:
    """When everything is answered, no queued recipe could use an idle system."""
    if triggers(world):
        return
    for system in world.systems.values():
        if system.usage == "idle":
            wanting = [r.subject for r in world.in_state("queued") if could_use(world, r, system)]
            assert not wanting, f"{system.subject} is idle, and {wanting} could use it"


def nobody_jumped(world: World, decision: Decision) -> None:
    """Before the decision is in the log: nobody who stands before the winner could use the system."""
    granted = [event.recipe_id for _, event in decision.events if event.TOPIC == "system.scheduled"]  # type: ignore[attr-defined]
    if not granted:
        return
    winner = world.recipes[granted[0]]
    system = world.systems[decision.events[1][0].removeprefix("system/")]
    before = [
        recipe.subject
        for recipe in world.in_state("queued")
        if rank(recipe) < rank(winner) and could_use(world, recipe, system)
    ]
    assert not before, f"{winner.subject} went before {before}"
