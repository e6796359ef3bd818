"""The choice of distro trees for the recipes of a new set."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.distro_choice.distro_trees import Chosen
from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from domain.requirements.distro import DISTRO
from tests.domain.scheduling.host_requirements import BIG, HUGE, forces, in_pool, named
from tests.domain.scheduling.tree_requirements import OWN, choose, recipe, trees_of, with_guests
from tests.domain.scheduling.world import World

SMALL, LARGE = "lab-small", "lab-large"
# Among trees of one family, the higher id is newer.
OLD, NEW, OTHER_OLD, OTHER_NEW = 101, 102, 201, 202


@pytest.fixture
def labs() -> World:
    """Return a world with two labs: the new Fedora is only in the small lab, the old one in both."""
    world = World()
    for lab in (SMALL, LARGE):
        world.add_lab(lab)
    world.put_tree(OLD, "x86_64", [LARGE])
    world.put_tree(NEW, "x86_64", [SMALL])
    world.put_tree(OTHER_OLD, "x86_64", [SMALL, LARGE], family="Other")
    world.add_system("small-1", lab=SMALL)
    for number in (1, 2, 3):
        world.add_system(f"large-{number}", lab=LARGE, memory_mb=16_384)
    return world


def test_tree__newest_in_a_small_lab__chosen_if_the_lab_can_serve(labs: World) -> None:
    assert choose(labs, recipe()) == Chosen((NEW,))
    assert choose(labs, recipe(named("small-1"))) == Chosen((NEW,))
    for elsewhere in (named("large-2"), BIG.text, forces("large-1")):
        assert choose(labs, recipe(elsewhere)) == Chosen((OLD,))


def test_tree__system_joins_the_required_pool__counts(labs: World) -> None:
    trees = trees_of(labs)
    wanted = RecipeSetSpec(Priority.Normal, (recipe(in_pool("net")),))
    assert trees.choose(wanted, "ada", None) == Chosen((NEW,), hopeless=True)
    labs.set_pool("net", "large-3", True)
    trees.apply(labs.log[-1])
    assert trees.choose(wanted, "ada", None) == Chosen((OLD,))


def _broken(world: World) -> None:
    world.set_condition("small-1", "Broken")


def _manual(world: World) -> None:
    world.set_condition("small-1", "Manual")


def _draining(world: World) -> None:
    world.drain("small-1")


def _disabled(world: World) -> None:
    world.enable(SMALL, False)


def _reserved(world: World) -> None:
    _manual(world)
    world.reserve("small-1")


def _other_arch(world: World) -> None:
    world.describe("small-1", arches=["ppc64le"])


def _excluded(world: World) -> None:
    excluded = [{"arch": "x86_64", "family": "Fedora", "version": None}]
    world.describe("small-1", type="Machine", arches=["x86_64"], excluded_families=excluded)


def _moved(world: World) -> None:
    world.move("small-1", LARGE)


def _removed(world: World) -> None:
    world.set_condition("small-1", "Removed")


def _tree_removed(world: World) -> None:
    world.remove_tree(NEW)


AWAY: list[Callable[[World], None]] = [
    *(_broken, _manual, _draining, _disabled, _reserved, _other_arch, _excluded),
    *(_moved, _removed, _tree_removed),
]


@pytest.mark.parametrize("away", AWAY)
def test_tree__no_usable_system_in_the_small_lab__older_one(
    labs: World, away: Callable[[World], None]
) -> None:
    trees = trees_of(labs)
    wanted = RecipeSetSpec(Priority.Normal, (recipe(),))
    assert trees.choose(wanted, "ada", None) == Chosen((NEW,))
    updated = len(labs.log)
    away(labs)
    for recorded in labs.log[updated:]:
        trees.apply(recorded)
    # Chosen by a process that has answered before, and by a new one.
    assert trees.choose(wanted, "ada", None) == choose(labs, recipe()) == Chosen((OLD,))


@pytest.mark.parametrize("away", [_broken, _manual, _draining, _disabled])
def test_tree__only_unusable_systems_fit__tree_of_their_lab(
    labs: World, away: Callable[[World], None]
) -> None:
    away(labs)
    assert choose(labs, recipe(named("small-1"))) == Chosen((NEW,))


def test_tree__broken_system_is_forced__is_that_of_its_lab(labs: World) -> None:
    labs.set_condition("small-1", "Broken")
    assert choose(labs, recipe(forces("small-1"))) == Chosen((NEW,))


def test_tree__added_or_lost_while_asked__follows(labs: World) -> None:
    trees = trees_of(labs)
    wanted = RecipeSetSpec(Priority.Normal, (recipe(BIG.text),))
    assert trees.choose(wanted, "ada", None).tree_ids == (OLD,)
    for in_labs, tree_id in (([SMALL, LARGE], NEW), ([SMALL], OLD), ([], OLD), ([LARGE], NEW)):
        labs.put_tree(NEW, "x86_64", in_labs)
        trees.apply(labs.log[-1])
        assert trees.choose(wanted, "ada", None).tree_ids == (tree_id,)


# Sets


def test_set__small_lab_has_too_few_systems__has_the_older_tree_of_the_large_one(labs: World) -> None:
    assert choose(labs, recipe(), recipe()) == Chosen((OLD, OLD))
    labs.add_system("small-2", lab=SMALL)
    assert choose(labs, recipe(), recipe()) == Chosen((NEW, NEW))


def test_set__one_recipe_fits_the_large_lab_alone__all_have_its_trees(labs: World) -> None:
    labs.add_system("small-2", lab=SMALL)
    labs.put_tree(OTHER_NEW, "x86_64", [SMALL], family="Other")
    assert choose(labs, recipe(), recipe(BIG.text, "Other")) == Chosen((OLD, OTHER_OLD))


def test_set__newest_trees_are_in_different_labs__goes_by_the_order_of_the_document(labs: World) -> None:
    for name, lab in (("small-2", SMALL), ("large-4", LARGE)):
        labs.add_system(name, lab=lab)
    labs.put_tree(OTHER_NEW, "x86_64", [LARGE], family="Other")
    assert choose(labs, recipe(), recipe(family="Other")) == Chosen((NEW, OTHER_OLD))
    assert choose(labs, recipe(family="Other"), recipe()) == Chosen((OTHER_NEW, OLD))


def test_set__newest_tree_runs_on_one_system_only__the_others_have_older_ones() -> None:
    world = World()
    world.add_lab("lab")
    for tree_id, family in ((OLD, "Fedora"), (NEW, "Later")):
        world.put_tree(tree_id, "x86_64", ["lab"], family=family)
    world.add_system("a", lab="lab", excluded_families=[{"arch": "x86_64", "family": "Later"}])
    world.add_system("b", lab="lab")
    both = DISTRO.examine({"element": "arch", "op": "==", "value": "x86_64"}).text
    chosen = choose(world, *[recipe(distro_requires=both)] * 2)
    assert (sorted(chosen.tree_ids, key=str), chosen.hopeless) == ([OLD, NEW], False)


def test_set__no_lab_could_serve_all__tree_of_each_recipe_alone(labs: World) -> None:
    assert choose(labs, recipe(named("small-1")), recipe(BIG.text)) == Chosen((NEW, OLD), hopeless=True)
    assert choose(labs, *[recipe()] * 4) == Chosen((NEW,) * 4, hopeless=True)


def test_guest__newest_tree_is_elsewhere__tree_of_the_lab_of_its_host(labs: World) -> None:
    labs.put_tree(OTHER_NEW, "x86_64", [SMALL], family="Other")
    assert choose(labs, with_guests(recipe(BIG.text), "Other", "Fedora")) == Chosen((OLD, OTHER_OLD, OLD))
    assert choose(labs, with_guests(recipe(), "Other", "Fedora")) == Chosen((NEW, OTHER_NEW, NEW))


def test_guest__no_lab_has_both__newest(labs: World) -> None:
    labs.put_tree(OTHER_OLD, "x86_64", [SMALL], family="Other")
    chosen = choose(labs, with_guests(recipe(BIG.text), "Other"))
    assert chosen == Chosen((OLD, OTHER_OLD), hopeless=True)


# No tree or no system


def test_tree__no_system_fits__newest(labs: World) -> None:
    assert choose(labs, recipe(HUGE.text)) == Chosen((NEW,), hopeless=True)


def test_tree__there_is_none__is_none(labs: World) -> None:
    assert choose(labs, recipe(family="CentOS")) == Chosen((None,), hopeless=True)
    assert choose(labs, recipe(), with_guests(recipe(), "CentOS")).hopeless


def test_tree__custom_distro__none_and_any_lab(labs: World) -> None:
    own = recipe(distro=OWN, distro_requires="{}")
    assert choose(labs, own) == Chosen((None,))
    assert choose(labs, own, recipe(BIG.text)) == Chosen((None, OLD))
    labs.describe("small-1", type="Machine", arches=["ppc64le"])
    labs.add_system("small-2", lab=SMALL)
    assert choose(labs, own, recipe()) == Chosen((None, OLD))


def test_trees__caught_up_in_parts__choose_as_if_at_once(labs: World) -> None:
    large = RecipeSetSpec(Priority.Normal, (recipe(BIG.text),))
    trees = trees_of(labs)
    assert not trees.catch_up(1)
    assert trees.choose(large, "ada", None) == Chosen((OLD,)), "a query processes the remaining changes"
    trees = trees_of(labs)
    assert [trees.catch_up(2) for _ in range(3)] == [False, True, True]
    assert trees.choose(large, "ada", None) == Chosen((OLD,))
