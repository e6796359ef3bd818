"""A long random history from one seed; `python -m tests.domain.scheduling.history` prints its digest.

The digest is taken over every event of the log, decisions included, so two processes that print the same one
have decided the same, whatever PYTHONHASHSEED they run under.
"""

from __future__ import annotations

import hashlib
import sys
from random import Random

from domain.events import data_of
from domain.priority import Priority
from domain.scheduling.filters import FilterKey, Filters
from domain.scheduling.labs import numbers_in
from tests.domain.scheduling.wants import ALL
from tests.domain.scheduling.world import World

LABS = ("lab-1", "lab-2", "lab-3")


def live(seed: int, bursts: int, limit: int) -> World:
    """Bursts of arrivals and endings, each answered whole, with up to `limit` decisions per commit."""
    chance, world = Random(seed), World()
    for lab in LABS:
        world.add_lab(lab, enabled=lab != "lab-3" or chance.random() < 0.5)
    world.put_tree(1, "x86_64", LABS)
    world.put_tree(2, "aarch64", LABS[:2])
    for _ in range(bursts):
        for _ in range(chance.randrange(1, 8)):
            _something_happens(chance, world)
        world.settle(limit)
    return world


def _something_happens(chance: Random, world: World) -> None:
    placed = world.placed()
    if len(world.systems) < 20 and chance.random() < 0.2:
        _register(chance, world)
    elif placed and chance.random() < 0.4:
        recipe_id = chance.choice(placed).recipe_id
        chance.choice((world.complete, world.abort, world.cancel))(recipe_id)
    else:
        priority = chance.choice(list(Priority)).name
        world.submit(chance.choice(ALL).text, chance.choice((1, 1, 2)), priority)


def _register(chance: Random, world: World) -> None:
    world.add_system(
        f"m{chance.randrange(10**6)}-{len(world.systems)}",
        chance.choice(LABS),
        chance.choice(("Automated", "Automated", "Automated", "Broken")),
        [pool for pool in ("net", "gpu") if chance.random() < 0.5],
        arches=chance.sample(("x86_64", "aarch64"), chance.randrange(1, 3)),
        memory_mb=chance.choice((1024, 16384)),
    )


def digest(world: World) -> str:
    rows = [(row.position, row.subject, row.event.TOPIC, repr(data_of(row.event))) for row in world.log]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def first_idle_by_hash(self: Filters, key: FilterKey) -> str | None:
    """A planted fault: any idle viable system, as the hashes of names happen to have it."""
    candidates = self.viable(key) & self._idle_bits
    return next(iter({self._lab.names[number] for number in numbers_in(candidates)}), None)


if __name__ == "__main__":
    if sys.argv[1:] == ["planted"]:
        Filters.first_idle = first_idle_by_hash  # type: ignore[method-assign]
    print(digest(live(seed=1, bursts=60, limit=500)))
