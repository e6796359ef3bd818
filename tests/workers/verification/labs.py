"""A lab whose log is sound."""

from __future__ import annotations

from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.world import World


def lab() -> World:
    """In lab-1 recipe 1 waits on a, b is idle and recipe 2 in the queue for a; in lab-2 c is idle."""
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
