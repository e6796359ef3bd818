"""The consistency loop runs while triggers wait for an answer, and does not answer them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.recipe.events import RecipeQueued
from domain.scheduling.supply.reasons import TREE_AWAY
from tests.domain.scheduling.consistency_loop import run_loop
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.world import World

ANY = ANYTHING.text


@pytest.fixture
def loaded(world: World) -> World:
    """Return a world in which the watchdog of recipe 1 has expired, b is idle, and recipe 2 is new."""
    world.add_idle("a", "b")
    world.submit(ANY)
    world.settle()
    world.now += timedelta(seconds=10_800)
    world.submit(ANY)
    assert world.states() == ["waiting", "new"]
    return world


def test_watchdog__expires_while_a_trigger_waits__recipe_is_aborted(loaded: World) -> None:
    found = run_loop(loaded)
    assert (found.causes, found.findings.watchdogs_expired) == (["timer/watchdog/1"], 1)
    assert loaded.states() == ["aborted", "new"]
    loaded.settle()
    assert loaded.states() == ["aborted", "waiting"]


def test_loop__runs_while_triggers_wait__triggers_stay_unanswered(loaded: World) -> None:
    loaded.add_system("c", memory_mb=16_384)
    before = loaded.partition.triggers.waiting()
    assert run_loop(loaded).decisions
    waiting = loaded.partition.triggers.waiting()
    assert waiting[: len(before)] == before
    assert loaded.refolded().triggers.waiting() == waiting


def test_idle_system__wanted_while_its_wake_up_waits__is_neither_counted_nor_given_away(world: World) -> None:
    world.add_idle("a")
    world.enable("lab-1", enabled=False)
    queued = world.submit(ANY)
    world.settle()
    world.enable("lab-1", enabled=True)
    found = run_loop(world)
    assert (found.findings.idle_but_wanted, found.decisions) == (0, [])
    world.settle()
    assert world.system_of(queued) == "a"


def test_distro_tree__left_before_a_new_set_is_answered__the_set_waits_for_it(world: World) -> None:
    world.add_idle("a")
    new = world.submit(ANY)
    world.remove_tree(1)
    assert run_loop(world).decisions == []
    (answer,) = world.settle()
    assert answer.events == ((f"recipe/{new}", RecipeQueued(reason=f"{TREE_AWAY}: 1 (tree-1)")),)
