"""New sets that are aborted because no lab could ever serve them completely, and the reasons."""

from __future__ import annotations

import pytest

from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from domain.scheduling.supply.reasons import (
    FIT_IN_DIFFERENT_LABS,
    NO_LAB_FOR_ALL,
    NO_LAB_HAS_ALL_TREES,
    SIBLING_IMPOSSIBLE,
)
from domain.scheduling.supply.rules import FITTING
from tests.domain.scheduling.decision_reasons import reasons_to_abort
from tests.domain.scheduling.host_requirements import ANYTHING, HUGE, named
from tests.domain.scheduling.tree_requirements import OWN, recipe, submitted
from tests.domain.scheduling.world import World


def test_new_set__one_recipe_impossible__reason_of_each_recipe(world: World) -> None:
    world.add_idle("a", "b")
    world.submit_set([ANYTHING.text, HUGE.text], guests={0: [1], 1: [1]})
    too_much = next(rule.reason for rule in FITTING if rule.name == "requirement")
    assert reasons_to_abort(world) == {
        "recipe/1": SIBLING_IMPOSSIBLE,
        "recipe/2": SIBLING_IMPOSSIBLE,
        "recipe/3": too_much,
        "recipe/4": too_much,
    }


def test_new_set__enough_systems_but_two_want_the_same_one__is_aborted(world: World) -> None:
    # Counting does not suffice: there are three recipes and three systems, and each recipe fits one of them.
    world.add_idle("a", "b", "c")
    world.submit_set([named("a"), named("a"), ANYTHING.text])
    assert set(reasons_to_abort(world).values()) == {
        f"{NO_LAB_FOR_ALL}: recipes 1, 2, 3: 1 (tree-1) is in lab-1"
    }


def test_new_set__systems_enough_only_in_two_labs_together__is_aborted(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_system("a")
    world.add_system("b", lab="lab-2")
    world.settle()
    world.submit_set([ANYTHING.text, ANYTHING.text])
    details = "recipes 1, 2: 1 (tree-1) is in lab-1, lab-2"
    assert set(reasons_to_abort(world).values()) == {f"{NO_LAB_FOR_ALL}: {details}"}


def test_new_set__recipes_fit_only_in_different_labs__reason_names_labs(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    for fqdn in ("a", "b"):
        world.add_system(fqdn, condition="Broken")
    world.add_system("c", lab="lab-2")
    world.settle()
    world.submit_set([named("a", "b"), named("c"), named("a")])
    details = "recipes 1, 3: lab-1; recipe 2: lab-2"
    assert set(reasons_to_abort(world).values()) == {f"{FIT_IN_DIFFERENT_LABS}: {details}"}


def test_new_set__access_only_to_different_labs__reason_names_labs(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.add_system("a")
    world.add_system("b")
    world.add_system("c", lab="lab-2")
    world.open_system("b")
    world.settle()
    world.submit_set([named("a"), named("b", "c")], owner="eve")
    details = "recipe 1: lab-1; recipe 2: lab-2"
    assert set(reasons_to_abort(world).values()) == {f"{FIT_IN_DIFFERENT_LABS}: {details}"}


def test_new_set__trees_in_different_labs__reason_names_labs(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(2, "x86_64", ["lab-2"])
    world.add_system("a")
    world.add_system("b", lab="lab-2")
    world.settle()
    spec = RecipeSetSpec(Priority.Normal, (recipe(named("a")), recipe(named("b")), recipe(distro=OWN)))
    submitted(world, spec, (1, 2, None))
    details = "recipe 1: 1 (tree-1) is in lab-1; recipe 2: 2 (tree-2) is in lab-2"
    assert set(reasons_to_abort(world).values()) == {f"{NO_LAB_HAS_ALL_TREES}: {details}"}


def test_new_set__many_recipes_and_labs__reason_names_the_first(world: World) -> None:
    labs = [f"lab-{number}" for number in range(1, 8)]
    for lab in labs[1:]:
        world.add_lab(lab)
        world.add_system(f"only.{lab}", lab=lab)
    world.put_tree(1, "x86_64", labs)
    world.settle()
    world.submit_set([ANYTHING.text] * 6)
    details = "recipes 1, 2, 3, 4 and 2 more: 1 (tree-1) is in lab-1, lab-2, lab-3, lab-4 and 3 more"
    assert set(reasons_to_abort(world).values()) == {f"{NO_LAB_FOR_ALL}: {details}"}


@pytest.mark.parametrize("condition", ["Manual", "Broken"])
def test_new_set__enough_systems_but_some_unusable__waits(world: World, condition: str) -> None:
    world.add_idle("a")
    world.add_system("b", condition=condition)
    world.submit_set([ANYTHING.text, ANYTHING.text])
    world.settle()
    assert world.states() == ["queued", "queued"]


def test_new_set__given_up__no_other_set_of_the_batch_is(world: World) -> None:
    world.add_idle("a")
    for host_requires in (ANYTHING.text, HUGE.text, ANYTHING.text):
        world.submit(host_requires)
    world.settle()
    assert world.states() == ["waiting", "aborted", "queued"]
