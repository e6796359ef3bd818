"""Histories of labs with idle systems, where most sets wait for the same few resource locks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

from domain.errors import Refused
from domain.priority import Priority
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World

LABS = ("lab-1", "lab-2")
POOLS = ("net", "gpu")
SYSTEMS = 12
ONE_NAME: tuple[Any, ...] = (
    *({mode: [name]} for mode in ("Shared", "Exclusive") for name in ("x", "y", "z")),
    *("UnknownShared", "UnknownExclusive", {"Exclusive": ["x", "y"]}),
)
DECLARED: tuple[dict[str, Any], ...] = (
    *({"network": form} for form in ONE_NAME),
    *(
        {"network": {"Exclusive": ["x"]}, "system": {"Exclusive": ["$system"]}},
        {"pool": {"Exclusive": ["$pools"]}},
    ),
    *({"whole_lab": True}, {}),
)


def contend(seed: int, bursts: int, limit: int) -> World:
    """Return a world after bursts of actions, each answered completely, with `limit` decisions per commit."""
    chance, world = Random(seed), World()
    for lab in LABS:
        world.add_lab(lab)
    world.put_tree(1, "x86_64", LABS)
    for number in range(SYSTEMS):
        pools = [pool for pool in POOLS if chance.random() < 0.5]
        world.add_system(f"m{number}", LABS[number % 2], "Automated", pools, arches=["x86_64"])
    world.configure(locks={"most_overtaken": chance.choice((0, 1, 2, 8))})
    world.settle(limit)
    acts, frequencies = zip(*ACTS, strict=True)
    for _ in range(bursts):
        for act in chance.choices(acts, frequencies, k=chance.randrange(1, 6)):
            # A refused action has no effect.
            with suppress(Refused):
                act(chance, world)
        world.settle(limit)
    return world


def _submit(chance: Random, world: World) -> None:
    start = chance.randrange(SYSTEMS)
    count = chance.choice((1, 1, 1, 2, 3))
    # The systems of one lab, in any order.
    hosts = [named(*(f"m{(start + 2 * step) % SYSTEMS}" for step in range(4))) for _ in range(count)]
    world.submit_set(
        hosts,
        priority=chance.choice(list(Priority)).name,
        guests={0: [1]} if chance.random() < 0.1 else {},
        locks=chance.choice(DECLARED),
    )


def _end(chance: Random, world: World) -> None:
    if started := [recipe for recipe in world.recipes.values() if recipe.started and not recipe.is_guest]:
        chance.choice((world.complete, world.abort))(chance.choice(started).recipe_id)


def _of_a_waiting_recipe(act: Callable[[Random, World, Any], None]) -> Callable[[Random, World], None]:
    def of_one(chance: Random, world: World) -> None:
        waiting = [recipe for recipe in world.recipes.values() if recipe.awaits_locks and not recipe.is_guest]
        if waiting:
            act(chance, world, chance.choice(waiting))

    return of_one


def _break(_: Random, world: World, recipe: Any) -> None:
    world.set_condition(recipe.system, "Broken")


def _mend(_: Random, world: World) -> None:
    for fqdn, system in world.systems.items():
        if system.condition == "Broken":
            world.set_condition(fqdn, "Automated")


def _prioritise(chance: Random, world: World, recipe: Any) -> None:
    world.change_priority(recipe.recipe_id, chance.choice(list(Priority)).name)


def _cancel(_: Random, world: World, recipe: Any) -> None:
    world.cancel(recipe.recipe_id)


def _drain(chance: Random, world: World) -> None:
    fqdn = chance.choice(list(world.systems))
    chance.choice((world.drain, world.undrain, world.undrain))(fqdn)


def _change_pool(chance: Random, world: World) -> None:
    pool, fqdn = chance.choice(POOLS), chance.choice(list(world.systems))
    world.set_pool(pool, fqdn, not world.directory.pool_has(pool, fqdn))


def _bound(chance: Random, world: World) -> None:
    world.configure(locks={"most_overtaken": chance.choice((0, 1, 2, 8))})


def _narrow(chance: Random, world: World) -> None:
    if started := [recipe for recipe in world.recipes.values() if recipe.started and recipe.held]:
        world.narrow(chance.choice(started).recipe_id, {})


ACTS: tuple[tuple[Callable[[Random, World], None], int], ...] = (
    (_submit, 30),
    (_end, 20),
    (_narrow, 4),
    (_of_a_waiting_recipe(_break), 2),
    (_mend, 6),
    (_of_a_waiting_recipe(_prioritise), 4),
    (_of_a_waiting_recipe(_cancel), 2),
    (_drain, 3),
    (_change_pool, 3),
    (_bound, 1),
)
