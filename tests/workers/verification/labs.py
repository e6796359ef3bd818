"""A lab with a correct log."""

from __future__ import annotations

from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World


def lab() -> World:
    """Return lab-1, where recipe 1 has a, recipe 2 waits for a, and b is idle; and lab-2 with the idle c."""
    world = World()
    for name in ("lab-1", "lab-2"):
        world.add_lab(name)
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_idle("a", "b")
    world.add_system("c", "lab-2")
    world.settle()
    for _ in range(2):
        world.submit(named("a"))
        world.settle()
    return world
