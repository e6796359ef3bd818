"""Histories in which recipes claim busy systems by force and by age, beside limits, queues and access."""

from __future__ import annotations

from random import Random

from domain.admission.configuration import ALWAYS, WITHIN_PRIORITY
from domain.priority import Priority
from tests.domain.scheduling.consistency_loop import tick
from tests.domain.scheduling.history import EVERYTHING, QUEUED, Acts, begin, burst
from tests.domain.scheduling.host_requirements import forces, named
from tests.domain.scheduling.world import World


def claim(seed: int, bursts: int, acts: Acts) -> World:
    """Return a world after bursts of actions, each answered completely and followed by the loop."""
    chance, world = Random(seed), begin(seed)
    _configure_claims(chance, world)
    for _ in range(bursts):
        burst(chance, world, acts)
        world.settle((1, 3, 500)[seed % 3])
        tick(world, chance.choice((1, 29, 30, 300)))
    return world


def _submit_forcing(chance: Random, world: World) -> None:
    hosts = [_forcing(chance, world) for _ in range(chance.choice((1, 1, 2)))]
    world.submit_set(hosts, priority=chance.choice(list(Priority)).name, owner=chance.choice(("ada", "eve")))


def _forcing(chance: Random, world: World) -> str:
    systems = [chance.choice(list(world.systems)) for _ in range(2)]
    return forces(systems[0]) if chance.random() < 0.5 else named(*systems)


def _change_forced(chance: Random, world: World) -> None:
    waiting = [
        each for each in world.recipes.values() if each.state in ("queued", "assigned") and not each.is_guest
    ]
    if waiting:
        recipe_id = chance.choice(waiting).recipe_id
        world.change_recipe(recipe_id, host_requires=_forcing(chance, world))


def _configure_claims(chance: Random, world: World) -> None:
    world.configure(
        claims={"after_ticks": chance.choice((None, 0, 1, 2)), "for_ticks": chance.choice((1, 2, 120))},
        limits={"placed_recipes": chance.choice((None, None, 3, 6))},
        order={"assigned_first": chance.choice((WITHIN_PRIORITY, ALWAYS))},
    )


_CLAIMING: Acts = ((_submit_forcing, 60), (_change_forced, 15), (_configure_claims, 8))
CLAIMING: Acts = (*EVERYTHING, *_CLAIMING)
CLAIMING_IN_QUEUES: Acts = (*QUEUED, *_CLAIMING)
