"""The answers to new single-recipe jobs, one rule at a time."""

from __future__ import annotations

import pytest

from domain.recipe.events import RecipeQueued
from domain.scheduling.decisions.decide import decide
from domain.scheduling.supply.reasons import NO_IDLE_SYSTEM
from tests.domain.scheduling.host_requirements import ANYTHING, HUGE, forces, named
from tests.domain.scheduling.world import World


def test_new_job__several_idle_systems__takes_the_first_by_name(world: World) -> None:
    world.add_idle("m9", "m10", "m2")
    recipe_id = world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[recipe_id].system == "m10"


def test_new_job__idle_system_found__both_go_to_waiting_in_one_decision(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    (decided,) = world.settle()
    assert [(subject, event.TOPIC) for subject, event in decided.events] == [
        ("recipe/1", "recipe.scheduled"),
        ("system/a", "system.scheduled"),
        ("recipe/1", "recipe.waiting"),
        ("system/a", "system.waiting"),
    ]


def test_new_job__every_viable_system_busy__is_queued_with_the_reason(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.submit(ANYTHING.text)
    assert world.settle()[-1].events == (("recipe/2", RecipeQueued(reason=NO_IDLE_SYSTEM)),)


@pytest.mark.parametrize("condition", ["Manual", "Broken"])
def test_new_job__only_viable_system_is_not_automated__waits_rather_than_being_given_up(
    world: World, condition: str
) -> None:
    world.add_system("a", condition=condition)
    world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[1].state == "queued"


def test_new_job__lab_disabled__is_queued(world: World) -> None:
    world.add_idle("a")
    world.enable("lab-1", False)
    world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[1].state == "queued"


def test_new_job__two_in_one_batch_and_one_idle_system__the_second_sees_the_first(world: World) -> None:
    world.add_idle("a")
    first, second = world.submit(ANYTHING.text), world.submit(ANYTHING.text)
    assert len(world.decide(limit=2)) == 2
    world.settle()
    assert (world.recipes[first].state, world.recipes[second].state) == ("waiting", "queued")


def test_new_jobs__same_basis__served_in_rank_order(world: World) -> None:
    world.add_idle("a")
    low, normal, urgent = (world.submit(ANYTHING.text, priority=each) for each in ("Low", "Normal", "Urgent"))
    world.change_priority(normal, "High")
    answered = [int(decision.trigger.name) for decision in world.settle()]
    assert answered == [world.recipes[each].recipe_set_id for each in (urgent, normal, low)]
    assert world.states(urgent, normal, low) == ["waiting", "queued", "queued"]


def test_new_jobs__priority_changed_between_two_commits_of_a_batch__counts_as_it_is(world: World) -> None:
    world.add_idle("a", "b")
    low, high, urgent = (world.submit(ANYTHING.text, priority=each) for each in ("Low", "High", "Urgent"))
    world.commit_decisions(world.decide(limit=1), world.position)
    world.change_priority(low, "Urgent")
    assert decide(world.refolded(), 1) == world.decide(limit=1)
    world.settle()
    assert world.states(urgent, low, high) == ["waiting", "waiting", "queued"]


def test_new_job__aborted_one_between_two_others__only_that_one_is_aborted(world: World) -> None:
    world.add_idle("a")
    for host_requires in (ANYTHING.text, HUGE.text, ANYTHING.text):
        world.submit(host_requires)
    world.settle()
    assert [recipe.state for recipe in world.recipes.values()] == ["waiting", "aborted", "queued"]


def test_new_job__exclusion_of_another_arch_or_version__does_not_count(world: World) -> None:
    others = [("ppc64le", "Fedora", None), ("x86_64", "Fedora", "39"), ("x86_64", "CentOS", None)]
    rows = [{"arch": arch, "family": family, "version": version} for arch, family, version in others]
    world.add_system("a", excluded_families=rows)
    world.settle()
    world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[1].state == "waiting"


def test_decision__expected_versions__aggregates_it_depends_on(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    (decision,) = world.decide()
    assert decision.expected == (("recipe/1", 1), ("system/a", world.systems["a"].version))


def test_new_job__system_idle_beside_a_recipe_that_waited_for_its_lab__that_one_goes_first(
    world: World,
) -> None:
    world.add_idle("a", "b")
    lab = world.systems["a"].lab_controller
    world.enable(lab, False)
    world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[1].state == "queued"

    world.enable(lab, True)
    world.submit(ANYTHING.text)
    world.settle()

    assert (world.system_of(1), world.system_of(2)) == ("a", "b")


@pytest.mark.parametrize("condition", ["Automated", "Manual", "Broken"])
def test_new_job__forces_an_idle_system__gets_it_in_any_condition(world: World, condition: str) -> None:
    world.add_system("a", condition=condition)
    world.add_idle("b")
    forcing = world.submit(forces("a"))
    world.settle()
    assert (world.system_of(forcing), world.states(forcing)) == ("a", ["waiting"])
    assert world.systems["a"].usage == "waiting"


def _drained(world: World) -> None:
    world.drain("a")


def _reserved(world: World) -> None:
    world.set_condition("a", "Manual")
    world.settle()
    world.reserve("a")


def _lab_disabled(world: World) -> None:
    world.enable("lab-1", False)


@pytest.mark.parametrize("happens", [_drained, _reserved, _lab_disabled])
def test_new_job__forces_an_unusable_system__queued(world: World, happens) -> None:  # type: ignore[no-untyped-def]
    world.add_idle("a")
    happens(world)
    world.settle()
    world.submit(forces("a"))
    world.settle()
    assert world.states() == ["queued"]


def test_new_job__wake_up_before_its_basis__answered_first(world: World) -> None:
    world.add_idle("a")
    world.enable("lab-1", False)
    waiting = world.submit(ANYTHING.text)
    world.settle()
    newcomer = world.submit(ANYTHING.text, priority="Urgent")
    world.enable("lab-1", True)
    assert [decision.trigger.kind for decision in world.settle()] == ["wake-up", "new-job"]
    assert (world.system_of(waiting), world.states(newcomer)) == ("a", ["queued"])


def test_new_job__wake_up_while_its_batch_is_answered__queue_gets_the_idle_system(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_system("b", "lab-2")
    world.add_idle("a")
    world.enable("lab-1", False)
    waiting = world.submit(named("a"))
    world.settle()
    first, second = world.submit(named("b")), world.submit(named("a"), priority="Low")
    world.commit_decisions(world.decide(limit=1), world.position)
    world.enable("lab-1", True)
    assert [decision.trigger.kind for decision in world.settle()] == ["new-job", "wake-up"]
    assert (world.system_of(first), world.system_of(waiting), world.states(second)) == ("b", "a", ["queued"])
