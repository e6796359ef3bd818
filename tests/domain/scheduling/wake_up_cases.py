"""Labs with a change after which a waiting recipe can have a system, one for each row of the wake-ups.

Each function returns the recipe that gets the system once all triggers are answered.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.domain.scheduling.host_requirements import BIG, IN_POOL, forces, named
from tests.domain.scheduling.labs import occupy, wanting
from tests.domain.scheduling.world import World


def _set_that_misses_b(world: World) -> int:
    """Return a set that wants a, which is idle, and b, which is unusable: with a alone it would be stuck."""
    world.add_idle("a", "b")
    world.set_condition("b", "Manual")
    first, _ = wanting(world, "a", "b")
    assert world.states(first) == ["queued"]
    return first


def _system_added(world: World) -> int:
    world.add_idle("a")
    world.add_system("b", condition="Broken", memory_mb=16_384)
    first, _ = world.submit_set([named("a"), BIG.text])
    world.settle()
    world.add_system("c", memory_mb=16_384)
    return first


def _system_repaired(world: World) -> int:
    first = _set_that_misses_b(world)
    world.set_condition("b", "Automated")
    return first


def _system_undrained(world: World) -> int:
    world.add_idle("a", "b")
    world.drain("b")
    first, _ = wanting(world, "a", "b")
    world.undrain("b")
    return first


def _system_returned(world: World) -> int:
    first = _set_that_misses_b(world)
    world.reserve("b")
    world.set_condition("b", "Automated")
    world.settle()
    world.give_back("b")
    return first


def _free_for_forced(world: World) -> int:
    world.add_system("m", condition="Manual")
    runs, forcing = world.submit(forces("m")), world.submit(forces("m"))
    world.settle()
    world.complete(runs)
    return forcing


def _back_for_forced(world: World) -> int:
    world.add_idle("m")
    occupy(world, "m")
    forcing = world.submit(forces("m"))
    world.settle()
    world.set_condition("m", "Removed")
    world.settle()
    world.set_condition("m", "Broken")
    return forcing


def _undrained_for_forced(world: World) -> int:
    world.add_system("m", condition="Manual")
    world.drain("m")
    forcing = world.submit(forces("m"))
    world.settle()
    world.undrain("m")
    return forcing


def _recipe_lost_its_system(world: World) -> int:
    world.add_idle("a", "b", "c")
    occupy(world, "c")
    first, _ = wanting(world, "ab", "c")
    assert world.system_of(first) == "a"
    world.set_condition("a", "Broken")
    return first


def _one_of_two_lost_its_system(world: World) -> int:
    """The set keeps its lab, since it holds another system."""
    world.add_idle("a", "b", "c", "x")
    occupy(world, "x")
    first, second, _ = world.submit_set([named("a", "b"), named("c"), named("x")])
    world.settle()
    assert (world.system_of(first), world.system_of(second)) == ("a", "c")
    world.set_condition("a", "Broken")
    return first


def _blocked_by_a_stuck_holder(world: World) -> tuple[int, int]:
    """Return the first recipe of a stuck set, and that of a set that must not begin beside it.

    Both sets are of one batch, and the system breaks between their answers: let-go waits for the next batch.
    """
    world.add_idle("a", "b", "x")
    occupy(world, "x")
    stuck, _ = world.submit_set([named("a"), named("x")])
    first, _ = world.submit_set([named("b"), named("a")])
    world.commit_decisions(world.decide(limit=1), world.position)
    world.set_condition("x", "Broken")
    world.commit_decisions(world.decide(limit=1), world.position)
    assert world.states(stuck, first) == ["scheduled", "queued"]
    return stuck, first


def _set_let_go(world: World) -> int:
    return _blocked_by_a_stuck_holder(world)[1]


def _holder_ended(world: World) -> int:
    stuck, first = _blocked_by_a_stuck_holder(world)
    world.cancel(stuck)
    return first


def _inventory_changed(world: World) -> int:
    world.add_idle("a")
    world.add_system("b", condition="Broken", memory_mb=16_384)
    recipe_id = world.submit(BIG.text)
    world.settle()
    world.describe("a", memory_mb=16_384)
    return recipe_id


def _pools_changed(world: World) -> int:
    world.add_idle("a")
    world.add_system("b", condition="Broken", pools=["net"])
    recipe_id = world.submit(IN_POOL.text)
    world.settle()
    world.set_pool("net", "a", True)
    return recipe_id


def _lab_changed(world: World) -> int:
    world.add_lab("lab-2")
    world.add_system("b", condition="Broken")
    world.add_system("a", lab="lab-2")
    recipe_id = world.submit(named("a", "b"))
    world.settle()
    world.move("a", "lab-1")
    return recipe_id


def _tree_arrived(world: World) -> int:
    world.add_lab("lab-2")
    world.put_tree(2, "x86_64", ["lab-2"])
    world.add_system("b", lab="lab-2", condition="Broken")
    world.add_idle("a")
    recipe_id = world.submit(named("a", "b"), tree_id=2)
    world.settle()
    world.put_tree(2, "x86_64", ["lab-1", "lab-2"])
    return recipe_id


def _tree_registered_again(world: World) -> int:
    world.add_lab("lab-2")
    world.put_tree(2, "x86_64", ["lab-2"])
    world.add_system("b", lab="lab-2", condition="Broken")
    world.add_idle("a")
    recipe_id = world.submit(named("a", "b"), tree_id=2)
    world.settle()
    world.remove_tree(2)
    world.settle()
    world.put_tree(2, "x86_64", ["lab-1", "lab-2"])
    return recipe_id


def _lab_heard(world: World) -> int:
    world.add_idle("a")
    world.fall_silent("lab-1")
    recipe_id = world.submit(named("a"))
    world.settle()
    world.hear("lab-1")
    return recipe_id


def lab_enabled(world: World) -> int:
    world.add_idle("a")
    world.enable("lab-1", False)
    recipe_id = world.submit(named("a"))
    world.settle()
    world.enable("lab-1", True)
    return recipe_id


CASES: list[tuple[str, Callable[[World], int]]] = [
    # A system became usable for one recipe of a set; its sibling had taken no system, to avoid a deadlock.
    ("system added", _system_added),
    ("condition changed", _system_repaired),
    ("system undrained", _system_undrained),
    ("system returned by a person", _system_returned),
    ("set got a system", _system_repaired),
    # A recipe that forces a system waits for it in any condition.
    ("system free for forced recipes", _free_for_forced),
    ("condition changed", _back_for_forced),
    ("system undrained", _undrained_for_forced),
    # The recipe had one of two fitting systems.
    ("recipe assigned", _one_of_two_lost_its_system),
    ("recipe queued", _recipe_lost_its_system),
    # No set may begin beside a stuck holder.
    ("recipe queued", _set_let_go),
    ("holder ended", _holder_ended),
    ("inventory changed", _inventory_changed),
    ("pools changed", _pools_changed),
    ("lab of a system changed", _lab_changed),
    ("distro tree registered", _tree_registered_again),
    ("distro tree changed", _tree_arrived),
    ("lab enabled", lab_enabled),
    ("lab heard", _lab_heard),
]
