"""The lab as the records say it is: folded anew here, from topics and plain data alone.

What makes no sense (an event of an unknown subject) is passed over: saying so is up to the invariants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import intern
from typing import Any, TypeVar

from replay.audit.record import Commit, Record
from replay.audit.tables import FINISHED, RECIPE_MOVES, USAGE_MOVES
from replay.audit.values import Distro, Recipe, RecipeSet, System, Wants

K = TypeVar("K")
V = TypeVar("V")


class World:
    """Mutable, of frozen values. `finished` are the recipes that never change again."""

    def __init__(self) -> None:
        self.recipes: dict[int, Recipe] = {}
        self.finished: dict[int, Recipe] = {}
        self.sets: dict[int, RecipeSet] = {}
        self.systems: dict[str, System] = {}
        self.trees: dict[int, Mapping[str, Any]] = {}
        self.enabled: dict[str, bool] = {}
        self.pools: dict[str, tuple[str, ...]] = {}
        # Who of the unfinished is on a system, guests too.
        self.on: dict[str, tuple[int, ...]] = {}
        # Each once, by the numbers that recipes' wants have.
        self.requirements: list[str] = []
        self._wants: dict[tuple[str, Distro | None], Wants] = {}
        self._numbers: dict[str, int] = {}

    # Questions

    def members(self, set_id: int) -> list[Recipe]:
        """The unfinished recipes of a set."""
        named = self.sets[set_id].recipe_ids if set_id in self.sets else ()
        return [self.recipes[number] for number in named if number in self.recipes]

    def hosts(self, set_id: int) -> list[Recipe]:
        return [recipe for recipe in self.members(set_id) if recipe.host_id is None]

    def guests(self, host: Recipe) -> list[Recipe]:
        return [recipe for recipe in self.members(host.set_id) if recipe.host_id == host.recipe_id]

    def document(self, system: System) -> dict[str, Any]:
        """A system as the outside sees it."""
        pools = list(self.pools.get(system.fqdn, ()))
        return {**system.inventory, "fqdn": system.fqdn, "pools": pools}

    # The log

    def apply(self, record: Record) -> None:
        fold = FOLDS.get(record.topic)
        if fold is not None and record.topic.startswith(f"{record.kind}."):
            fold(self, record)

    def apply_all(self, commit: Commit) -> None:
        for record in commit.records:
            self.apply(record)

    def put(self, table: dict[K, V], key: K, value: V | None) -> None:
        """One thing is otherwise from now on, or gone (None): every change goes through here."""
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value

    # Recipes and sets

    def _new(self, record: Record) -> None:
        data = record.data
        wants = self._wanted(data["host_requires"], _distro(data))
        self.put_recipe(Recipe(int(record.name), data["recipe_set_id"], data.get("host_recipe_id"), wants))

    def _wanted(self, host_requires: str, distro: Distro | None) -> Wants:
        key = host_requires, distro
        if key not in self._wants:
            number = self._numbers.setdefault(host_requires, len(self._numbers))
            if number == len(self.requirements):
                self.requirements.append(host_requires)
            self._wants[key] = Wants(number, host_requires, distro)
        return self._wants[key]

    def _moved(self, record: Record) -> None:
        recipe = self.recipes.get(int(record.name))
        if recipe is None:
            return
        state, data = record.happened, record.data
        if state == "queued":
            self.put_recipe(recipe.moved(state, None, None))
        elif state == "assigned":
            self.put_recipe(recipe.moved(state, None, data["lab_controller"]))
        elif state == "scheduled":
            self.put_recipe(recipe.moved(state, data["system"], data["lab_controller"]))
        else:
            self.put_recipe(recipe.moved(state, recipe.system, recipe.lab))

    def put_recipe(self, recipe: Recipe) -> None:
        number, before = recipe.recipe_id, self.recipes.get(recipe.recipe_id)
        was_on = None if before is None else before.system
        is_on = None if recipe.state in FINISHED else recipe.system
        if was_on is not None and was_on != is_on:
            others = tuple(other for other in self.on[was_on] if other != number)
            self.put(self.on, was_on, others or None)
        if recipe.state in FINISHED:
            self.put(self.recipes, number, None)
            self.put(self.finished, number, recipe)
            return
        if is_on is not None and was_on != is_on:
            self.put(self.on, is_on, (*self.on.get(is_on, ()), number))
        self.put(self.recipes, number, recipe)

    def _submitted(self, record: Record) -> None:
        number, data = int(record.name), record.data
        submitted = RecipeSet(number, data["priority"], record.position, tuple(data["recipe_ids"]))
        self.put(self.sets, number, submitted)

    def _priority(self, record: Record) -> None:
        known = self.sets.get(int(record.name))
        if known is not None:
            self.put(self.sets, known.set_id, known._replace(priority=record.data["priority"]))

    # Systems

    def _registered(self, record: Record) -> None:
        fqdn, data = record.name, record.data
        place = data["lab_controller"], data["owner"], data["condition"]
        self.put(self.systems, fqdn, System(fqdn, *place, data["inventory"], record.position))

    def _used(self, record: Record) -> None:
        system = self.systems.get(record.name)
        if system is not None:
            self.put(self.systems, record.name, system.used(record.happened, record.data.get("recipe_id")))

    def _changed(self, record: Record) -> None:
        system = self.systems.get(record.name)
        if system is not None:
            self.put(self.systems, record.name, CHANGES[record.topic](system, record))

    # What is known by name

    def _tree(self, record: Record) -> None:
        self.put(self.trees, int(record.name), None if record.happened == "removed" else record.data)

    def _lab(self, record: Record) -> None:
        enabled = record.data["enabled"] if record.happened == "registered" else record.happened == "enabled"
        self.put(self.enabled, record.name, enabled)

    def _pool(self, record: Record) -> None:
        fqdn = record.data["system"]
        others = [name for name in self.pools.get(fqdn, ()) if name != record.name]
        added = [record.name] if record.happened == "system-added" else []
        self.put(self.pools, fqdn, (*others, *added))
        if fqdn in self.systems:
            self.put(self.systems, fqdn, self.systems[fqdn]._replace(described=record.position))


def _distro(data: Mapping[str, Any]) -> Distro | None:
    tree_id, own = data.get("distro_tree_id"), data.get("distro")
    if tree_id is not None:
        return Distro(tree_id)
    return None if own is None else Distro(None, own["arch"], own["osmajor"], own.get("osminor") or "0")


Change = Callable[[System, Record], System]

CHANGES: dict[str, Change] = {
    "system.drained": lambda system, _: system._replace(draining=True),
    "system.undrained": lambda system, _: system._replace(draining=False),
    "system.reservation-begun": lambda system, _: system._replace(reserved=True),
    "system.reservation-ended": lambda system, _: system._replace(reserved=False),
    "system.condition-changed": lambda system, record: system._replace(
        condition=record.data["condition"], described=record.position
    ),
    "system.inventory-changed": lambda system, record: system._replace(
        inventory=record.data["inventory"], described=record.position
    ),
    "system.lab-controller-changed": lambda system, record: system._replace(
        lab=record.data["lab_controller"], described=record.position
    ),
    "system.owner-changed": lambda system, record: system._replace(
        owner=record.data["owner"], described=record.position
    ),
}

Fold = Callable[[World, Record], None]

FOLDS: dict[str, Fold] = {
    "recipe.new": World._new,
    **{f"recipe.{state}": World._moved for state in RECIPE_MOVES if state != "new"},
    "recipe-set.submitted": World._submitted,
    "recipe-set.priority-changed": World._priority,
    "system.registered": World._registered,
    **{f"system.{usage}": World._used for usage in USAGE_MOVES},
    **dict.fromkeys(CHANGES, World._changed),
    **{f"distro-tree.{what}": World._tree for what in ("registered", "changed", "removed")},
    **{f"lab-controller.{what}": World._lab for what in ("registered", "enabled", "disabled")},
    **{f"pool.{what}": World._pool for what in ("system-added", "system-removed")},
}
"""What an event does to the world; any other changes nothing here."""

# Recipes say much that nobody asks here, and there may be many before somebody decides.
ASKED = ("recipe_set_id", "host_recipe_id", "host_requires", "distro_tree_id", "distro")


def is_folded(record: Record) -> bool:
    return record.topic in FOLDS


def folded(record: Record) -> Record:
    """What a world needs of an event, in little space."""
    if record.topic != "recipe.new":
        return record
    asked = {name: record.data[name] for name in ASKED if record.data.get(name) is not None}
    asked["host_requires"] = intern(asked["host_requires"])
    return record._replace(data=asked)
