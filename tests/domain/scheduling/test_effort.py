"""What a trigger costs does not depend on the size of the lab, nor on the depth of the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions import granting, let_go, timers, waking, wanted
from domain.scheduling.demand.filters import Filters
from domain.scheduling.demand.order import Place
from domain.scheduling.safety.plans import Plans
from domain.scheduling.supply.labs import Labs
from domain.scheduling.world.partition import Partition
from tests.domain.scheduling import effort
from tests.domain.scheduling.effort import (
    FILTERS,
    Cost,
    cost_of,
    lab_of,
    with_blocked,
    with_forcing,
    with_holder,
    with_many_holders,
)
from tests.domain.scheduling.world import World

Build = Callable[[int], World]
Trigger = Callable[[World], None]

# The filters there are: those of the many, and a few beside them. A changed system is held against each.
EVALUATIONS = len(FILTERS) + 4
# A system may be wanted by every filter, and a trigger may lead to a handful of questions, each of which is
# asked twice: what was decided is supposed, taken back and then read.
ROWS = 4 * EVALUATIONS
# Lines may differ a little, by the length of way through heaps and the like.
TOLERANCE = 1.1


def idle(k: int) -> World:
    """Everybody finds a system at once."""
    return lab_of(100 * k, busy=False)


def busy(k: int) -> World:
    """Nobody does, and the queue is long."""
    return lab_of(50 * k, busy=True, queued=100 * k)


def unwanted(k: int) -> World:
    """All are busy, and nobody waits: the idle pool grows."""
    return lab_of(100 * k, busy=True)


def held(k: int) -> World:
    """So are all systems but one, and the sets grow that hold systems and wait for others."""
    return with_many_holders(lab_of(50, busy=True), 10 * k)


def deep(k: int) -> World:
    """The queue alone grows."""
    return lab_of(50, busy=True, queued=100 * k)


CASES: list[tuple[str, Build, Trigger]] = [
    ("new-job-idle-lab", idle, effort.new_job),
    ("new-job-busy-lab", busy, effort.new_job),
    ("new-set-idle-lab", idle, effort.new_pair),
    ("new-set-busy-lab", busy, effort.new_pair),
    # Which of many idle systems: by pool, by chance; by fewest takers and name is what a new job does anyhow.
    ("choice-by-pool", idle, effort.new_choosy_job),
    ("choice-by-chance", idle, effort.new_job_by_chance),
    # Recipes end, others take their systems; or nobody.
    ("pending-system-deep-queue", busy, effort.system_freed),
    ("pending-system-no-queue", unwanted, effort.system_freed),
    # A wake-up of one system, of a lab, and of a set; and the question who lets go, answered by nobody and by
    # somebody.
    ("wake-up-of-system", lambda k: with_forcing(busy(k)), effort.forced_recipe_ends),
    ("wake-up-of-lab-for-nobody", lambda k: with_holder(busy(k)), effort.system_changed),
    ("wake-up-of-idle-lab-for-nobody", lambda k: with_holder(idle(k)), effort.system_changed),
    ("let-go-busy-lab", lambda k: with_holder(busy(k)), effort.lets_go_and_holds_again),
    ("let-go-idle-lab", lambda k: with_holder(idle(k)), effort.lets_go_and_holds_again),
    ("wake-up-of-idle-lab-that-blocked-sets-want", lambda k: with_blocked(idle(k)), effort.system_changed),
    ("wake-up-of-set-busy-lab", lambda k: with_holder(busy(k)), effort.loses_its_system_and_gets_it_again),
    ("wake-up-of-set-idle-lab", lambda k: with_holder(idle(k)), effort.loses_its_system_and_gets_it_again),
    # A set gets a system that it has to hold, and gives it back: it waits for one holder, not for the many.
    ("grant-beside-many-holders", held, effort.holds_and_is_cancelled),
    # It looks at every system, and at nobody in the queue.
    ("loop-that-finds-nothing", deep, effort.loop_runs),
]
BY_NAME = {name: (build, trigger) for name, build, trigger in CASES}


def hold_to_bounds(small: Cost, large: Cost) -> None:
    assert small.evaluations == large.evaluations <= EVALUATIONS, f"evaluations per trigger: {small}, {large}"
    assert max(small.rows, large.rows) <= ROWS, f"rows per trigger: {small.rows}, {large.rows}"
    assert large.lines <= TOLERANCE * small.lines, f"lines per trigger: {small.lines}, {large.lines}"


@pytest.mark.parametrize("name", BY_NAME)
def test_trigger__lab_and_queue_ten_times_as_large__costs_the_same(name: str) -> None:
    build, trigger = BY_NAME[name]
    hold_to_bounds(cost_of(trigger, build(1)), cost_of(trigger, build(10)))


def test_new_filter__lab_ten_times_as_large__is_evaluated_once() -> None:
    for size in (10, 100):
        world = lab_of(size, busy=True)
        before = world.partition.effort.evaluations
        for _ in range(5):
            world.submit('{"element":"system_type","op":"==","value":"Machine"}')
            world.settle()
        assert world.partition.effort.evaluations == before + 1


# Schedulers that scan, to show that the bounds bite. They do not count their rows; the lines they run show.


def _first_by_scan(self: Labs, among: int) -> int:
    return min(numbers_in(among), key=lambda number: self.names[number])


def _least_by_scan(self: BitSlicedNumbers, among: int) -> int:
    least = min(self.value(number) for number in numbers_in(among))
    return union(1 << number for number in numbers_in(among) if self.value(number) == least)


def _fewest_by_scan(self: Filters, among: int) -> int:
    return _least_by_scan(self.demand_counts(), among)


def _ranked_by_scan(self: Filters, fqdn: str, line: str, *, forced_only: bool) -> Iterator[Place]:
    number = self._labs.number(fqdn)
    found = []
    for entry in self._entries.values():
        for rank in self._lines[line].recipes.get(entry.number, ()) if line in self._lines else ():
            self._effort.rows += 1
            if self.fitting(entry.key) >> number & 1 and (entry.key.forced or not forced_only):
                found.append(Place(rank.negative_priority, rank))
    return iter(sorted(found))


def _groups_by_scan(partition: Partition, asked: int) -> Iterator[waking.WakeGroup]:
    waiting = [recipe for recipe in partition.sets.recipes.values() if recipe.state in ("queued", "assigned")]
    return _groups(partition, asked & union(partition.idle(host) for host in waiting if not host.is_guest))


_groups = waking._groups


def _plans_by_scan(partition: Partition, lab_controller: str) -> Plans | None:
    holding = [
        number for number in partition.sets.sets if _holds(partition.sets.hosts(number), lab_controller)
    ]
    assert holding == list(partition.holders.of(lab_controller))
    return granting.plans_of(partition, lab_controller)


def _holds(hosts: tuple[Recipe, ...], lab_controller: str) -> bool:
    bound = [host for host in hosts if host.lab_controller == lab_controller]
    return any(host.state == "scheduled" for host in bound) and any(
        host.state == "assigned" for host in bound
    )


def _plans_made_anew(partition: Partition, lab_controller: str) -> Plans | None:
    partition.holders.clear()
    return partition.holders.plans(
        lab_controller, lambda number: granting._holder(partition, number, lab_controller)
    )


def _without_tree_by_scan(partition: Partition, _: datetime) -> list[int]:
    waiting = (partition.members(number).recipes for number in partition.sets.sets)
    return [each[0].recipe_set_id for each in waiting if not partition.labs.labs_with(each[0].distro_tree_id)]


def _out_of_step_by_scan(partition: Partition) -> int:
    unfinished = (partition.members(number) for number in partition.sets.sets)
    return sum(set(members.systems) > set(partition.systems) for members in unfinished)


SCANNING: list[Any] = [
    # Every idle system is looked at.
    (Labs, "first_by_name", _first_by_scan, "new-job-idle-lab"),
    (Filters, "least_demanded", _fewest_by_scan, "new-job-idle-lab"),
    pytest.param(BitSlicedNumbers, "least", _least_by_scan, "new-set-idle-lab", marks=pytest.mark.soak),
    # Every queued recipe is.
    (Filters, "ranked_recipes", _ranked_by_scan, "pending-system-deep-queue"),
    (waking, "_groups", _groups_by_scan, "wake-up-of-lab-for-nobody"),
    pytest.param(waking, "_groups", _groups_by_scan, "wake-up-of-set-busy-lab", marks=pytest.mark.soak),
    # Every idle system is asked about sets that could do nothing with it.
    (wanted, "hopeless", lambda *_: False, "wake-up-of-idle-lab-that-blocked-sets-want"),
    (let_go, "plans_of", _plans_by_scan, "let-go-busy-lab"),
    # Every holder of the lab is looked at.
    (granting, "plans_of", _plans_made_anew, "grant-beside-many-holders"),
    (timers, "_without_tree", _without_tree_by_scan, "loop-that-finds-nothing"),
    (timers, "out_of_step", _out_of_step_by_scan, "loop-that-finds-nothing"),
]


@pytest.mark.parametrize(("of", "method", "scanning", "name"), SCANNING)
def test_bounds__planted_scan__are_broken(
    monkeypatch: pytest.MonkeyPatch, of: Any, method: str, scanning: Callable[..., Any], name: str
) -> None:
    build, trigger = BY_NAME[name]
    small, large = build(1), build(10)
    monkeypatch.setattr(of, method, scanning)
    with pytest.raises(AssertionError, match="per trigger"):
        hold_to_bounds(cost_of(trigger, small), cost_of(trigger, large))
