"""Sets whose distro tree has left every lab before the submission."""

from __future__ import annotations

from datetime import timedelta

import pytest

from domain.directory.state import Directory
from domain.distro_choice.distro_trees import Chosen, DistroTrees
from domain.job.spec import RecipeSetSpec
from domain.priority import Priority
from domain.scheduling.supply.reasons import NO_DISTRO_TREE, NO_SYSTEM_MATCHES, TREE_AWAY
from domain.scheduling.world.absent_trees import AWAY_SECONDS, KEPT_SECONDS
from tests.domain.scheduling.decision_reasons import reasons, reasons_to_abort
from tests.domain.scheduling.host_requirements import ANYTHING, named
from tests.domain.scheduling.tree_requirements import recipe, submitted, with_guests
from tests.domain.scheduling.world import World

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
    lab.now += timedelta(seconds=AWAY_SECONDS - 1)
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
    lab.now += timedelta(seconds=AWAY_SECONDS)
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
