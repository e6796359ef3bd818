"""Silent labs get no recipes, and holders there let go, as in disabled labs."""

from __future__ import annotations

import pytest

from domain.directory.events import LabControllerHeard, LabControllerRegistered
from domain.events import from_data
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from domain.scheduling.supply.reasons import ALL_BROKEN, ALL_SILENT, LAB_SILENT, NONE_USABLE
from tests.domain.scheduling.consistency_loop import tick
from tests.domain.scheduling.host_requirements import ANYTHING, forces, named
from tests.domain.scheduling.labs import one_lab, wanting
from tests.domain.scheduling.rules import WAKING, rules
from tests.domain.scheduling.world import World

ANY = ANYTHING.text


def two_labs() -> World:
    world = one_lab()
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    return world


@pytest.mark.parametrize("wants", [ANY, named("a"), forces("a")], ids=["any", "named", "forced"])
def test_silent_lab__job_comes__waits_until_it_is_heard(world: World, wants: str) -> None:
    world.add_idle("a")
    world.fall_silent("lab-1")
    waiting = world.submit(wants)
    world.settle()
    assert world.states(waiting) == ["queued"]
    assert reason_of(world, waiting) == ALL_SILENT
    world.hear("lab-1")
    world.settle()
    assert world.system_of(waiting) == "a"


def test_silent_lab__system_is_pending__gets_no_recipe(world: World) -> None:
    world.add_idle("a")
    first, waiting = world.submit(ANY), world.submit(ANY)
    world.settle()
    world.fall_silent("lab-1")
    world.complete(first)
    world.settle()
    assert (world.states(waiting), world.systems["a"].usage) == (["queued"], "idle")
    world.hear("lab-1")
    world.settle()
    assert world.system_of(waiting) == "a"


def test_silent_lab__forced_system_is_broken__waits_too(world: World) -> None:
    world.add_system("a", condition="Broken")
    world.fall_silent("lab-1")
    waiting = world.submit(forces("a"))
    world.settle()
    assert world.states(waiting) == ["queued"]
    world.hear("lab-1")
    world.settle()
    assert world.system_of(waiting) == "a"


def test_silent_lab__set_holds_some_of_its_systems__lets_go_and_another_lab_takes_it() -> None:
    world = two_labs()
    world.add_idle("a", "b")
    busy = world.submit(named("b"))
    world.settle()
    holder = wanting(world, "a", "b")
    assert world.states(*holder) == ["scheduled", "assigned"]
    world.fall_silent("lab-1")
    world.settle()
    assert world.states(*holder, busy) == ["queued", "queued", "waiting"]
    assert world.systems["a"].usage == "idle"


def test_silent_lab__another_lab_serves__job_goes_there() -> None:
    world = two_labs()
    world.add_idle("a")
    world.add_system("z", lab="lab-2")
    world.settle()
    world.fall_silent("lab-1")
    recipe_id = world.submit(ANY)
    world.settle()
    assert world.system_of(recipe_id) == "z"


def test_why_it_waits__broken_systems_beside_silent_labs__named_by_what_would_help() -> None:
    world = two_labs()
    world.add_system("a", condition="Broken")
    world.add_system("z", lab="lab-2")
    world.settle()
    world.fall_silent("lab-2")
    assert reason_of(world, submitted(world, named("a"))) == ALL_BROKEN
    assert reason_of(world, submitted(world, named("z"))) == ALL_SILENT
    assert reason_of(world, submitted(world, ANY)) == ALL_SILENT
    world.enable("lab-1", False)
    world.set_condition("a", "Automated")
    world.settle()
    assert reason_of(world, submitted(world, ANY)) == NONE_USABLE


def submitted(world: World, wants: str) -> int:
    recipe_id = world.submit(wants)
    world.settle()
    return recipe_id


def reason_of(world: World, recipe_id: int) -> str:
    """Return the reason in the last event of a recipe."""
    events = [row.event for row in world.log if row.subject == f"recipe/{recipe_id}"]
    return str(events[-1].reason)  # type: ignore[attr-defined]


# Labs that were never heard


def test_new_lab__registered_by_now__is_heard_before_it_gets_recipes() -> None:
    world = World()
    world.commit([("lab-controller/lab-1", LabControllerRegistered(enabled=True, silent=True))])
    world.put_tree(1, "x86_64", ["lab-1"])
    world.add_idle("a")
    waiting = world.submit(ANY)
    assert tick(world, 10, {}).decisions == []
    assert world.states(waiting) == ["queued"]
    found = tick(world, 10, {"lab-1": world.now})
    assert found.decisions[0].events == (("lab-controller/lab-1", LabControllerHeard()),)
    assert world.system_of(waiting) == "a"


def test_old_lab__registered_before_version_5__gets_recipes_unheard() -> None:
    stored = from_data("lab-controller.registered", 1, {"enabled": True})
    assert stored == LabControllerRegistered(enabled=True, silent=False)
    world = World()
    world.commit([("lab-controller/lab-1", stored)])
    world.put_tree(1, "x86_64", ["lab-1"])
    world.add_idle("a")
    recipe_id = submitted(world, ANY)
    assert world.system_of(recipe_id) == "a"


def test_wake_up__row_removed__no_grant_when_the_lab_is_heard() -> None:
    world = one_lab(rules(wakes=WAKING - {"lab heard"}))
    world.add_idle("a")
    world.fall_silent("lab-1")
    waiting = submitted(world, ANY)
    world.hear("lab-1")
    world.settle()
    assert world.states(waiting) == ["queued"]


def test_explain__system_of_a_silent_lab__says_so(world: World) -> None:
    world.add_idle("a")
    world.fall_silent("lab-1")
    waiting = submitted(world, ANY)
    host = world.partition.sets.recipes[waiting]
    (candidate,) = why_it_waits(world.partition, host, WaitingOptions(limit=1)).systems
    assert (candidate.verdict, candidate.reasons) == ("not now", (f"{LAB_SILENT}: lab-1",))
