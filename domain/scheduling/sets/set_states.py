"""The states of the unfinished recipe sets and their recipes, and queries that depend on the states alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import attrgetter

from domain.contention.locks import NO_LOCKS
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.demand.lines import is_in_no_lab
from domain.scheduling.demand.overtakings import Overtakings
from domain.scheduling.demand.weighing import WITHOUT_LOCKS, Profile
from domain.scheduling.ranked import Rank
from domain.scheduling.sets.preemptions import Preemptions
from domain.scheduling.sets.queue_turns import QueueTurns

# States of a recipe that holds nothing; a set is asked for admission while all its recipes are in these.
FREE = ("new", "queued")


class SetStates:
    """The read-only base class of `RecipeSets`, which changes the states.

    `newly_assigned` are the recipes that became assigned in the present batch, `overtakings` the counts of
    sets. `host_counts` has the number of hosts of each set, also of those that were dropped; `incomplete` are
    the sets from which a recipe was dropped. `turns` has what the recipes of each queue hold.
    """

    def __init__(self) -> None:
        self.sets: dict[int, RecipeSet] = {}
        self.recipes: dict[int, Recipe] = {}
        self.newly_assigned: dict[int, None] = {}
        self.overtakings = Overtakings()
        self.host_counts: dict[int, int] = {}
        self.incomplete: dict[int, None] = {}
        self.turns = QueueTurns()
        self.preemptions = Preemptions()

    # Sets

    def is_single(self, recipe_set_id: int) -> bool:
        return len(self.sets[recipe_set_id].recipe_ids) == 1

    def recipe_ids(self, recipe_set_id: int) -> tuple[int, ...]:
        """Return the recipes of a set, also those that were dropped."""
        return self.sets[recipe_set_id].recipe_ids

    def members(self, recipe_set_id: int) -> tuple[Recipe, ...]:
        """Return the unfinished recipes of a set, including guests."""
        recipe_set = self.sets.get(recipe_set_id)
        if recipe_set is None:
            return ()
        recipes, recipe_ids = self.recipes, recipe_set.recipe_ids
        return tuple([recipes[recipe_id] for recipe_id in recipe_ids if recipe_id in recipes])

    def hosts(self, recipe_set_id: int) -> tuple[Recipe, ...]:
        """Return the members that need a system of their own."""
        recipe_set = self.sets.get(recipe_set_id)
        if recipe_set is not None and len(recipe_set.recipe_ids) == 1:
            # Most sets have one recipe. It is no guest, since a guest is in the set of its host.
            only = self.recipes.get(recipe_set.recipe_ids[0])
            return () if only is None else (only,)
        members = self.members(recipe_set_id)
        return tuple([recipe for recipe in members if recipe.host_recipe_id is None])

    def is_new(self, recipe_set_id: int) -> bool:
        """Return whether a recipe of a set is new, so that the set waits for its first decision."""
        recipe_set, recipes = self.sets.get(recipe_set_id), self.recipes
        for recipe_id in () if recipe_set is None else recipe_set.recipe_ids:
            recipe = recipes.get(recipe_id)
            if recipe is not None and recipe.state == "new":
                return True
        return False

    def host_count(self, recipe_set_id: int) -> int:
        """Return the number of hosts of a set, also of those that were dropped."""
        return self.host_counts[recipe_set_id]

    def missing(self, recipe_set_id: int) -> tuple[Recipe, ...]:
        """Return the hosts that are not scheduled, in a set that has not started."""
        return tuple([host for host in self.hosts(recipe_set_id) if host.state != "scheduled"])

    def holds_nothing(self, recipe_set: RecipeSet) -> bool:
        """Return whether no recipe of a set holds a system, waits for siblings, or has started."""
        for recipe_id in recipe_set.recipe_ids:
            recipe = self.recipes.get(recipe_id)
            if recipe is not None and holds_something(recipe):
                return False
        return True

    def plain_host_counts(self) -> list[tuple[int, int]]:
        """Return the numbers of hosts of the sets from which recipes were dropped."""
        return [(recipe_set_id, self.host_counts[recipe_set_id]) for recipe_set_id in self.incomplete]

    # The order

    def rank(self, host: Recipe) -> Rank:
        recipe_set = self.sets[host.recipe_set_id]
        return Rank(-recipe_set.priority, recipe_set.submission, host.recipe_id)

    def rank_of_set(self, recipe_set_id: int) -> tuple[int, ...]:
        """Return the highest possible sort key of a new set, without what it weighs and its job has.

        The key is empty for a set that has ended.
        """
        recipe_set = self.sets.get(recipe_set_id)
        if recipe_set is None:
            return ()
        return -recipe_set.priority, -recipe_set.priority, 0, 0, recipe_set.submission

    def submitted_at(self, recipe_id: int) -> datetime | None:
        """Return the time of the submission of a recipe."""
        return self.sets[self.recipes[recipe_id].recipe_set_id].submitted_at

    def declared_profile(self, host: Recipe, line: str) -> Profile:
        """Return the profile of a set's declared locks: a holder that declares locks has one of its own."""
        locks = self.sets[host.recipe_set_id].profile
        if locks == NO_LOCKS:
            return WITHOUT_LOCKS
        return Profile(locks, None if is_in_no_lab(line) else host.recipe_set_id)

    # A snapshot

    def restore_states(
        self,
        recipe_sets: Sequence[RecipeSet],
        recipes: Sequence[Recipe],
        newly_assigned: Iterable[int],
        overtaken: Iterable[tuple[int, int]],
        host_counts: Iterable[tuple[int, int]],
    ) -> None:
        """Restore the states; `host_counts` are those of the sets from which recipes are missing."""
        self.sets.update(zip(map(attrgetter("recipe_set_id"), recipe_sets), recipe_sets, strict=True))
        self.recipes.update(zip(map(attrgetter("recipe_id"), recipes), recipes, strict=True))
        self.newly_assigned.update(dict.fromkeys(newly_assigned))
        self.overtakings.restore(overtaken)
        counts = self.host_counts
        for recipe in self.recipes.values():
            if recipe.host_recipe_id is None:
                counts[recipe.recipe_set_id] = counts.get(recipe.recipe_set_id, 0) + 1
        found = dict(host_counts)
        counts.update(found)
        self.incomplete.update(dict.fromkeys(found))


def holds_something(recipe: Recipe) -> bool:
    """Return whether a recipe holds a system, waits for siblings, or has started."""
    return recipe.state not in FREE and not recipe.finished


def lab_of(host: Recipe) -> str:
    assert host.lab_controller is not None, f"{host.subject} is {host.state} in no lab"
    return host.lab_controller
