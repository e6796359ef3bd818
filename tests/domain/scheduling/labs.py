"""Labs to begin with; those in which everything runs, so that a test says in which order things come free."""

from __future__ import annotations

from collections.abc import Sequence

from domain.scheduling.world.wake_ups import TRIGGER_RULES, TriggerRule
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World


def one_lab(rules: Sequence[TriggerRule] = TRIGGER_RULES) -> World:
    """One lab with one tree, and no system yet."""
    world = World(rules=rules)
    world.add_lab("lab-1")
    world.put_tree(1, "x86_64", ["lab-1"])
    return world


def occupy(world: World, *fqdns: str) -> dict[str, int]:
    """Each of these systems runs a recipe that no other could run; which."""
    running = {fqdn: world.submit(named(fqdn), priority="Urgent") for fqdn in fqdns}
    world.settle()
    assert {fqdn: world.system_of(recipe_id) for fqdn, recipe_id in running.items()} == {n: n for n in fqdns}
    return running


def finish(world: World, *recipe_ids: int) -> None:
    """They end one after another, and what comes of each is settled."""
    for recipe_id in recipe_ids:
        world.complete(recipe_id)
        world.settle()


def wanting(world: World, *wants: str, priority: str = "Normal") -> tuple[int, ...]:
    """A set whose recipes want these systems, each named by its letters."""
    ids = world.submit_set([named(*want) for want in wants], priority=priority)
    world.settle()
    return ids
