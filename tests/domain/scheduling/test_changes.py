"""A change re-evaluates only the filters that name the property, once for all changed systems."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.domain.scheduling.contents import answers, check_indexes
from tests.domain.scheduling.host_requirements import at_least, in_pool
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.policies import everybody, group
from tests.domain.scheduling.world import World

POOLS = ("net", "gpu")
OF_MEMORY, OF_POOLS = 7, len(POOLS)
ALL = OF_MEMORY + OF_POOLS


def lab_of(systems: int) -> World:
    """Return a lab without usable systems: a recipe waits for each filter, and all are evaluated."""
    world = one_lab()
    for pool in POOLS:
        world.open_pool(pool, group("qe"), everybody("Medium"))
    for number in range(systems):
        pools = POOLS[: number % 3]
        world.add_system(f"m{number}", memory_mb=1_000 * (number % 9), pools=pools, condition="Manual")
    for number in range(OF_MEMORY):
        world.submit(at_least(1_000 * number).text, owner="eve", group="qe" if number % 2 else None)
    for pool in POOLS:
        world.submit(in_pool(pool))
    world.settle()
    assert evaluations(world) == ALL
    return world


def evaluations(world: World) -> int:
    """Return the evaluations since the last call; compare all answers with those of a refolded partition."""
    assert answers(world.partition) == answers(world.refolded())
    check_indexes(world.partition)
    effort = world.partition.effort
    counted, effort.evaluations = effort.evaluations, 0
    return counted


def _shrink(world: World, fqdn: str) -> None:
    world.describe(fqdn, memory_mb=world.systems[fqdn].inventory["memory_mb"] // 2)


def _change_memory(world: World, fqdn: str) -> None:
    world.describe(fqdn, memory_mb=1, hypervisor="KVM", numa_nodes=4)


def _join_or_leave(world: World, fqdn: str) -> None:
    for pool in POOLS:
        world.set_pool(pool, fqdn, not world.directory.pool_has(pool, fqdn))


def _exclude(world: World, fqdn: str) -> None:
    world.describe(fqdn, excluded_families=[{"arch": "x86_64", "family": "Fedora", "version": None}])


CHANGES: list[tuple[Callable[[World, str], None], int]] = [
    # A property that some filters name.
    (_shrink, OF_MEMORY),
    (_change_memory, OF_MEMORY),
    (_join_or_leave, OF_POOLS),
    # A property that no filter names.
    (lambda world, fqdn: world.describe(fqdn, numa_nodes=4), 0),
    (lambda world, fqdn: world.set_condition(fqdn, "Broken"), 0),
    # Access, which no filter names, although viable systems change.
    (lambda world, fqdn: world.open_system(fqdn, group("qe", "Low")), 0),
    (lambda world, fqdn: world.lend(fqdn, "bob"), 0),
    (lambda world, fqdn: world.own(fqdn, "eve"), 0),
    # Installable distros, and the removal of a system, concern all filters.
    (_exclude, ALL),
    (lambda world, fqdn: world.set_condition(fqdn, "Removed"), ALL),
]


@pytest.mark.parametrize(("change", "concerned"), CHANGES)
@pytest.mark.parametrize("systems", [6, 60])
def test_changed__many_systems_before_a_query__concerned_filters_evaluated_once(
    change: Callable[[World, str], None], concerned: int, systems: int
) -> None:
    world = lab_of(systems)
    for fqdn in list(world.systems)[: systems // 2]:
        change(world, fqdn)
    assert evaluations(world) == concerned
    world.settle()
    assert evaluations(world) == 0


@pytest.mark.parametrize("systems", [6, 60])
def test_changed__policy_of_a_pool__evaluates_no_filter(systems: int) -> None:
    world = lab_of(systems)
    world.open_pool("net", group("qe", "High"))
    assert evaluations(world) == 0


@pytest.mark.parametrize("added", [1, 50])
def test_added__many_systems_before_a_query__each_filter_evaluated_once(added: int) -> None:
    world = lab_of(6)
    for number in range(added):
        world.add_system(f"new{number}", memory_mb=9_000, pools=["net"], condition="Manual")
    assert evaluations(world) == ALL


def test_changed__different_properties_of_systems__all_concerned_filters_updated() -> None:
    world = lab_of(12)
    _shrink(world, "m2")
    _join_or_leave(world, "m11")
    world.describe("m5", numa_nodes=2)
    assert evaluations(world) == ALL
