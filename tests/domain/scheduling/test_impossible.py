"""Recipes and recipe sets that no system can run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from domain.requirements.host import HOST
from domain.scheduling.supply.reasons import (
    ALL_MATCHES_EXCLUDE,
    FIT_IN_DIFFERENT_LABS,
    NO_DISTRO_TREE,
    NO_LAB_FOR_ALL,
    NO_LAB_HAS_ALL_TREES,
    NO_MATCH_FITS,
    NO_MATCH_HAS_THE_GUESTS,
    NO_MATCH_HAS_THE_TREE,
    NO_MATCH_OF_THE_ARCH,
    SIBLING_IMPOSSIBLE,
)
from domain.scheduling.supply.rules import FITTING
from tests.domain.scheduling.decision_reasons import reasons_to_abort
from tests.domain.scheduling.host_requirements import ANYTHING, HUGE, forces, named
from tests.domain.scheduling.tree_requirements import OWN, recipe, submitted
from tests.domain.scheduling.world import World

HUGE_FORM = {"element": "memory", "op": ">=", "value": 1_000_000}


def _unknown_names(world: World) -> int:
    world.add_system("a")
    world.settle()
    pool = {"element": "pool", "op": "==", "value": "smal"}
    form = {"and": [{"or": [pool, {"not": [pool]}]}, {"element": "key_value", "key": "HVN"}]}
    return world.submit(HOST.examine(form).text)


def _unknown_name_excluded(world: World) -> int:
    world.add_system("a")
    world.settle()
    form = {"and": [{"element": "pool", "op": "!=", "value": "smal"}, HUGE_FORM]}
    return world.submit(HOST.examine(form).text)


def _only_removed(world: World) -> int:
    world.add_system("a", condition="Removed")
    return world.submit(ANYTHING.text)


def _forced_is_removed(world: World) -> int:
    # Another system exists, but it is not the forced one.
    world.add_system("a", condition="Removed")
    world.add_system("b")
    world.settle()
    return world.submit(forces("a"))


def _other_lab(world: World) -> int:
    world.add_lab("lab-2")
    world.add_system("a", lab="lab-2")
    world.settle()
    return world.submit(ANYTHING.text)


def _other_arch(world: World) -> int:
    world.add_system("a", arches=["ppc64le"])
    world.settle()
    return world.submit(ANYTHING.text)


def _own_distro_of_other_arch(world: World) -> int:
    world.add_system("a", arches=["ppc64le"])
    world.settle()
    return world.submit(ANYTHING.text, None, distro=OWN)


def _excluding(family: str, version: str | None, fqdn: str = "a") -> Callable[[World], None]:
    rows = [{"arch": "x86_64", "family": family, "version": version}]

    def add(world: World) -> None:
        world.add_system(fqdn, excluded_families=rows)
        world.settle()

    return add


def _excluded_family(world: World) -> int:
    _excluding("Fedora", None)(world)
    return world.submit(ANYTHING.text)


def _excluded_version(world: World) -> int:
    _excluding("Fedora", "40")(world)
    return world.submit(ANYTHING.text)


def _excluded_own_distro(world: World) -> int:
    _excluding("Mine", "1")(world)
    return world.submit(ANYTHING.text, None, distro=OWN)


def _guests_elsewhere(world: World) -> int:
    world.add_lab("lab-2")
    world.put_tree(2, "x86_64", ["lab-2"])
    for name, lab in (("a", "lab-1"), ("b", "lab-2")):
        world.add_system(name, lab=lab)
    world.settle()
    return world.submit_set([ANYTHING.text], guests={0: [2]})[0]


def _too_small(world: World) -> int:
    world.add_idle("a")
    return world.submit(HUGE.text)


def _match_elsewhere(world: World) -> None:
    world.add_lab("lab-2")
    world.add_system("b", lab="lab-2")


def _match_of_other_arch(world: World) -> None:
    world.add_system("b", arches=["ppc64le"])


def _match_without_the_guests(world: World) -> None:
    world.add_lab("lab-2")
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.put_tree(2, "x86_64", ["lab-1"])
    world.add_system("b", lab="lab-2")


def _match_elsewhere_or_of_other_arch(world: World) -> None:
    _match_elsewhere(world)
    world.add_system("c", arches=["ppc64le"])


# The trees, and the labs that have them.
ONE = "1 (tree-1) is in lab-1"
BOTH = "1 (tree-1) is in lab-1, lab-2; 2 (tree-2) is in lab-1"

MATCHING = [
    # The required system is in a lab without the tree.
    (_match_elsewhere, "b", (), f"{NO_MATCH_HAS_THE_TREE}: {ONE}"),
    (_match_without_the_guests, "b", (2,), f"{NO_MATCH_HAS_THE_GUESTS}: {BOTH}"),
    (_match_of_other_arch, "b", (), f"{NO_MATCH_OF_THE_ARCH}: {ONE}"),
    (_excluding("Fedora", None, "b"), "b", (), f"{ALL_MATCHES_EXCLUDE}: {ONE}"),
    # Each matching system fails another rule.
    (_match_elsewhere_or_of_other_arch, "bc", (), f"{NO_MATCH_FITS}: {ONE}"),
]


@pytest.mark.parametrize(("prepare", "wanted", "guests", "reason"), MATCHING)
def test_new_job__matching_systems_cannot_install__aborted_with_the_reason(
    world: World, prepare: Callable[[World], None], wanted: str, guests: tuple[int, ...], reason: str
) -> None:
    # This system passes every other rule.
    world.add_system("a")
    prepare(world)
    world.settle()
    world.submit_set([named(*wanted)], guests={0: list(guests)})
    assert set(reasons_to_abort(world).values()) == {reason}


HOPELESS = [
    # The only system of the lab was removed.
    (_only_removed, "registered", ""),
    # The forced system was removed: a removed system runs no recipe.
    (_forced_is_removed, "requirement", 'there is no system "a"'),
    # The tree is in one lab, the systems are in another.
    (_other_lab, "distro", ONE),
    # Each tree is in a lab with systems, but the trees of guest and host are in different labs.
    (_guests_elsewhere, "guests", "1 (tree-1) is in lab-1; 2 (tree-2) is in lab-2"),
    # No system has the architecture of the tree.
    (_other_arch, "arch", ONE),
    (_own_distro_of_other_arch, "arch", ""),
    # The owner excluded the family, only this version, or a custom distro.
    (_excluded_family, "exclusion", ONE),
    (_excluded_version, "exclusion", ONE),
    (_excluded_own_distro, "exclusion", ""),
    # The requirement exceeds every system.
    (_too_small, "requirement", ""),
    # The job uses names of another lab.
    (_unknown_names, "requirement", 'there is no key "HVN"; there is no pool "smal"'),
    # Every system is outside of a pool that does not exist: the name is not the reason.
    (_unknown_name_excluded, "requirement", ""),
]


@pytest.mark.parametrize(("prepare", "name", "where"), HOPELESS)
def test_new_job__no_system_could_ever_run_it__aborted_with_reason_of_the_rule(
    world: World, prepare: Callable[[World], int], name: str, where: str
) -> None:
    recipe_id = prepare(world)
    reason = next(rule.reason for rule in FITTING if rule.name == name)
    assert reasons_to_abort(world)[f"recipe/{recipe_id}"] == (f"{reason}: {where}" if where else reason)


def test_rules__every_one__has_a_hopeless_case() -> None:
    assert {name for _, name, _ in HOPELESS} == {rule.name for rule in FITTING}


def test_new_job__no_distro_tree__is_aborted(world: World) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text, tree_id=None)
    assert reasons_to_abort(world) == {"recipe/1": NO_DISTRO_TREE}


def test_new_job__no_distro_tree_for_a_guest__host_and_guest_are_aborted(world: World) -> None:
    world.add_idle("a")
    world.submit_set([ANYTHING.text], guests={0: [None]})  # type: ignore[list-item]
    assert reasons_to_abort(world) == {"recipe/1": NO_DISTRO_TREE, "recipe/2": NO_DISTRO_TREE}


def test_new_job__custom_distro__every_lab_has_it(world: World) -> None:
    world.add_lab("lab-2")
    world.add_system("a", lab="lab-2")
    world.settle()
    recipe_id = world.submit(ANYTHING.text, None, distro=OWN)
    world.settle()
    assert world.system_of(recipe_id) == "a"


@pytest.mark.parametrize("condition", ["Manual", "Broken", "Removed"])
def test_queued__candidates_gone_later__still_waits(world: World, condition: str) -> None:
    world.add_idle("a")
    world.submit(ANYTHING.text)
    waiting = world.submit(ANYTHING.text)
    world.settle()
    world.set_condition("a", condition)
    world.settle()
    assert world.states(waiting) == ["queued"]


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
