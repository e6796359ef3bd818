"""The world of one scheduler, folded from the log (design section 4).

`apply` takes events in log order. `suppose` takes a decision that is not in the log yet, so that the next one
of the same commit sees it; `take_back` undoes all supposing: what stays is only what the log says.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

from domain.directory import events as directory
from domain.directory.state import document_after
from domain.events import Event, Recorded, split_subject
from domain.job.events import RecipeSetSubmitted
from domain.recipe.state import Recipe
from domain.recipe.state import evolve as evolve_recipe
from domain.scheduling.filters import Effort, FilterKey, Filters, Rank
from domain.scheduling.labs import Labs
from domain.system.state import System
from domain.system.state import evolve as evolve_system


@dataclass(frozen=True, order=True)
class Trigger:
    """Something the scheduler must answer, at the log position that raised it.

    kind `new-job`: a recipe set (name: its id) with new recipes; kind `pending-system`: a pending system.
    """

    position: int
    kind: str
    name: str


class Partition:
    """Mutable; of its own decisions it only ever holds suppositions."""

    def __init__(self) -> None:
        self.position = 0
        self.effort = Effort()
        self.lab = Labs()
        self.filters = Filters(self.lab, self.effort)
        self.systems: dict[str, System] = {}
        self.recipes: dict[int, Recipe] = {}
        self.recipe_sets: dict[int, tuple[int, ...]] = {}
        self._enabled: dict[str, bool] = {}
        self._trees: dict[int, Any] = {}
        self._pools: dict[str, dict[str, None]] = {}
        self._triggers: list[Trigger] = []
        self._set_aside: list[Trigger] = []
        self._supposed: dict[str, System | Recipe] = {}

    # The log

    def apply(self, recorded: Recorded) -> None:
        assert not self._supposed, "the log is read only when nothing is supposed"
        self.position = recorded.position
        kind, name = split_subject(recorded.subject)
        event = recorded.event
        if kind == "recipe":
            self._put_recipe(
                evolve_recipe(
                    self.recipes.get(int(name)), int(name), event, recorded.version, recorded.position
                )
            )
        elif kind == "system":
            system = evolve_system(self.systems.get(name), name, event, recorded.version, recorded.position)
            self._put_system(system)
            if system.usage == "pending" and system.since == recorded.position:
                heapq.heappush(self._triggers, Trigger(recorded.position, "pending-system", name))
        elif isinstance(event, RecipeSetSubmitted):
            self.recipe_sets[int(name)] = tuple(event.recipe_ids)
            heapq.heappush(self._triggers, Trigger(recorded.position, "new-job", name))
        elif isinstance(event, directory.DirectoryEvent):
            self._apply_directory(kind, name, event)

    def _apply_directory(self, kind: str, name: str, event: Event) -> None:
        if isinstance(event, directory.PoolSystemAdded):
            self._pools.setdefault(event.system, {})[name] = None
            self._system_changed(self.systems[event.system])
        elif isinstance(event, directory.PoolSystemRemoved):
            self._pools.get(event.system, {}).pop(name, None)
            self._system_changed(self.systems[event.system])
        elif kind == "distro-tree":
            tree = document_after(self._trees.get(int(name), {}), event)
            self._trees[int(name)] = tree
            self.lab.put_tree(int(name), tree)
            self.filters.trees_changed()
        elif kind == "lab-controller":
            self._enabled[name] = bool(document_after({}, event)["enabled"])
            for system in self.systems.values():
                if system.lab_controller == name:
                    self._index_idle(system)

    # Supposing

    def suppose(self, subject: str, event: Event) -> None:
        """Let an event have happened, until `take_back`."""
        kind, name = split_subject(subject)
        if kind == "recipe":
            recipe = self.recipes[int(name)]
            self._supposed.setdefault(subject, recipe)
            self._put_recipe(
                evolve_recipe(recipe, int(name), event, recipe.version + 1, self.position), keep=True
            )
        else:
            system = self.systems[name]
            self._supposed.setdefault(subject, system)
            self._put_system(evolve_system(system, name, event, system.version + 1, self.position))

    def take_back(self) -> None:
        supposed, self._supposed = self._supposed, {}
        for before in supposed.values():
            if isinstance(before, Recipe):
                self._put_recipe(before)
            else:
                self._put_system(before)
        for trigger in self._set_aside:
            heapq.heappush(self._triggers, trigger)
        self._set_aside.clear()

    # Triggers

    def next_trigger(self) -> Trigger | None:
        """The oldest trigger that still wants an answer; it is not taken away, its answer makes it void."""
        while self._triggers and not self._stands(self._triggers[0]):
            void = heapq.heappop(self._triggers)
            if self._supposed:
                self._set_aside.append(void)
        return self._triggers[0] if self._triggers else None

    def _stands(self, trigger: Trigger) -> bool:
        if trigger.kind == "pending-system":
            system = self.systems[trigger.name]
            return system.usage == "pending" and system.since == trigger.position
        members = self.recipe_sets.get(int(trigger.name), ())
        return any(self.recipes[member].state == "new" for member in members if member in self.recipes)

    # Keeping the indexes true

    def _put_recipe(self, recipe: Recipe, keep: bool = False) -> None:
        before = self.recipes.get(recipe.recipe_id)
        if before is not None and before.state == "queued":
            self.filters.dequeue(filter_key(before), rank(before))
        if recipe.state == "queued":
            self.filters.enqueue(filter_key(recipe), rank(recipe))
        if recipe.finished and not keep:
            self.recipes.pop(recipe.recipe_id, None)
            self._forget_finished_set(recipe.recipe_set_id)
        else:
            self.recipes[recipe.recipe_id] = recipe

    def _forget_finished_set(self, recipe_set_id: int) -> None:
        if not any(member in self.recipes for member in self.recipe_sets.get(recipe_set_id, ())):
            self.recipe_sets.pop(recipe_set_id, None)

    def _put_system(self, system: System) -> None:
        before = self.systems.get(system.fqdn)
        self.systems[system.fqdn] = system
        if before is None or _known_by_filters(before) != _known_by_filters(system):
            self._system_changed(system)
        self._index_idle(system)

    def _system_changed(self, system: System) -> None:
        pools = tuple(self._pools.get(system.fqdn, ()))
        self.lab.put(system, pools)
        alone = self.lab.alone(system, pools)
        self.filters.system_changed(system.fqdn, alone)

    def _index_idle(self, system: System) -> None:
        if system.usage == "idle" and self.usable(system):
            self.filters.became_idle(system.fqdn)
        else:
            self.filters.no_longer_idle(system.fqdn)

    def usable(self, system: System) -> bool:
        """Whether recipes may have it at all now, if they are viable (busy ones count: they come free)."""
        return system.condition == "Automated" and self._enabled.get(system.lab_controller, False)


def _known_by_filters(system: System) -> tuple[Any, ...]:
    return system.inventory, system.condition == "Removed", system.lab_controller


def filter_key(recipe: Recipe) -> FilterKey:
    return FilterKey(recipe.host_requires, recipe.distro_tree_id)


def rank(recipe: Recipe) -> Rank:
    """Where it stands in the queue: nominal priority, high first, then order of submission.

    The recipe id comes last to find the recipe again; submission alone decides.
    """
    return -recipe.priority, recipe.submission, recipe.recipe_id
