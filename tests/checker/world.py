"""The lab as the records say it is: folded anew here, from topics and plain data alone.

What makes no sense (an event of an unknown subject) is passed over: saying so is up to the invariants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.checker.record import Commit, Record
from tests.checker.tables import FINISHED, RECIPE_MOVES, USAGE_MOVES
from tests.checker.values import Recipe, RecipeSet, System, changed


class World:
    """Mutable, of frozen values: `copy` is cheap, and a copy may suppose what it likes."""

    def __init__(self) -> None:
        self.recipes: dict[int, Recipe] = {}
        self.finished: dict[int, Recipe] = {}
        self.sets: dict[int, RecipeSet] = {}
        self.systems: dict[str, System] = {}
        self.trees: dict[int, Mapping[str, Any]] = {}
        self.trees_changed = 0
        self.enabled: dict[str, bool] = {}
        self.pools: dict[str, tuple[str, ...]] = {}
        # Who of the unfinished is on a system, guests too.
        self.on: dict[str, tuple[int, ...]] = {}

    def copy(self) -> World:
        twin = World()
        for name, value in vars(self).items():
            setattr(twin, name, value.copy() if isinstance(value, dict) else value)
        return twin

    # Questions

    def members(self, set_id: int) -> list[Recipe]:
        """The unfinished recipes of a set."""
        named = self.sets[set_id].recipe_ids if set_id in self.sets else ()
        return [self.recipes[number] for number in named if number in self.recipes]

    def hosts(self, set_id: int) -> list[Recipe]:
        return [recipe for recipe in self.members(set_id) if not recipe.is_guest]

    def guests(self, host: Recipe) -> list[Recipe]:
        return [recipe for recipe in self.members(host.set_id) if recipe.host_id == host.recipe_id]

    def document(self, system: System) -> dict[str, Any]:
        """A system as the outside sees it."""
        beside = {"fqdn": system.fqdn, "lab_controller": system.lab, "owner": system.owner}
        pools = list(self.pools.get(system.fqdn, ()))
        return {**system.inventory, **beside, "condition": system.condition, "pools": pools}

    # The log

    def apply(self, record: Record) -> None:
        if record.kind == "recipe":
            self._recipe(record)
        elif record.kind == "recipe-set":
            self._set(record)
        elif record.kind == "system":
            self._system(record)
        else:
            self._directory(record)

    def apply_all(self, commit: Commit) -> None:
        for record in commit.records:
            self.apply(record)

    def _recipe(self, record: Record) -> None:
        number, data = int(record.name), record.data
        if record.topic == "recipe.new":
            self.put(Recipe(number, data["recipe_set_id"], data.get("host_recipe_id"), data))
            return
        recipe = self.recipes.get(number)
        if recipe is None or record.happened not in RECIPE_MOVES:
            return
        recipe = replace(recipe, state=record.happened)
        if recipe.state == "queued":
            recipe = replace(recipe, system=None, lab=None)
        elif recipe.state == "assigned":
            recipe = replace(recipe, system=None, lab=data["lab_controller"])
        elif recipe.state == "scheduled":
            recipe = replace(recipe, system=data["system"], lab=data["lab_controller"])
        self.put(recipe)

    def put(self, recipe: Recipe) -> None:
        before = self.recipes.pop(recipe.recipe_id, None)
        if before is not None and before.system is not None:
            others = (number for number in self.on[before.system] if number != recipe.recipe_id)
            self.on[before.system] = tuple(others)
        if recipe.state in FINISHED:
            self.finished[recipe.recipe_id] = recipe
            return
        self.recipes[recipe.recipe_id] = recipe
        if recipe.system is not None:
            self.on[recipe.system] = (*self.on.get(recipe.system, ()), recipe.recipe_id)

    def _set(self, record: Record) -> None:
        number, data = int(record.name), record.data
        if record.topic == "recipe-set.submitted":
            members = tuple(data["recipe_ids"])
            self.sets[number] = RecipeSet(number, data["priority"], record.position, members)
        elif record.topic == "recipe-set.priority-changed" and number in self.sets:
            self.sets[number] = replace(self.sets[number], priority=data["priority"])

    def _system(self, record: Record) -> None:
        fqdn, data = record.name, record.data
        if record.topic == "system.registered":
            self.systems[fqdn] = System(
                fqdn,
                lab=data["lab_controller"],
                owner=data["owner"],
                condition=data["condition"],
                inventory=data["inventory"],
                described=record.position,
            )
            return
        system = self.systems.get(fqdn)
        if system is None:
            return
        if record.happened in USAGE_MOVES:
            system = replace(system, usage=record.happened, recipe_id=data.get("recipe_id"))
        else:
            system = changed(system, record)
        self.systems[fqdn] = system

    def _directory(self, record: Record) -> None:
        if record.kind == "distro-tree":
            self.trees.pop(int(record.name), None)
            if record.happened != "removed":
                self.trees[int(record.name)] = record.data
            self.trees_changed = record.position
        elif record.kind == "lab-controller":
            self._lab(record)
        elif record.topic in ("pool.system-added", "pool.system-removed"):
            self._pool(record)

    def _lab(self, record: Record) -> None:
        if record.happened == "registered":
            self.enabled[record.name] = record.data["enabled"]
        elif record.happened in ("enabled", "disabled"):
            self.enabled[record.name] = record.happened == "enabled"

    def _pool(self, record: Record) -> None:
        fqdn = record.data["system"]
        others = [name for name in self.pools.get(fqdn, ()) if name != record.name]
        added = [record.name] if record.happened == "system-added" else []
        self.pools[fqdn] = (*others, *added)
        if fqdn in self.systems:
            self.systems[fqdn] = replace(self.systems[fqdn], described=record.position)
