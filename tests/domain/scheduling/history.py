"""Long random histories from one seed; `python -m tests.domain.scheduling.history` prints their digests.

A digest covers every event of the log, including decisions. So two processes that print the same digests made
the same decisions, whatever their PYTHONHASHSEED.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random

from domain.access.policy import Form
from domain.errors import Refused
from domain.events import data_of
from domain.priority import Priority
from domain.scheduling.bitsets.bitmaps import numbers_in
from domain.scheduling.supply.labs import Labs
from tests.domain.scheduling.host_requirements import ALL, forces, named
from tests.domain.scheduling.policies import everybody, group, user
from tests.domain.scheduling.world import World

LABS = ("lab-1", "lab-2", "lab-3")
POOLS = ("net", "gpu")
GROUPS = ("qe", "virt")
PEOPLE = ("ada", "eve", "bob")

Acts = tuple[tuple[Callable[[Random, World], None], int], ...]
"""Actions with their frequencies."""


def live(seed: int, bursts: int, limit: int, acts: Acts = ()) -> World:
    """Return a world after bursts of actions, each answered completely, with `limit` decisions per commit."""
    chance, world = Random(seed), begin(seed)
    for _ in range(bursts):
        burst(chance, world, acts)
        world.settle(limit)
    return world


def begin(seed: int) -> World:
    """Return a world with three labs, one possibly disabled, two trees and a few systems."""
    chance, world = Random(seed), World()
    for lab in LABS:
        world.add_lab(lab, enabled=lab != "lab-3" or chance.random() < 0.5)
    world.put_tree(1, "x86_64", LABS)
    world.put_tree(2, "aarch64", LABS[:2])
    for _ in range(4):
        _register(chance, world)
    return world


def burst(chance: Random, world: World, acts: Acts = ()) -> None:
    chosen, weights = zip(*(acts or ACTS), strict=True)
    for act in chance.choices(chosen, weights, k=chance.randrange(1, 8)):
        # A refused action has no effect.
        with suppress(Refused):
            act(chance, world)


def _register(chance: Random, world: World) -> None:
    if len(world.systems) >= 16:
        return
    world.add_system(
        f"m{chance.randrange(10**6)}-{len(world.systems)}",
        chance.choice(LABS),
        chance.choice(("Automated", "Automated", "Automated", "Broken")),
        [pool for pool in POOLS if chance.random() < 0.5],
        arches=chance.sample(("x86_64", "aarch64"), chance.randrange(1, 3)),
        memory_mb=chance.choice((1024, 16384)),
    )


def _submit(
    chance: Random, world: World, people: Sequence[str] = PEOPLE[:2], group: str | None = None
) -> None:
    count = chance.choice((1, 1, 2, 2, 3))
    world.submit_set(
        [_want(chance, world) for _ in range(count)],
        chance.choice((1, 1, 2)),
        chance.choice(list(Priority)).name,
        {place: [chance.choice((1, 2))] for place in range(count) if chance.random() < 0.2},
        owner=chance.choice(people),
        group=group,
        autopick_random=chance.random() < 0.2,
        autopick_pools=chance.sample(POOLS, chance.randrange(3)),
    )


def _want(chance: Random, world: World) -> str:
    if chance.random() < 0.1:
        return forces(_any_system(chance, world))
    if chance.random() < 0.3:
        return named(*(_any_system(chance, world) for _ in range(3)))
    return chance.choice(ALL).text


def _any_system(chance: Random, world: World) -> str:
    return chance.choice(list(world.systems))


def _end(chance: Random, world: World) -> None:
    if started := world.in_state("waiting", "installing", "running"):
        hosts = [recipe.recipe_id for recipe in started if not recipe.is_guest]
        chance.choice((world.complete, world.complete, world.abort))(chance.choice(hosts))


def _cancel(chance: Random, world: World) -> None:
    if unfinished := [recipe for recipe in world.recipes.values() if not recipe.finished]:
        world.cancel(chance.choice(unfinished).recipe_id)


def _change_priority(chance: Random, world: World) -> None:
    if waiting := world.in_state("new", "queued", "assigned"):
        world.change_priority(chance.choice(waiting).recipe_id, chance.choice(list(Priority)).name)


def _condition(chance: Random, world: World) -> None:
    condition = chance.choice(("Automated", "Automated", "Automated", "Manual", "Broken", "Removed"))
    world.set_condition(_any_system(chance, world), condition)


def _of_one_system(act: Callable[[World, str], None]) -> Callable[[Random, World], None]:
    return lambda chance, world: act(world, _any_system(chance, world))


def _change_pool(chance: Random, world: World) -> None:
    pool, fqdn = chance.choice(POOLS), _any_system(chance, world)
    world.set_pool(pool, fqdn, not world.directory.pool_has(pool, fqdn))


def _describe(chance: Random, world: World) -> None:
    world.describe(_any_system(chance, world), memory_mb=chance.choice((1024, 16384)))


def _move(chance: Random, world: World) -> None:
    world.move(_any_system(chance, world), chance.choice(LABS))


def _change_tree(chance: Random, world: World) -> None:
    number = chance.choice((1, 2))
    world.put_tree(number, ("x86_64", "aarch64")[number - 1], chance.sample(LABS, chance.randrange(1, 4)))


def _switch_lab(chance: Random, world: World) -> None:
    lab, is_serving = chance.choice(LABS), chance.random() < 0.8
    if chance.random() < 0.5:
        world.enable(lab, is_serving)
    elif is_serving:
        world.hear(lab)
    else:
        world.fall_silent(lab)


def _submit_for_group(chance: Random, world: World) -> None:
    _submit(chance, world, PEOPLE, chance.choice(GROUPS))


def _change_group(chance: Random, world: World) -> None:
    name = chance.choice(GROUPS)
    if chance.random() < 0.1 and world.directory.get("group", name):
        world.remove_group(name)
    world.put_group(name, *chance.sample(PEOPLE, chance.randrange(len(PEOPLE) + 1)))


def _open_pool(chance: Random, world: World) -> None:
    world.open_pool(chance.choice(POOLS), *_entries(chance))


def _open_system(chance: Random, world: World) -> None:
    world.open_system(_any_system(chance, world), *_entries(chance))


def _entries(chance: Random) -> list[Form]:
    """Return policy entries: mostly everybody may submit, with different maxima."""
    maxima = [priority.name for priority in Priority]
    found = [group(name, chance.choice(maxima)) for name in GROUPS if chance.random() < 0.4]
    found += [user(name, chance.choice(maxima)) for name in PEOPLE if chance.random() < 0.1]
    return [*found, everybody(chance.choice(maxima))] if chance.random() < 0.9 else found


def _lend(chance: Random, world: World) -> None:
    fqdn = _any_system(chance, world)
    if world.systems[fqdn].loan is not None:
        world.end_loan(fqdn)
    elif chance.random() < 0.4:
        world.lend(fqdn, chance.choice(PEOPLE))


def _own(chance: Random, world: World) -> None:
    world.own(_any_system(chance, world), chance.choice(PEOPLE))


# Jobs, systems and labs.
ACTS: Acts = (
    (_submit, 30),
    (_end, 30),
    (_cancel, 4),
    (_change_priority, 2),
    (_register, 5),
    (_condition, 12),
    (_of_one_system(World.drain), 2),
    (_of_one_system(World.undrain), 4),
    (_of_one_system(World.reserve), 4),
    (_of_one_system(World.give_back), 6),
    (_change_pool, 4),
    (_describe, 4),
    (_move, 2),
    (_change_tree, 2),
    (_switch_lab, 2),
)
# These and changes of access.
EVERYTHING: Acts = (
    *ACTS,
    (_submit_for_group, 30),
    (_change_group, 3),
    (_open_pool, 3),
    (_open_system, 3),
    (_lend, 4),
    (_own, 2),
)


def digest(world: World) -> str:
    rows = [(row.position, row.subject, row.event.TOPIC, repr(data_of(row.event))) for row in world.log]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def first_by_hash(self: Labs, among: int) -> int:
    """Return the first system by the hash of its name: a planted fault."""
    return self.number(next(iter({self.names[number] for number in numbers_in(among)})))


if __name__ == "__main__":
    if sys.argv[1:] == ["planted"]:
        Labs.first_by_name = first_by_hash  # type: ignore[method-assign]
    for acts in (ACTS, EVERYTHING):
        print(digest(live(seed=1, bursts=60, limit=500, acts=acts)))
