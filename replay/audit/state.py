"""The state folded from a log: tables of frozen values, which only `State.put` changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TypeVar, cast

from replay.audit.directory_tables import DirectoryTables
from replay.audit.held_locks import HeldLocks
from replay.audit.interned_values import InternedValues
from replay.audit.rights import OPEN, Rights, RightsCache
from replay.audit.rooms import NO_NEEDS, Needs, Rooms, needs_of
from replay.audit.tables import FINISHED, WITHOUT_LAB
from replay.audit.values import Recipe, RecipeSet, System

K = TypeVar("K")
V = TypeVar("V")


class State(DirectoryTables):
    """Tables of frozen values. `finished` has the finished recipes, `recipes` all others. Mutable."""

    def __init__(self) -> None:
        super().__init__()
        self.recipes: dict[int, Recipe] = {}
        self.finished: dict[int, Recipe] = {}
        self.sets: dict[int, RecipeSet] = {}
        self.systems: dict[str, System] = {}
        # Job that was ever open -> whether it is open.
        self.open_jobs: dict[int, bool] = {}
        # Job -> its sets.
        self.sets_of_job: dict[int, tuple[int, ...]] = {}
        # Set -> how often it was overtaken by grants.
        self.overtakings: dict[int, int] = {}
        # Job -> how often sets of it were preempted.
        self.preemptions: dict[int, int] = {}
        # System -> the unfinished recipes on it, guests included.
        self.recipes_on: dict[str, tuple[int, ...]] = {}
        # Claimed system -> the recipe that claims it.
        self.claims: dict[str, int] = {}
        # Set that waits for its locks -> how often other sets have overtaken it.
        self.awaiting: dict[int, int] = {}
        # By partition. They follow all changes of `recipes`.
        self.held_locks: defaultdict[int, HeldLocks] = defaultdict(HeldLocks)
        # They follow all changes of `recipes`, of rules and of limits: by set, the recipes in a lab.
        self.rooms = Rooms()
        self._holding = Counter[int]()
        self.interned = InternedValues()
        self._rights = RightsCache()

    def put(self, table: dict[K, V], key: K, value: V | None) -> None:
        """Set an entry of a table, or delete it (None). All changes go through this method."""
        changed: object = table
        before = table.get(key)
        if changed is self.recipes:
            self._hold_locks(cast("Recipe | None", before), cast("Recipe | None", value))
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
        if changed is self.recipes:
            self._hold(cast("Recipe | None", before), cast("Recipe | None", value))
        elif changed is self.sets and key in self.rooms.charged:
            self._charge(cast("int", key))
        elif changed is self.job_filters or changed is self.configurations:
            for set_id in list(self.rooms.charged):
                self._charge(set_id)

    def _hold_locks(self, before: Recipe | None, recipe: Recipe | None) -> None:
        either = recipe or before
        if either is not None:
            self.held_locks[either.partition].replace(before, recipe)

    def _hold(self, before: Recipe | None, recipe: Recipe | None) -> None:
        """Charge a set while any of its recipes is assigned or placed."""
        for each, change in ((recipe, 1), (before, -1)):
            if each is not None and each.state not in WITHOUT_LAB:
                self._holding[each.set_id] += change
        for each in (before, recipe):
            if each is not None and (self._holding[each.set_id] > 0) != (each.set_id in self.rooms.charged):
                self._charge(each.set_id)

    def _charge(self, set_id: int) -> None:
        """Charge a set by the present rules, or no longer if it holds nothing any more."""
        needs = self.needs(set_id) if self._holding[set_id] else None
        self.rooms.charge(set_id, self._job_of(set_id), needs)
        if not self._holding[set_id]:
            del self._holding[set_id]

    def needs(self, set_id: int) -> Needs:
        """Return the room that a set needs by the present rules."""
        recipe_set = self.sets.get(set_id)
        if recipe_set is None:
            return {}
        partition, submitted = recipe_set.partition, recipe_set.submitted
        max_placed = self.configuration_of(partition).get("limits", {}).get("placed_recipes")
        filters, tree = self.job_filters_of(partition), self.queue_tree_of(partition)
        reasons = () if submitted is None else submitted.reasons
        if not (filters or max_placed is not None or tree.named or reasons):
            # The common case where there are no limits.
            return NO_NEEDS
        return needs_of(recipe_set, self._host_count(recipe_set), filters, max_placed, tree)

    def first_needs(self, set_id: int) -> Needs:
        """Return the room that a set needs for its first system: none for a job that is charged already."""
        return self.rooms.uncharged(self._job_of(set_id), self.needs(set_id))

    def _job_of(self, set_id: int) -> int:
        return self.sets[set_id].job_id if set_id in self.sets else 0

    def _host_count(self, recipe_set: RecipeSet) -> int:
        """Return the number of hosts of a set, also of those that have ended."""
        recipes = (self.recipes.get(number) or self.finished.get(number) for number in recipe_set.recipe_ids)
        return sum(recipe is not None and recipe.host_id is None for recipe in recipes)

    def members(self, set_id: int) -> list[Recipe]:
        """Return the unfinished recipes of a set."""
        named = self.sets[set_id].recipe_ids if set_id in self.sets else ()
        return [self.recipes[number] for number in named if number in self.recipes]

    def hosts(self, set_id: int) -> list[Recipe]:
        return [recipe for recipe in self.members(set_id) if recipe.host_id is None]

    def put_recipe(self, recipe: Recipe) -> None:
        before = self.recipes.get(recipe.recipe_id)
        self._place(before, recipe)
        if recipe.awaits_locks or (before is not None and before.awaits_locks):
            self._update_awaiting(recipe.set_id)

    def _update_awaiting(self, set_id: int) -> None:
        awaits_locks = any(member.awaits_locks for member in self.members(set_id))
        if awaits_locks != (set_id in self.awaiting):
            self.put(self.awaiting, set_id, 0 if awaits_locks else None)

    def _place(self, before: Recipe | None, recipe: Recipe) -> None:
        """Replace a recipe, and move it to its system."""
        number = recipe.recipe_id
        was_on = None if before is None else before.system
        is_on = None if recipe.state in FINISHED else recipe.system
        if was_on is not None and was_on != is_on:
            others = tuple(other for other in self.recipes_on[was_on] if other != number)
            self.put(self.recipes_on, was_on, others or None)
        if recipe.state in FINISHED:
            self.put(self.recipes, number, None)
            self.put(self.finished, number, recipe)
            return
        if is_on is not None and was_on != is_on:
            self.put(self.recipes_on, is_on, (*self.recipes_on.get(is_on, ()), number))
        self.put(self.recipes, number, recipe)

    def put_system(self, system: System) -> None:
        """Replace a system whose description or rights may have changed."""
        rights = self._rights_on(system)
        if rights is not system.rights:
            system = system._replace(rights=rights)
        self.put(self.systems, system.fqdn, system)

    def _rights_on(self, system: System) -> Rights:
        pools = [self.policies[pool] for pool in self.pools.get(system.fqdn, ()) if pool in self.policies]
        if not pools and system.policy is None and system.borrower is None:
            # The common case where there are no policies.
            return OPEN
        return self._rights.of(system.policy, pools, system.owner, system.borrower)
