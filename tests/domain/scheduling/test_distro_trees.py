"""Distro trees and the labs that have them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random

import pytest

from domain.directory.state import Directory
from domain.distro_choice.distro_trees import Chosen, DistroTrees
from domain.job.spec import RecipeSetSpec, RecipeSpec
from domain.priority import Priority
from domain.requirements.distro import DISTRO
from domain.scheduling.supply.reasons import NO_DISTRO_TREE, NO_SYSTEM_MATCHES, TREE_AWAY
from domain.scheduling.world.absent_trees import KEPT_SECONDS, MAX_ABSENCE_SECONDS
from tests.domain.scheduling.decision_reasons import reasons, reasons_to_abort
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, HUGE, forces, in_pool, named
from tests.domain.scheduling.policies import user
from tests.domain.scheduling.tree_requirements import OWN, choose, recipe, submitted, trees_of, with_guests
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


ANY = ANYTHING.text
# One Fedora stays; the Fedora of the other architecture and the only Other leave.
STAYS, X86, OTHER = 101, 102, 201


@pytest.fixture
def lab(world: World) -> World:
    world.remove_tree(1)
    world.now += timedelta(seconds=KEPT_SECONDS)
    world.put_tree(STAYS, "s390x", ["lab-1"])
    world.put_tree(X86, "x86_64", ["lab-1"])
    world.put_tree(OTHER, "x86_64", ["lab-1"], family="Other")
    world.add_idle("a")
    return world


def _choose(world: World, spec: RecipeSetSpec) -> Chosen:
    """Choose as an API process does after it has read the whole log."""
    directory = Directory()
    trees = DistroTrees(directory)
    for recorded in world.log:
        directory.apply(recorded)
        trees.apply(recorded)
    return trees.choose(spec, "ada", None, world.now)


def _submit(world: World, host_requires: str = ANY, family: str = "Other") -> int:
    spec = RecipeSetSpec(Priority.Normal, (recipe(host_requires, family),))
    (recipe_id,) = submitted(world, spec, _choose(world, spec).tree_ids)
    return recipe_id


def test_tree__only_match_is_away__chosen_and_set_waits(lab: World) -> None:
    lab.remove_tree(OTHER)
    lab.now += timedelta(seconds=MAX_ABSENCE_SECONDS - 1)
    waiting = _submit(lab)
    assert reasons(lab.settle()) == {f"recipe/{waiting}": f"{TREE_AWAY}: {OTHER} (tree-{OTHER})"}
    lab.put_tree(OTHER, "x86_64", ["lab-1"], family="Other")
    lab.settle()
    assert lab.system_of(waiting) == "a"


def test_tree__away_and_other_match_fits_no_system__chosen(lab: World) -> None:
    lab.put_tree(X86, "x86_64", [])
    waiting = _submit(lab, family="Fedora")
    assert reasons(lab.settle()) == {f"recipe/{waiting}": f"{TREE_AWAY}: {X86} (tree-{X86})"}


def test_tree__away_and_other_match_fits__not_chosen(lab: World) -> None:
    lab.put_tree(103, "x86_64", ["lab-1"])
    lab.remove_tree(X86)
    assert _choose(lab, RecipeSetSpec(Priority.Normal, (recipe(family="Fedora"),))) == Chosen((103,))


def test_tree__that_of_a_guest_is_away__is_chosen(lab: World) -> None:
    lab.remove_tree(OTHER)
    spec = RecipeSetSpec(Priority.Normal, (with_guests(recipe(family="Fedora"), "Other"),))
    assert _choose(lab, spec) == Chosen((X86, OTHER), hopeless=True)


def test_tree__away_and_no_system_matches__set_is_given_up_with_that_reason(lab: World) -> None:
    lab.remove_tree(OTHER)
    recipe_id = _submit(lab, named("nobody"))
    assert reasons_to_abort(lab) == {f"recipe/{recipe_id}": NO_SYSTEM_MATCHES}


def test_tree__away_for_longer__set_is_given_up_by_the_time_of_the_database(lab: World) -> None:
    """The clock of the API process may be ahead, but does not count."""
    lab.remove_tree(OTHER)
    lab.now += timedelta(seconds=MAX_ABSENCE_SECONDS)
    lab.database_ahead = -timedelta(seconds=1)
    waiting = _submit(lab)
    lab.settle()
    assert lab.states(waiting) == ["queued"]
    lab.database_ahead = timedelta()
    late = _submit(lab)
    assert reasons_to_abort(lab)[f"recipe/{late}"].endswith(f"{OTHER} (tree-{OTHER}) is in no lab")


def test_tree__away_for_a_day__is_not_chosen(lab: World) -> None:
    lab.remove_tree(OTHER)
    lab.now += timedelta(seconds=KEPT_SECONDS)
    recipe_id = _submit(lab)
    assert reasons_to_abort(lab) == {f"recipe/{recipe_id}": NO_DISTRO_TREE}


def _any_lab(chance: Random) -> World:
    world = World()
    names = ["lab-1", "lab-2", "lab-3"]
    for name in names:
        world.add_lab(name, enabled=chance.random() < 0.8)
    for tree_id in range(1, 7):
        family = chance.choice(["Fedora", "Other"])
        world.put_tree(
            tree_id,
            chance.choice(["x86_64"] * 3 + ["arm"]),
            chance.sample(names, chance.randint(0, 2)),
            family,
        )
    for number in range(chance.randint(2, 6)):
        world.add_system(
            f"m{number}",
            lab=chance.choice(names),
            condition=chance.choice(["Automated"] * 3 + ["Broken", "Manual", "Removed"]),
            arches=chance.choice([["x86_64"], ["x86_64"], ["arm"], ["x86_64", "arm"]]),
            excluded_families=[{"arch": "x86_64", "family": "Other"}] if chance.random() < 0.2 else [],
            memory_mb=chance.choice([4096, 16_384]),
        )
        _close(world, f"m{number}", chance)
    return world


def _close(world: World, fqdn: str, chance: Random) -> None:
    """Restrict access to some systems; most stay open to all."""
    if chance.random() < 0.3:
        world.open_system(fqdn, *chance.sample([user("eve"), user("bob")], chance.randint(0, 2)))
    if chance.random() < 0.2:
        world.lend(fqdn, chance.choice(["eve", "bob"]))


def _any_set(chance: Random) -> RecipeSetSpec:
    wants = [ANYTHING.text, ANYTHING.text, BIG.text, named("m0", "m1"), named("m2"), forces("m3")]
    recipes = []
    for _ in range(chance.randint(1, 3)):
        one = recipe(chance.choice(wants), chance.choice(["Fedora", "Other"]))
        recipes.append(with_guests(one, *chance.sample(["Fedora", "Other"], chance.choice([0, 0, 1, 2]))))
    return RecipeSetSpec(Priority.Normal, tuple(recipes))


@pytest.mark.parametrize("seed", range(150))
def test_set__any_lab__given_up_only_if_no_trees_work(seed: int) -> None:
    chance = Random(f"distro-trees/{seed}")
    world = _any_lab(chance)
    world.settle()
    spec = _any_set(chance)
    owner = chance.choice(["ada", "eve"])
    chosen = choose(world, *spec.recipes, owner=owner)
    trees = [[*_matching(world, each)] for host in spec.recipes for each in (host, *host.guests)]
    given_up = "aborted" in _states_with(world, spec, chosen.tree_ids, owner)
    assert all(tree in meant or not meant for tree, meant in zip(chosen.tree_ids, trees, strict=True))
    if given_up:
        tried = [tuple(chance.choice(meant or [None]) for meant in trees) for _ in range(12)]
        assert all("aborted" in _states_with(world, spec, tree_ids, owner) for tree_ids in tried)
    assert given_up or not chosen.hopeless


def _matching(world: World, each: RecipeSpec) -> list[int]:
    node = DISTRO.from_text(each.distro_requires)
    return [tree_id for tree_id, document in world.directory.trees() if document["family"] == node.value]  # type: ignore[union-attr]


def _states_with(
    world: World, spec: RecipeSetSpec, tree_ids: tuple[int | None, ...], owner: str
) -> list[str]:
    """Return the states of the set with these trees, and restore the systems."""
    ids = submitted(world, spec, tree_ids, owner)
    world.settle()
    states = world.states(*ids)
    if "aborted" not in states:
        world.cancel(ids[0])
        world.settle()
    return states
