"""Timers of the consistency loop, also under load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest

from domain.directory.events import LabControllerHeard, LabControllerSilent
from domain.recipe.events import RecipeQueued
from domain.scheduling.decisions.timers import Findings, LoopInput, correct
from domain.scheduling.supply.reasons import LOAN_OVER, RESERVATION_OVER, TREE_AWAY
from domain.scheduling.world.snapshot import pieces, restored
from domain.system.events import SystemLoaned, SystemLoanEnded
from domain.system.state import Reservation
from tests.domain.scheduling.consistency_loop import nothing_expires, run_loop, tick
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, named
from tests.domain.scheduling.labs import occupy, one_lab, wanting
from tests.domain.scheduling.rules import rules
from tests.domain.scheduling.world import World

ANY = ANYTHING.text


# Reservations by people


def test_reservation__time_is_over__ends_with_that_reason(world: World) -> None:
    world.add_system("m", condition="Manual")
    world.reserve("m", until=(world.now + timedelta(hours=1)).isoformat())
    nothing_expires(world, 3_600)
    found = tick(world, 1)
    assert (found.causes, found.findings.reservations_ended) == (["timer/reservation/m"], 1)
    assert found.decisions[0].events[0][1].reason == RESERVATION_OVER  # type: ignore[attr-defined]
    assert (world.systems["m"].reservation, world.systems["m"].usage) == (None, "idle")


def test_reservation__over_on_an_automated_system__serves_a_waiting_recipe(world: World) -> None:
    world.add_system("m", condition="Manual")
    world.reserve("m", until=(world.now + timedelta(hours=1)).isoformat())
    world.set_condition("m", "Automated")
    waiting = world.submit(ANY)
    world.settle()
    assert world.states(waiting) == ["queued"]
    tick(world, 3_600)
    assert world.system_of(waiting) == "m"


def test_reservation__without_an_end__never_ends_by_itself(world: World) -> None:
    world.add_system("m", condition="Manual")
    world.reserve("m")
    assert tick(world, 10**8).decisions == []


# Loans


@pytest.mark.parametrize("busy", [False, True])
def test_loan__time_is_over__ends_and_recipe_continues(world: World, busy: bool) -> None:
    world.add_idle("a")
    recipes = [world.submit(ANY)] if busy else []
    world.settle()
    lend(world, "a", world.now + timedelta(hours=1))
    nothing_expires(world, 3_600)
    found = tick(world, 1)
    assert (found.causes, found.findings.loans_ended) == (["timer/loan/a"], 1)
    (decision,) = found.decisions
    assert decision.events == (("system/a", SystemLoanEnded(LOAN_OVER)),)
    assert world.states(*recipes) == ["waiting"] * busy


def test_loan__over_while_reserved_by_borrower__reservation_ends_and_queue_is_asked(world: World) -> None:
    world.add_idle("a")
    lend(world, "a", world.now + timedelta(hours=1))
    world.reserve("a", user="ada")
    waiting = world.submit(ANY)
    world.settle()
    assert world.states(waiting) == ["queued"]
    tick(world, 3_600)
    assert world.system_of(waiting) == "a"


def test_loan__without_an_end__never_ends_by_itself(world: World) -> None:
    world.add_idle("a")
    lend(world, "a", None)
    assert tick(world, 10**8).decisions == []


def lend(world: World, fqdn: str, until: datetime | None) -> None:
    """Lend a system to ada."""
    world.change([(f"system/{fqdn}", SystemLoaned("ada", None if until is None else until.isoformat()))])


def test_reservation__returned_before__is_not_ended_again(world: World) -> None:
    world.add_system("m", condition="Manual")
    world.reserve("m", until=(world.now + timedelta(hours=1)).isoformat())
    world.give_back("m")
    assert tick(world, 3_600).decisions == []


# Lab controllers


def test_lab_controller__not_heard_for_five_minutes__is_shown_silent_once(world: World) -> None:
    heard = {"lab-1": world.now}
    assert tick(world, 300, heard).decisions == []
    found = tick(world, 1, heard)
    assert found.decisions[0].events == (("lab-controller/lab-1", LabControllerSilent()),)
    assert found.causes == ["timer/contact/lab-1"]
    assert tick(world, 1_000, heard).decisions == []


def test_lab_controller__heard_again__is_shown_so_once(world: World) -> None:
    tick(world, 1_000, {"lab-1": world.now})
    found = tick(world, 5, {"lab-1": world.now})
    assert found.decisions[0].events == (("lab-controller/lab-1", LabControllerHeard()),)
    assert tick(world, 5, {"lab-1": world.now}).decisions == []


def test_lab_controller__no_contact_recorded__no_event(world: World) -> None:
    assert tick(world, 100_000, {}).findings == Findings()


# States that should never occur


def test_lost_wake_up__planted__counted_and_corrected() -> None:
    world = one_lab(rules(wakes=()))
    world.add_idle("a", "b")
    world.add_system("c", memory_mb=16_384, condition="Broken")
    waiting = [world.submit(BIG.text) for _ in range(2)]
    world.settle()
    for fqdn in ("a", "b"):
        world.describe(fqdn, memory_mb=16_384)
    found = tick(world)
    assert (found.findings.idle_but_wanted, found.findings.never_happen) == (2, 2)
    assert set(found.causes) == {"timer/consistency"}
    assert [world.system_of(recipe_id) for recipe_id in waiting] == ["a", "b"]
    assert tick(world).findings == Findings()


def test_idle_systems__unusable_or_unsafe__not_counted(world: World) -> None:
    world.add_idle("a", "b", "c")
    world.set_condition("b", "Broken")
    world.drain("c")
    world.submit(named("c"))
    # With a alone the set would wait for the repair of b.
    wanting(world, "a", "b")
    assert tick(world).findings == Findings()


def plant(world: World, **changes: Any) -> None:
    """Change the state of the system "a" without an event."""
    world.partition._put_system(replace(world.partition.systems["a"], **changes))


def test_conservation__planted__counted_by_law_and_not_corrected(world: World, running: int) -> None:
    assert not +tick(world).findings.violations
    plant(world, usage="running")
    found = tick(world)
    assert (+found.findings.violations, found.decisions) == ({"usage": 1}, [])
    plant(world, usage="waiting", recipe_id=99)
    # The system names an unknown recipe, and the recipe is on a system that names another one.
    assert +tick(world).findings.violations == {"usage": 1, "orphans": 1}
    assert tick(world).findings.never_happen == 2, "each run counts it again"
    plant(world, usage="waiting", recipe_id=running)
    assert not +tick(world).findings.violations


def test_conservation__recipe_without_its_system__is_an_orphan(world: World, running: int) -> None:
    recipe = world.partition.sets.recipes[running]
    world.partition.conservation.put_recipe(recipe, replace(recipe, system=None))
    world.partition.sets.recipes[running] = replace(recipe, system=None)
    assert +tick(world).findings.violations == {"usage": 1, "orphans": 1}


def test_conservation__planted_before_a_snapshot__is_counted_after_it(world: World, running: int) -> None:
    plant(world, usage="waiting", recipe_id=99)
    restarted = restored(orjson.loads(orjson.dumps(piece)) for piece in pieces(world.partition))
    assert restarted.conservation.broken_laws(restarted.systems) == {"usage": 1, "orphans": 1}


def test_conservation__checked_again__only_changed_states_are_read(world: World, running: int) -> None:
    world.add_idle("b")
    partition = world.partition
    partition.conservation.broken_laws(partition.systems)
    plant(world, usage="running")
    partition.systems, partition.sets.recipes = (
        Recording(partition.systems),
        Recording(partition.sets.recipes),
    )
    assert partition.conservation.broken_laws(partition.systems) == {"usage": 1}
    assert (partition.systems.read, partition.sets.recipes.read) == ({"a"}, {running})


class Recording(dict[Any, Any]):
    """A dictionary that records the keys that are read."""

    def __init__(self, of: Mapping[Any, Any]) -> None:
        self.read: set[Any] = set()
        super().__init__(of)

    def __getitem__(self, key: Any) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)


def test_conservation__system_left_over__counts_as_nothing(world: World) -> None:
    world.add_idle("a")
    plant(world, usage="running")
    assert +tick(world).findings.violations == {"usage": 1, "systems": 1}
    plant(world, reservation=Reservation("alice", None, None))
    assert not +tick(world).findings.violations


def test_conservation__reserved_and_used__counts_twice(world: World, running: int) -> None:
    plant(world, reservation=Reservation("alice", None, None))
    assert +tick(world).findings.violations == {"systems": 1}


def test_conservation__set_does_not_name_its_recipe__is_an_orphan(world: World, running: int) -> None:
    recipe = world.partition.sets.recipes[running]
    nameless = replace(world.partition.sets.sets[recipe.recipe_set_id], recipe_ids=())
    world.partition.sets.sets[recipe.recipe_set_id] = nameless
    world.partition.conservation.put_recipe(recipe, recipe)
    assert +tick(world).findings.violations == {"orphans": 1}


def test_conservation__wrong_charges__are_counted(world: World) -> None:
    world.configure(limits={"placed_recipes": 5})
    world.add_idle("a")
    world.submit(named("a"))
    world.settle()
    rooms = world.partition.sets.rooms
    ((recipe_set_id, needs),) = rooms.charged.items()
    assert not +tick(world).findings.violations
    ((limit, used),) = rooms.used.items()
    rooms.used[limit] = used + 1
    assert +tick(world).findings.violations == {"charges": 1}
    rooms.used[limit] = -1
    assert +tick(world).findings.violations == {"charges": 1, "signs": 1}
    rooms.used[limit] = used
    del rooms.charged[recipe_set_id]
    # The set is not charged, and the sum includes its needs.
    assert +tick(world).findings.violations == {"charges": 2}
    rooms.charge(recipe_set_id, needs)


def in_three_queues(world: World) -> dict[str, int]:
    """Let recipes of three queues have systems; root.k was a leaf, and has a set of its own."""
    world.configure(queues={"queues": [{"name": "k"}]})
    world.add_idle("a", "b", "c")
    world.submit(named("a"), submitted={"queue": "root.k"})
    world.settle()
    world.configure(queues={"queues": [{"name": "k", "queues": [{"name": "net"}]}]})
    for name in ("b", "c"):
        world.submit(named(name), submitted={"queue": "root.k.net"})
    world.settle()
    return world.partition.sets.turns.used


def test_conservation__systems_of_queues__are_the_sum_of_their_own_and_those_below(world: World) -> None:
    used = in_three_queues(world)
    assert used == {"root": 3, "root.k": 3, "root.k.net": 2}
    assert not +tick(world).findings.violations
    world.restart()
    assert not +tick(world).findings.violations
    for fqdn in "abc":
        world.set_condition(fqdn, "Broken")
    assert (world.partition.sets.turns.used, +tick(world).findings.violations) == ({}, {})


@pytest.mark.parametrize("queue", ["root", "root.k", "root.k.net", "root.other"])
def test_conservation__one_system_too_many_in_a_queue__is_counted(world: World, queue: str) -> None:
    used = in_three_queues(world)
    before = used.get(queue, 0)
    used[queue] = before + 1
    assert +tick(world).findings.violations == {"usage": 1}
    used[queue] = before
    assert not +tick(world).findings.violations
    used[queue] = before - 10
    assert +tick(world).findings.violations == {"usage": 1, "signs": 1}
    used[queue] = before


def test_loop__several_things_at_once__are_one_commit_of_numbered_decisions(world: World) -> None:
    world.add_idle("a", "b")
    world.add_system("m", condition="Manual")
    occupy(world, "a", "b")
    world.reserve("m", until=(world.now + timedelta(hours=1)).isoformat())
    before = world.position
    found = tick(world, 20_000)
    assert found.causes == ["timer/watchdog/1", "timer/watchdog/2", "timer/reservation/m"]
    (end,) = {
        row.commit_end for row in world.log if row.position > before and row.stamp.cause[:6] == "timer/"
    }
    numbers = [row.stamp.number for row in world.log if row.commit_end == end]
    assert set(numbers) == {0, 1, 2}


def test_loop__commit_refused__finds_the_same_again(world: World, running: int) -> None:
    world.now += timedelta(seconds=20_000)
    clock = LoopInput(world.now, {})
    first = correct(world.partition, clock, Findings())
    world.partition.rollback()
    assert correct(world.partition, clock, Findings()) == first != []


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
