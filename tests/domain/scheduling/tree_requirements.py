"""Recipes that require families of distro trees, and the choice of trees for them."""

from __future__ import annotations

from typing import Any

from domain.distro_choice.distro_trees import Chosen, DistroTrees
from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.job.submission import Ids, counts, submit
from domain.priority import Priority
from domain.requirements.distro import DISTRO
from tests.domain.scheduling.host_requirements import ANYTHING
from tests.domain.scheduling.world import World

# A custom distro.
OWN: dict[str, Any] = {"arch": "x86_64", "osmajor": "Mine", "osminor": "1"}


def recipe(host_requires: str = ANYTHING.text, family: str = "Fedora", **more: Any) -> RecipeSpec:
    distro_requires = DISTRO.examine({"element": "family", "op": "==", "value": family}).text
    return RecipeSpec(
        **{
            "whiteboard": "",
            "role": None,
            "kernel_options": "",
            "kernel_options_post": "",
            "ks_meta": "",
            "host_requires": host_requires,
            "distro_requires": distro_requires,
            "autopick_random": False,
            "autopick_pools": (),
            "tasks": (TaskSpec("/check", None, ()),),
            **more,
        }
    )


def with_guests(host: RecipeSpec, *families: str) -> RecipeSpec:
    guests = tuple(recipe(family=family, guestname="guest", guestargs="--ram=1") for family in families)
    return recipe(host.host_requires, guests=guests)


def trees_of(world: World) -> DistroTrees:
    trees = DistroTrees(world.directory)
    for recorded in world.log:
        trees.apply(recorded)
    return trees


def choose(world: World, *recipes: RecipeSpec, owner: str = "ada", group: str | None = None) -> Chosen:
    return trees_of(world).choose(RecipeSetSpec(Priority.Normal, recipes), owner, group)


def submitted(
    world: World, spec: RecipeSetSpec, tree_ids: tuple[int | None, ...], owner: str = "ada"
) -> tuple[int, ...]:
    """Submit a set with these trees; return the ids of its recipes, including guests."""
    job = JobSpec("", owner, None, "scratch", None, (spec,), {})
    _, recipes, tasks = counts(job)
    number, first = len(world.sets) + 1, len(world.recipes) + 1
    ids = Ids(number, (number,), tuple(range(first, first + recipes)), tuple(range(first, first + tasks)))
    world.commit(submit(job, ids, owner, tree_ids)[1:])
    return ids.recipes
