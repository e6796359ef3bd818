"""Labs of two sizes that are equal otherwise, and the cost of a trigger in each.

The cost is counted, not timed: by the `Effort` of the partition, and by the executed lines of `domain/`,
which include work that `Effort` does not count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import domain
from domain.scheduling.decisions.timers import Findings
from tests.domain.scheduling.consistency_loop import run_loop
from tests.domain.scheduling.host_requirements import BIG, at_least, forces, named
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World

DOMAIN = str(Path(domain.__file__).parent)
# All systems but a few are viable for every filter, which is the most expensive case.
FILTERS = tuple(at_least(megabytes).text for megabytes in range(8))
TRIGGERS = 40
# Beside the many systems and their queue there are a few of another architecture with their own tree, and
# systems of partially placed sets.
FEW_TREE = 2
HELD_TREE = 3


@dataclass(frozen=True)
class Cost:
    """The average cost of one trigger."""

    evaluations: float
    rows: float
    lines: float


def lab_of(systems: int, busy: bool, queued: int = 0) -> World:
    """Return a lab with all systems idle, or all busy with `queued` recipes; every filter is evaluated."""
    world = one_lab()
    world.put_tree(FEW_TREE, "aarch64", ["lab-1"])
    for number in range(systems):
        world.add_system(f"m{number:05}", memory_mb=4096, pools=["net"] if number % 2 else [])
    world.settle()
    if busy:
        submit(world, systems)
        submit(world, queued)
    else:
        submit(world, len(FILTERS))
        for recipe in world.placed():
            world.abort(recipe.recipe_id)
        world.settle()
    return world


def add_few(world: World, *fqdns: str, condition: str = "Automated") -> None:
    for fqdn in fqdns:
        world.add_system(fqdn, arches=["aarch64"], condition=condition)
    world.settle()


def submit(world: World, count: int, **new: Any) -> None:
    for number in range(count):
        world.submit(FILTERS[number % len(FILTERS)], **new)
    world.settle()


# Labs for a kind of trigger


def with_holder(world: World) -> World:
    """Return the lab with a set that holds few-a and waits for few-x, which is busy."""
    add_few(world, "few-a", "few-x")
    world.submit(named("few-x"), FEW_TREE)
    world.settle()
    world.submit_set([named("few-a"), named("few-x")], FEW_TREE)
    world.settle()
    assert world.systems["few-a"].usage == "scheduled"
    return world


def with_many_holders(world: World, count: int) -> World:
    """Return the lab with `count` sets that have one system each and wait for a busy one; few-c is free."""
    world = with_holder(world)
    add_few(world, "few-c")
    world.put_tree(HELD_TREE, "s390x", ["lab-1"])
    for memory_mb, name in ((8192, "big"), (4096, "small")):
        for number in range(count):
            world.add_system(f"{name}-{number:05}", arches=["s390x"], memory_mb=memory_mb)
        world.settle()
        if name == "big":
            for _ in range(count):
                world.submit(BIG.text, HELD_TREE)
            world.settle()
    for _ in range(count):
        world.submit_set([FILTERS[0], BIG.text], HELD_TREE)
    world.settle()
    assert len(world.partition.holders.of("lab-1")) == count + 1
    return world


def with_forcing(world: World) -> World:
    """Return the lab with a recipe on few-m, which is Manual, and many recipes that force it."""
    add_few(world, "few-m", condition="Manual")
    for _ in range(TRIGGERS + 1):
        world.submit(forces("few-m"), FEW_TREE)
    world.settle()
    return world


def with_overtaken(world: World, count: int, assigned_first: str) -> World:
    """Return the lab with few-a and few-x, and `count` recipes that wait for few-x and are never owed."""
    world.configure(order={"assigned_first": assigned_first, "most_overtaken": 1_000})
    add_few(world, "few-a", "few-x")
    for _ in range(count + 1):
        world.submit(named("few-x"), FEW_TREE)
    world.settle()
    assert len(world.in_state("queued")) == count
    return world


def with_blocked(world: World) -> World:
    """Return the lab with sets that fit an idle system, but wait for the repair of few-y."""
    world = with_holder(world)
    world.add_system("few-y", memory_mb=4096, condition="Broken")
    for number in range(5):
        world.submit_set([FILTERS[number], named("few-y")])
    world.settle()
    assert len(world.in_state("queued")) == 10
    return world


# Triggers


def new_job(world: World) -> None:
    submit(world, 1)


def new_pair(world: World) -> None:
    world.submit_set([FILTERS[0], FILTERS[1]])
    world.settle()


def new_choosy_job(world: World) -> None:
    submit(world, 1, autopick_pools=("net",))


def new_job_by_chance(world: World) -> None:
    submit(world, 1, autopick_random=True)


def system_freed(world: World) -> None:
    world.abort(next(r for r in world.placed() if r.distro_tree_id == 1).recipe_id)
    world.settle()


def forced_recipe_ends(world: World) -> None:
    """Trigger a wake-up of one system."""
    world.abort(_recipe_on(world, "few-m"))
    world.settle()


def system_changed(world: World) -> None:
    """Trigger a wake-up of a lab without grants, and a let-go without stuck holders."""
    world.describe("few-x", memory_mb=5_000 + len(world.log))
    world.settle()


def let_go_and_regrant(world: World) -> None:
    """Make a set let go; a wake-up of the lab grants its system again."""
    world.drain("few-x")
    world.settle()
    assert world.systems["few-a"].usage == "idle"
    world.undrain("few-x")
    world.settle()
    assert world.systems["few-a"].usage == "scheduled"


def withdraw_and_regrant(world: World) -> None:
    """Withdraw a system; a wake-up of the set grants a system again."""
    world.set_condition("few-a", "Broken")
    world.settle()
    world.set_condition("few-a", "Automated")
    world.settle()
    assert world.systems["few-a"].usage == "scheduled"


def hold_and_cancel(world: World) -> None:
    """Make a set hold few-c while it waits for few-a, whose holder waits for few-x; then cancel the set."""
    first, _ = world.submit_set([named("few-c"), named("few-a")], FEW_TREE)
    world.settle()
    assert world.system_of(first) == "few-c"
    world.cancel(first)
    world.settle()


def overtake(world: World) -> None:
    """Give few-x to a set that holds few-a, past all recipes that wait for few-x."""
    first, second = world.submit_set([named("few-a"), named("few-x")], FEW_TREE)
    world.settle()
    world.abort(_recipe_on(world, "few-x"))
    world.settle()
    assert world.states(first, second) == ["waiting", "waiting"]
    world.abort(first)
    world.settle()


def run_idle_loop(world: World) -> None:
    """Run the consistency loop without findings."""
    assert run_loop(world).findings == Findings()


def _recipe_on(world: World, fqdn: str) -> int:
    recipe_id = world.systems[fqdn].recipe_id
    assert recipe_id is not None, f"{fqdn} has no recipe"
    return recipe_id


# Counting


def cost_of(trigger: Callable[[World], None], world: World) -> Cost:
    """Return the cost to read the log, decide, roll back and read the decision, for a series of triggers."""
    effort = world.partition.effort
    effort.evaluations = effort.rows = 0
    lines = _Lines()
    for _ in range(TRIGGERS):
        lines.count(lambda: trigger(world))
    return Cost(effort.evaluations / TRIGGERS, effort.rows / TRIGGERS, lines.seen / TRIGGERS)


class _Lines:
    """A counter of executed lines in `domain/`; lines of loops and comprehensions count each time."""

    def __init__(self) -> None:
        self.seen = 0

    def count(self, act: Callable[[], None]) -> None:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            act()
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(DOMAIN) else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.seen += event == "line"
        return self._line
