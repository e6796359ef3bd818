"""The cost of a trigger does not depend on the size of the lab or the depth of the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest

from domain.admission.configuration import ALWAYS, WITHIN_PRIORITY
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions import (
    demanded_systems,
    departed_trees,
    granting,
    let_go,
    wake_groups,
    wake_up_grants,
)
from domain.scheduling.demand.filters import Filters
from domain.scheduling.demand.lines import ranks_as_queued
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
    with_overtaken,
)
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.world import World

Build = Callable[[int], World]
Trigger = Callable[[World], None]

# All filters: those of the queue and a few others. A changed system is evaluated for each.
EVALUATIONS = len(FILTERS) + 4
# Every filter may want a system, and a trigger may lead to a few further triggers. Each is processed twice:
# the decision is applied tentatively, rolled back and then read from the log.
ROWS = 4 * EVALUATIONS
# Executed lines may differ a little, for example by the depth of heaps.
TOLERANCE = 1.1


def idle(k: int) -> World:
    """Return a lab in which every new recipe finds a system."""
    return lab_of(100 * k, busy=False)


def busy(k: int) -> World:
    """Return a lab without idle systems and with a long queue."""
    return lab_of(50 * k, busy=True, queued=100 * k)


def unwanted(k: int) -> World:
    """Return a lab with busy systems and an empty queue."""
    return lab_of(100 * k, busy=True)


def held(k: int) -> World:
    """Return a lab with one free system and many partially placed sets."""
    return with_many_holders(lab_of(50, busy=True), 10 * k)


def deep(k: int) -> World:
    """Return a lab of fixed size with a long queue."""
    return lab_of(50, busy=True, queued=100 * k)


def overtaken(k: int, assigned_first: str) -> World:
    """Return a lab with many recipes that wait for a system, and a set that gets it before them."""
    return with_overtaken(lab_of(10, busy=False), 50 * k, assigned_first)


def limited(k: int) -> World:
    """Return a busy lab with a long queue, and as many systems as recipes may have."""
    world = busy(k)
    world.configure(limits={"placed_recipes": 50 * k})
    return world


def without_room(k: int) -> World:
    """Return a lab with idle systems and a long queue of recipes that have no room."""
    world = one_lab()
    world.configure(limits={"placed_recipes": 10})
    for number in range(50):
        world.add_system(f"m{number:05}", memory_mb=4096)
    effort.submit(world, 100 * k)
    return world


def with_kept_room(k: int) -> World:
    """Return a busy lab in which a large set waits for room, which is kept from a long queue behind it."""
    world = one_lab()
    world.configure(limits={"placed_recipes": 100})
    for number in range(150):
        world.add_system(f"m{number:05}", memory_mb=4096)
    effort.submit(world, 100)
    world.submit_set([FILTERS[0]] * 60)
    effort.submit(world, 100 * k)
    world.now += timedelta(minutes=16)
    return world


def with_unaged_sets(k: int) -> World:
    """Return a lab with many larger sets that lack room, which is kept for none of them yet."""
    world = one_lab()
    world.configure(limits={"placed_recipes": 50})
    for number in range(150):
        world.add_system(f"m{number:05}", memory_mb=4096)
    effort.submit(world, 50)
    for number in range(30 * k):
        world.submit_set([FILTERS[0], FILTERS[1]], priority="Normal" if number % 2 else "High")
    effort.submit(world, 100)
    return world


def with_locks(k: int) -> World:
    """Return a busy lab with a long queue, in which all sets declare one of a few locks."""
    world = lab_of(50 * k, busy=False)
    for number in range(150 * k):
        locks = {"network": {"Shared": [f"vlan-{number % 5}"]}, "pool": "UnknownShared"}
        world.submit(FILTERS[number % len(FILTERS)], locks=locks)
    world.settle()
    return world


CASES: list[tuple[str, Build, Trigger]] = [
    ("new-job-idle-lab", idle, effort.new_job),
    ("new-job-busy-lab", busy, effort.new_job),
    ("new-set-idle-lab", idle, effort.new_pair),
    ("new-set-busy-lab", busy, effort.new_pair),
    # The choice between many idle systems by pool and by chance; every new job chooses by demand and name.
    ("choice-by-pool", idle, effort.new_choosy_job),
    ("choice-by-chance", idle, effort.new_job_by_chance),
    # Recipes end, and others take their systems, or none does.
    ("pending-system-deep-queue", busy, effort.system_freed),
    ("pending-system-no-queue", unwanted, effort.system_freed),
    # A wake-up of one system, of a lab, and of a set; a let-go without and with a stuck holder.
    ("wake-up-of-system", lambda k: with_forcing(busy(k)), effort.forced_recipe_ends),
    ("wake-up-of-lab-for-nobody", lambda k: with_holder(busy(k)), effort.system_changed),
    ("wake-up-of-idle-lab-for-nobody", lambda k: with_holder(idle(k)), effort.system_changed),
    ("let-go-busy-lab", lambda k: with_holder(busy(k)), effort.let_go_and_regrant),
    ("let-go-idle-lab", lambda k: with_holder(idle(k)), effort.let_go_and_regrant),
    ("wake-up-of-idle-lab-that-blocked-sets-want", lambda k: with_blocked(idle(k)), effort.system_changed),
    ("wake-up-of-set-busy-lab", lambda k: with_holder(busy(k)), effort.withdraw_and_regrant),
    ("wake-up-of-set-idle-lab", lambda k: with_holder(idle(k)), effort.withdraw_and_regrant),
    # A set gets a system that it holds, and releases it: it waits for one holder, not for the many.
    ("grant-beside-many-holders", held, effort.hold_and_cancel),
    # A grant to an assigned recipe, which counts an overtaking.
    ("grant-that-overtakes", lambda k: overtaken(k, WITHIN_PRIORITY), effort.overtake),
    ("grant-that-overtakes-always", lambda k: overtaken(k, ALWAYS), effort.overtake),
    # Limits: each end frees room and a system, or room beside idle systems.
    ("pending-system-limited-queue", limited, effort.system_freed),
    ("pending-system-queue-without-room", without_room, effort.system_freed),
    ("pending-system-kept-room", with_kept_room, effort.system_freed),
    ("pending-system-unaged-sets", with_unaged_sets, effort.system_freed),
    ("pending-system-with-locks", with_locks, effort.system_freed),
    # The loop visits every system, but no recipe of the queue.
    ("loop-that-finds-nothing", deep, effort.run_idle_loop),
]
BY_NAME = {name: (build, trigger) for name, build, trigger in CASES}
# Pairs of these and other cases differ only in the load of the lab.
SOAKED = ("wake-up-of-idle-lab-for-nobody", "let-go-idle-lab", "wake-up-of-set-idle-lab", "new-set-idle-lab")


def hold_to_bounds(small: Cost, large: Cost) -> None:
    assert small.evaluations == large.evaluations <= EVALUATIONS, f"evaluations per trigger: {small}, {large}"
    assert max(small.rows, large.rows) <= ROWS, f"rows per trigger: {small.rows}, {large.rows}"
    assert large.lines <= TOLERANCE * small.lines, f"lines per trigger: {small.lines}, {large.lines}"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.soak] if name in SOAKED else []) for name in BY_NAME]
)
def test_trigger__lab_and_queue_ten_times_as_large__same_cost(name: str) -> None:
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


# Implementations that scan, to show that the bounds can fail. They count no rows; the executed lines show.


def _first_by_scan(self: Labs, among: int) -> int:
    return min(numbers_in(among), key=lambda number: self.names[number])


def _least_by_scan(self: BitSlicedNumbers, among: int) -> int:
    least = min(self.value(number) for number in numbers_in(among))
    return union(1 << number for number in numbers_in(among) if self.value(number) == least)


def _fewest_by_scan(self: Filters, among: int) -> int:
    return _least_by_scan(self.demand_counts(), among)


def _ranked_by_scan(
    self: Filters,
    fqdn: str,
    lines: Sequence[str],
    *,
    forced_only: bool,
    is_sought: object = None,
    until: object = None,
) -> Iterator[Place]:
    number = self._labs.number(fqdn)
    found = []
    for entry, line in product(self._entries.values(), lines):
        for rank in self._lines[line].recipes(entry.number) if line in self._lines else ():
            self._effort.rows += 1
            if self.fitting(entry.key) >> number & 1 and (entry.key.forced or not forced_only):
                found.append(
                    Place(rank.negative_priority, rank.negative_priority, ranks_as_queued(line), 0, 0, rank)
                )
    return iter(sorted(found))


def _groups_by_scan(partition: Partition, asked: int) -> Iterator[wake_groups.WakeGroup]:
    waiting = [recipe for recipe in partition.sets.recipes.values() if recipe.state in ("queued", "assigned")]
    return _groups(partition, asked & union(partition.idle(host) for host in waiting if not host.is_guest))


_groups = wake_groups.groups_of


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


def _plans_recomputed(partition: Partition, lab_controller: str) -> Plans | None:
    partition.holders.clear()
    return partition.holders.plans(
        lab_controller, lambda number: granting._holder(partition, number, lab_controller)
    )


def _without_tree_by_scan(partition: Partition, _: datetime) -> list[int]:
    waiting = (partition.members(number).recipes for number in partition.sets.sets)
    return [each[0].recipe_set_id for each in waiting if not partition.labs.labs_with(each[0].distro_tree_id)]


SCANNING: list[Any] = [
    # Visits every idle system.
    (Labs, "first_by_name", _first_by_scan, "new-job-idle-lab"),
    (Filters, "least_demanded", _fewest_by_scan, "new-job-idle-lab"),
    pytest.param(BitSlicedNumbers, "least", _least_by_scan, "new-set-idle-lab", marks=pytest.mark.soak),
    # Visits every queued recipe.
    (Filters, "ranked_recipes", _ranked_by_scan, "pending-system-deep-queue"),
    (Filters, "ranked_recipes", _ranked_by_scan, "grant-that-overtakes"),
    pytest.param(
        wake_up_grants, "groups_of", _groups_by_scan, "wake-up-of-lab-for-nobody", marks=pytest.mark.soak
    ),
    pytest.param(
        wake_up_grants, "groups_of", _groups_by_scan, "wake-up-of-set-busy-lab", marks=pytest.mark.soak
    ),
    # Checks hopeless sets for every idle system.
    pytest.param(
        demanded_systems,
        "is_hopeless",
        lambda *_: False,
        "wake-up-of-idle-lab-that-blocked-sets-want",
        marks=pytest.mark.soak,
    ),
    pytest.param(let_go, "plans_of", _plans_by_scan, "let-go-busy-lab", marks=pytest.mark.soak),
    # Visits every holder of the lab.
    (granting, "plans_of", _plans_recomputed, "grant-beside-many-holders"),
    (departed_trees, "_sets_without_tree", _without_tree_by_scan, "loop-that-finds-nothing"),
]


@pytest.mark.parametrize(("of", "method", "scanning", "name"), SCANNING)
def test_bounds__planted_scan__exceeded(
    monkeypatch: pytest.MonkeyPatch, of: Any, method: str, scanning: Callable[..., Any], name: str
) -> None:
    build, trigger = BY_NAME[name]
    small, large = build(1), build(10)
    monkeypatch.setattr(of, method, scanning)
    with pytest.raises(AssertionError, match="per trigger"):
        hold_to_bounds(cost_of(trigger, small), cost_of(trigger, large))
