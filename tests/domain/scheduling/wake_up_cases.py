"""Labs with a change after which a waiting recipe can have a system, one for each row of the wake-ups.

Each function returns the recipe that gets the system once all triggers are answered.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from domain.admission.dependencies import FINAL_STATES
from domain.admission.job_filters import RATE_LIMITED
from domain.job.events import JobClosed, JobOpened, JobSubmitted
from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY
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


def _lab_came_in(world: World) -> int:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_system("b", lab="lab-2", condition="Broken")
    world.add_idle("a")
    world.move_lab("lab-1", EVERYBODY)
    recipe_id = world.submit(named("a", "b"))
    world.settle()
    world.move_lab("lab-1", DEFAULT_NUMBER)
    return recipe_id


def lab_enabled(world: World) -> int:
    world.add_idle("a")
    world.enable("lab-1", False)
    recipe_id = world.submit(named("a"))
    world.settle()
    world.enable("lab-1", True)
    return recipe_id


def depends_on(world: World, recipe_id: int) -> dict[str, Any]:
    """Return the fields of a set that depends on the job of a recipe, in any of its final states."""
    named = {"job": world.recipes[recipe_id].job_id, "states": FINAL_STATES}
    return {"depends_on": [named]}


def _waits_for_another_job(world: World) -> tuple[int, int]:
    """Return a running recipe, and one that depends on its job and for which b is idle."""
    world.add_idle("a", "b")
    runs = occupy(world, "a")["a"]
    dependent = world.submit(named("b"), submitted=depends_on(world, runs))
    world.settle()
    assert world.states(dependent) == ["queued"]
    return runs, dependent


def _dependency_completed(world: World) -> int:
    runs, dependent = _waits_for_another_job(world)
    world.complete(runs)
    return dependent


def _dependency_aborted(world: World) -> int:
    runs, dependent = _waits_for_another_job(world)
    world.abort(runs)
    return dependent


def _priority_lowered_below_a_rule(world: World) -> int:
    world.add_idle("a")
    predicate = {"field": "priority", "op": ">=", "value": "High"}
    world.put_job_filter("no haste", "PAUSE", predicate=predicate)
    paused = world.submit(named("a"), priority="Urgent")
    world.settle()
    assert world.states(paused) == ["queued"]
    world.change_priority(paused, "Normal")
    return paused


def _recipe_changed(world: World) -> int:
    world.add_idle("a")
    world.add_system("b", condition="Broken")
    waits = world.submit(named("b"))
    world.settle()
    assert world.states(waits) == ["queued"]
    world.change_recipe(waits, host_requires=named("a"))
    return waits


def _open_job_closed(world: World) -> int:
    world.add_idle("a")
    submitted = JobSubmitted("ada", "ada", None, "", (), {})
    world.commit([("job/99", submitted), ("job/99", JobOpened(()))])
    depends = {"depends_on": [{"job": 99, "states": ["completed"]}]}
    dependent = world.submit(named("a"), submitted=depends)
    world.settle()
    assert world.states(dependent) == ["queued"]
    world.commit([("job/99", JobClosed("closed"))])
    return dependent


def _rule_removed(world: World) -> int:
    world.add_idle("a")
    world.put_job_filter("nobody", "PAUSE")
    paused = world.submit(named("a"))
    world.settle()
    world.remove_job_filter("nobody")
    return paused


def _without_room(world: World) -> tuple[int, int]:
    """Return a recipe that runs on `a`, and one that has no room to take the idle system `b`."""
    world.add_idle("a", "b")
    world.configure(limits={"placed_recipes": 1})
    runs, waits = world.submit(named("a")), world.submit(named("b"))
    world.settle()
    assert world.states(runs, waits) == ["waiting", "queued"]
    return runs, waits


def _room_freed_by_an_end(world: World) -> int:
    runs, waits = _without_room(world)
    world.complete(runs)
    return waits


def _room_freed_by_an_abort(world: World) -> int:
    runs, waits = _without_room(world)
    world.abort(runs)
    return waits


def _room_freed_by_a_withdrawal(world: World) -> int:
    world.add_idle("a", "b", "c")
    runs = world.submit(named("c"))
    world.settle()
    world.put_job_filter("few", RATE_LIMITED, limit=2)
    world.submit_set([named("a"), named("c")])
    waits = world.submit(named("b"))
    world.settle()
    assert world.states(runs, waits) == ["waiting", "queued"]
    world.set_condition("a", "Broken")
    return waits


def _limit_raised(world: World) -> int:
    _, waits = _without_room(world)
    world.configure(limits={"placed_recipes": 2})
    return waits


def _kept_room_no_longer_usable(world: World) -> int:
    """Have a set take the last place in the bucket of an older set, for which room was kept."""
    world.add_idle("a", "b", "c", "d", "e")
    world.configure(limits={"placed_recipes": 3})
    world.submit(named("a"))
    world.settle()
    in_bucket = {"reasons": ["rate-limit:1:array"]}
    large = world.submit_set([named("b"), named("c"), named("d")], submitted=in_bucket)
    world.settle()
    world.now += timedelta(minutes=15)
    waits = world.submit(named("e"))
    world.settle()
    assert world.states(*large, waits) == ["queued"] * 4
    world.submit(named("b"), priority="Urgent", submitted=in_bucket)
    return waits


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
    ("recipe given up", _holder_ended),
    ("inventory changed", _inventory_changed),
    ("pools changed", _pools_changed),
    ("lab of a system changed", _lab_changed),
    ("distro tree registered", _tree_registered_again),
    ("distro tree changed", _tree_arrived),
    ("lab enabled", lab_enabled),
    ("lab heard", _lab_heard),
    ("partition of a lab changed", _lab_came_in),
    # Admission held the set back.
    ("recipe completed", _dependency_completed),
    ("recipe given up", _dependency_aborted),
    ("priority changed", _priority_lowered_below_a_rule),
    ("job closed", _open_job_closed),
    ("set changed", _recipe_changed),
    ("job filters changed", _rule_removed),
    # The set had no room under a limit.
    ("recipe completed", _room_freed_by_an_end),
    ("recipe given up", _room_freed_by_an_abort),
    ("recipe queued", _room_freed_by_a_withdrawal),
    ("configuration changed", _limit_raised),
    ("set got a system", _kept_room_no_longer_usable),
]
