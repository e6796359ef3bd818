"""Small labs, and helpers to occupy systems and free them in a chosen order."""

from __future__ import annotations

from collections.abc import Sequence

from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World


def one_lab(rules: Sequence[TriggerRule] = TRIGGER_RULES) -> World:
    """Return a world with one lab and one tree, and no system."""
    world = World(rules=rules)
    world.add_lab("lab-1")
    world.put_tree(1, "x86_64", ["lab-1"])
    return world


def occupy(world: World, *fqdns: str) -> dict[str, int]:
    """Run a recipe on each of these systems that fits only there; return the recipes by system."""
    running = {fqdn: world.submit(named(fqdn), priority="Urgent") for fqdn in fqdns}
    world.settle()
    assert {fqdn: world.system_of(recipe_id) for fqdn, recipe_id in running.items()} == {n: n for n in fqdns}
    return running


def finish(world: World, *recipe_ids: int) -> None:
    """Complete recipes one after another, and settle after each."""
    for recipe_id in recipe_ids:
        world.complete(recipe_id)
        world.settle()


def wanting(world: World, *wants: str, priority: str = "Normal") -> tuple[int, ...]:
    """Submit a set whose recipes want these systems, each given by its letters."""
    ids = world.submit_set([named(*want) for want in wants], priority=priority)
    world.settle()
    return ids
