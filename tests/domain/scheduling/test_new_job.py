"""What becomes of a new recipe, one rule at a time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.recipe.events import RecipeAborted, RecipeQueued
from domain.scheduling.decide import NO_DISTRO_TREE, NO_IDLE_SYSTEM
from domain.scheduling.rules import VIABLE
from tests.domain.scheduling.wants import ANYTHING, HUGE
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
    assert [(subject, event.TOPIC) for subject, event in decided] == [
        ("recipe/1", "recipe.scheduled"),
        ("system/a", "system.scheduled"),
        ("recipe/1", "recipe.waiting"),
        ("system/a", "system.waiting"),
    ]


def test_new_job__every_viable_system_busy__is_queued_with_the_reason(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    world.submit(ANYTHING.text)
    assert world.settle()[-1] == (("recipe/2", RecipeQueued(reason=NO_IDLE_SYSTEM)),)


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
    first, second = world.submit(ANYTHING.text), world.submit(ANYTHING.text, priority="Urgent")
    assert len(world.decide(limit=2)) == 2
    world.settle()
    assert (world.recipes[first].state, world.recipes[second].state) == ("waiting", "queued")


def test_new_job__no_distro_tree__is_aborted(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text, tree_id=None)
    assert world.settle() == [(("recipe/1", RecipeAborted(reason=NO_DISTRO_TREE)),)]


def test_new_job__aborted_one_between_two_others__only_that_one_is_aborted(world: World) -> None:
    world.add_idle("a")
    for host_requires in (ANYTHING.text, HUGE.text, ANYTHING.text):
        world.submit(host_requires)
    world.settle()
    assert [recipe.state for recipe in world.recipes.values()] == ["waiting", "aborted", "queued"]


def _only_removed(world: World) -> str:
    world.add_system("a", condition="Removed")
    return ANYTHING.text


def _other_lab(world: World) -> str:
    world.add_lab("lab-2")
    world.add_system("a", lab="lab-2")
    return ANYTHING.text


def _other_arch(world: World) -> str:
    world.add_system("a", arches=["ppc64le"])
    return ANYTHING.text


def _excluded_family(world: World) -> str:
    world.add_system("a", excluded_families=[{"arch": "x86_64", "family": "Fedora", "version": None}])
    return ANYTHING.text


def _excluded_version(world: World) -> str:
    world.add_system("a", excluded_families=[{"arch": "x86_64", "family": "Fedora", "version": "40"}])
    return ANYTHING.text


def _too_small(world: World) -> str:
    world.add_system("a")
    return HUGE.text


HOPELESS = [
    # The lab's last system was taken away for good.
    (_only_removed, "registered"),
    # The tree is imported in one lab, the machines stand in another.
    (_other_lab, "distro"),
    # The tree is there, but nothing that could boot it.
    (_other_arch, "arch"),
    # The owner knows that the family does not run.
    (_excluded_family, "exclusion"),
    # The owner knows that just this version does not run.
    (_excluded_version, "exclusion"),
    # The submitter asks for more than anybody has.
    (_too_small, "requirement"),
]


@pytest.mark.parametrize(("prepare", "name"), HOPELESS)
def test_new_job__nobody_could_ever_serve_it__is_aborted_with_the_reason_of_the_rule(
    world: World, prepare: Callable[[World], str], name: str
) -> None:
    host_requires = prepare(world)
    world.settle()
    world.submit(host_requires)
    reason = next(rule.reason for rule in VIABLE if rule.name == name)
    assert world.settle() == [(("recipe/1", RecipeAborted(reason=reason)),)]


def test_rules__every_one__has_a_hopeless_case() -> None:
    assert {name for _, name in HOPELESS} == {rule.name for rule in VIABLE}


def test_new_job__exclusion_of_another_arch_or_version__does_not_count(world: World) -> None:
    others = [("ppc64le", "Fedora", None), ("x86_64", "Fedora", "39"), ("x86_64", "CentOS", None)]
    rows = [{"arch": arch, "family": family, "version": version} for arch, family, version in others]
    world.add_system("a", excluded_families=rows)
    world.settle()
    world.submit(ANYTHING.text)
    world.settle()
    assert world.recipes[1].state == "waiting"


def test_decision__expected_versions__are_those_it_rests_on(world: World) -> None:
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
    granted = [decided[0] for decided in world.settle()]

    assert [(subject, event.system) for subject, event in granted] == [("recipe/1", "a"), ("recipe/2", "b")]
