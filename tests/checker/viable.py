"""Which systems could run a recipe, and which of them it could have now (design sections 1 and 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.checker.requirement import holds
from tests.checker.values import Recipe, System
from tests.checker.world import World

Data = Mapping[str, Any]
CouldRun = Callable[[Data, Data, Data | None], bool]
"""(data of recipe.new, the system's document, the distro tree or None) -> whether it could run there.

It answers for the system alone: the lab's place in it (is the tree there, are those of the guests) is judged
here. The document has `pools`, `fqdn`, `condition` and so on beside the inventory.
"""


def could_run(recipe: Data, system: Data, tree: Data | None) -> bool:
    """The requirement holds, and neither architecture nor exclusions stand against the distro."""
    distro = _distro(recipe, tree)
    if distro is None:
        return False
    arch, family, version = distro
    if arch not in (system.get("arches") or ()):
        return False
    excluded = [
        row
        for row in system.get("excluded_families") or ()
        if (row["arch"], row["family"]) == (arch, family) and row.get("version") in (None, version)
    ]
    return not excluded and holds(recipe["host_requires"], system)


def _distro(recipe: Data, tree: Data | None) -> tuple[str, str, str] | None:
    """Architecture, family and version of what is installed, None where nothing can be."""
    own = recipe.get("distro")
    if recipe.get("distro_tree_id") is None and own is not None:
        return own["arch"], own["osmajor"], own.get("osminor") or "0"
    return None if tree is None else (tree["arch"], tree["family"], tree["version"])


class Judge:
    """Remembers what `could_run` said for as long as system and trees stay as they are."""

    def __init__(self, could_run: CouldRun = could_run) -> None:
        self._could_run = could_run
        self._said: dict[tuple[int, str], tuple[tuple[int, int], bool]] = {}

    def viable(self, world: World, recipe: Recipe, system: System) -> bool:
        """Whether it could run there, busy or not."""
        key, age = (recipe.recipe_id, system.fqdn), (system.described, world.trees_changed)
        if key not in self._said or self._said[key][0] != age:
            self._said[key] = age, self._viable(world, recipe, system)
        return self._said[key][1]

    def _viable(self, world: World, recipe: Recipe, system: System) -> bool:
        if system.condition == "Removed":
            return False
        if not all(_in_lab(world, one, system.lab) for one in (recipe, *world.guests(recipe))):
            return False
        return self._could_run(recipe.wants, world.document(system), _tree(world, recipe))

    def usable(self, world: World, recipe: Recipe, system: System) -> bool:
        """Viable, and nobody's but a recipe's, now or when it comes free."""
        return may_be_had(world, recipe, system) and self.viable(world, recipe, system)

    def could_take(self, world: World, recipe: Recipe, system: System) -> bool:
        """Usable, and in the lab of its set if that has one."""
        lab_is_right = recipe.state != "assigned" or recipe.lab == system.lab
        return lab_is_right and self.usable(world, recipe, system)


def may_be_had(world: World, recipe: Recipe, system: System) -> bool:
    if system.draining or system.reserved or not world.enabled.get(system.lab, False):
        return False
    if recipe.forced == system.fqdn.casefold():
        return system.condition != "Removed"
    return system.condition == "Automated"


def _tree(world: World, recipe: Recipe) -> Data | None:
    tree_id = recipe.wants.get("distro_tree_id")
    return None if tree_id is None else world.trees.get(tree_id)


def _in_lab(world: World, recipe: Recipe, lab: str) -> bool:
    """A distro of one's own is everywhere."""
    if recipe.wants.get("distro_tree_id") is None:
        return recipe.wants.get("distro") is not None
    tree = _tree(world, recipe)
    return tree is not None and bool(tree["urls"].get(lab))
