"""Random labs, in which a set is never given up because of the choice of its distro trees."""

from __future__ import annotations

from random import Random

import pytest

from domain.job.spec import RecipeSetSpec, RecipeSpec
from domain.priority import Priority
from domain.requirements.distro import DISTRO
from tests.domain.scheduling.host_requirements import ANYTHING, BIG, forces, named
from tests.domain.scheduling.policies import user
from tests.domain.scheduling.tree_requirements import choose, recipe, submitted, with_guests
from tests.domain.scheduling.world import World


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
