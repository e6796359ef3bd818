"""Wake-ups, and the changes that cause them."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest

from domain.recipe.events import RecipeScheduled
from domain.scheduling.decisions.wake_up_grants import all_idle
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import WAKE_UP, Trigger
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from tests.domain.scheduling import wake_up_cases as eased
from tests.domain.scheduling import wake_up_cases_access as eased_access
from tests.domain.scheduling.contents import answers, check_indexes
from tests.domain.scheduling.host_requirements import at_least, forces, in_pool, named
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.policies import everybody, group, user
from tests.domain.scheduling.rules import WAKING, rules
from tests.domain.scheduling.world import World

CASES = [*eased.CASES, *eased_access.CASES]


def after(case: Callable[[World], int], wakes: tuple[str, ...]) -> tuple[World, int]:
    world = one_lab(rules(wakes))
    recipe_id = case(world)
    world.settle()
    return world, recipe_id


@pytest.mark.parametrize(("name", "case"), CASES)
def test_wake_up__any_row_alone__leads_to_a_grant(name: str, case: Callable[[World], int]) -> None:
    world, recipe_id = after(case, wakes=(name,))
    assert world.system_of(recipe_id) is not None
    without, recipe_id = after(case, wakes=())
    assert without.system_of(recipe_id) is None


def test_wake_ups__every_row__has_a_case() -> None:
    assert {name for name, _ in CASES} == WAKING


def test_rules__every_event__has_one_row() -> None:
    events = [event for rule in TRIGGER_RULES for event in rule.events]
    assert len(events) == len(set(events))
    assert all(rule.wakes or rule.may_let_go or rule.may_lock or rule.may_claim for rule in TRIGGER_RULES)


def test_wake_up__recipe_takes_the_system__idle_to_scheduled_in_one_commit(world: World) -> None:
    recipe_id = eased.lab_enabled(world)
    (decision,) = world.settle()
    assert decision.trigger.name == "lab-controller/lab-1"
    assert [event.TOPIC for _, event in decision.events][:2] == ["recipe.scheduled", "system.scheduled"]
    assert world.states(recipe_id) == ["waiting"]


def test_wake_up__several_idle_systems_are_wanted__one_decision_each(world: World) -> None:
    world.add_idle("a", "b", "c")
    world.enable("lab-1", False)
    low, high = world.submit(named("a", "b"), priority="Low"), world.submit(named("a", "b"))
    world.settle()
    world.enable("lab-1", True)
    decisions = world.settle()
    assert [world.system_of(recipe_id) for recipe_id in (high, low)] == ["a", "b"]
    assert {decision.trigger for decision in decisions} == {decisions[0].trigger}
    assert len(decisions) == 2


def test_wake_up__grant_makes_the_next_recipe_elsewhere_unsafe__it_is_passed_over(world: World) -> None:
    # On y eve's set ranks ahead of ada's, on x behind it. A set with y needs x, so x becomes unsafe for ada.
    world.add_idle("x", "y")
    world.open_system("x", user("ada", "Urgent"), user("eve", "Low"))
    world.open_system("y", user("ada", "Low"), user("eve", "Urgent"))
    world.enable("lab-1", False)
    adas = world.submit_set([named("x"), named("y")], priority="High", owner="ada")
    eves = world.submit_set([named("x"), named("y")], priority="Urgent", owner="eve")
    world.settle()
    world.enable("lab-1", True)
    world.settle()
    assert [world.system_of(recipe_id) for recipe_id in eves] == ["x", "y"]
    assert world.states(*adas) == ["queued", "queued"]


def test_wake_up__random_choice_with_unsafe_systems__among_the_safe_ones() -> None:
    # Eve takes y, so x becomes unsafe for ada, whose random choice is between p and q.
    world = World()
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    for lab, systems in {"lab-1": "xy", "lab-2": "pqr"}.items():
        world.add_lab(lab, enabled=False)
        for fqdn in systems:
            world.add_system(fqdn, lab)
            first, second = ("ada", "eve") if fqdn in "xpq" else ("eve", "ada")
            world.open_system(fqdn, user(first, "Urgent"), user(second, "Low"))
    world.submit_set([named("x"), named("y")], priority="Urgent", owner="eve")
    wants = [named("x", "p", "q"), named("y", "r")]
    random, _ = world.submit_set(wants, priority="High", owner="ada", autopick_random=True)
    world.settle()
    for lab in ("lab-1", "lab-2"):
        world.enable(lab, True)
    taken = set()
    for position in range(1, 13):
        trigger = Trigger(position, WAKE_UP, "all")
        taken.add(granted(world.partition, random, trigger))
        fair = sha256(f"{trigger.cause}/{random}".encode()).digest()[-1] % 2
        assert granted(world.partition, random, trigger) == ("p", "q")[fair]
    assert taken == {"p", "q"}


def granted(partition: Partition, recipe_id: int, trigger: Trigger) -> str:
    """Return the system that a recipe would get if all idle systems were asked."""
    partition.begin_tentative(None)
    grants = all_idle(partition, trigger)
    events = []
    while grants.next() is not None:
        events += grants.grant_next().events
    partition.rollback()
    scheduled = {subject: event for subject, event in events if isinstance(event, RecipeScheduled)}
    return scheduled[f"recipe/{recipe_id}"].system


def test_wake_up__forced_system_undrained_and_taken__sibling_becomes_safe(world: World) -> None:
    # Without m the set cannot be completed. When m is back, another recipe gets it first, but m will come
    # free: so z is safe now, and the wake-up has to ask z together with m.
    world.add_system("m", condition="Manual")
    world.add_idle("z")
    world.drain("m")
    urgent = world.submit(forces("m"), priority="Urgent")
    forcing, other = world.submit_set([forces("m"), named("z")])
    world.settle()
    assert world.states(urgent, forcing, other) == ["queued"] * 3
    world.undrain("m")
    world.settle()
    assert world.states(urgent, forcing, other) == ["waiting", "assigned", "scheduled"]


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
