"""Every rule that raises wake-ups, alone: with it a recipe gets a system, without any wake-ups none does."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest

from domain.recipe.events import RecipeScheduled
from domain.scheduling.decisions.waking import ask_all
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import WAKE_UP, Trigger
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from tests.domain.scheduling import wake_up_cases as eased
from tests.domain.scheduling import wake_up_cases_access as eased_access
from tests.domain.scheduling.host_requirements import forces, named
from tests.domain.scheduling.labs import one_lab
from tests.domain.scheduling.policies import user
from tests.domain.scheduling.rules import WAKING, rules
from tests.domain.scheduling.world import World

CASES = [*eased.CASES, *eased_access.CASES]
# Priorities change only the order, and no waiting recipe can take an idle system
# (test_priority_changes.py).
LEADS_TO_NOTHING = {"priority changed"}


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
    assert {name for name, _ in CASES} | LEADS_TO_NOTHING == WAKING


def test_rules__every_event__has_one_row() -> None:
    events = [event for rule in TRIGGER_RULES for event in rule.events]
    assert len(events) == len(set(events))
    assert all(rule.wakes or rule.may_let_go for rule in TRIGGER_RULES)


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
    events = [event for decision in ask_all(partition, trigger) for event in decision.events]
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
