"""The unfinished recipe sets of a partition, with indexes of their recipes by demand, line and lab."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain

from domain.access.submit_rights import Submitter
from domain.recipe.lifecycle import PLACED, UNPLACED
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.demand.filters import QUEUED, Filters
from domain.scheduling.demand.lines import newly_assigned_line
from domain.scheduling.demand.ranked import Rank
from domain.scheduling.safety.holders import Holders
from domain.scheduling.supply.filter_key import Demand, FilterKey, filter_key

# States in which a recipe that has not started binds its set to a lab.
BOUND = ("assigned", "scheduled")


@dataclass(slots=True)
class SharedDemand:
    """The number of unplaced recipes with one demand, and the ranks of these recipes by line."""

    demand: Demand
    unplaced: int = 0
    lines: dict[str, list[Rank]] = field(default_factory=dict)


class RecipeSets:
    """Mutable: `put` each new state of a set or recipe. This class updates `filters` and `holders`.

    Finished recipes are dropped, and a set with its last recipe. `submitter_of` returns the submitter of a
    recipe.

    `newly_assigned` are the recipes that became assigned in the present batch. They rank with the queued
    recipes until the batch is answered, because a batch is answered in the order at its basis.
    """

    def __init__(
        self, filters: Filters, holders: Holders, submitter_of: Callable[[Recipe], Submitter]
    ) -> None:
        self.sets: dict[int, RecipeSet] = {}
        self.recipes: dict[int, Recipe] = {}
        # Recipes with a running watchdog, and placed recipes.
        self.on_clock: dict[int, None] = {}
        self.placed: dict[int, None] = {}
        self.newly_assigned: dict[int, None] = {}
        self._filters = filters
        self._holders = holders
        self._submitter_of = submitter_of
        self._demands: dict[int, Demand] = {}
        # Hosts by owner and group.
        self._people: dict[tuple[str, str | None], dict[int, None]] = {}

    # States

    def put_set(self, recipe_set: RecipeSet) -> None:
        """Store a new set before its recipes, or a set whose priority has changed, and so its rank."""
        hosts = self.hosts(recipe_set.recipe_set_id)
        for host in hosts:
            self._unindex(host)
        self.sets[recipe_set.recipe_set_id] = recipe_set
        for host in hosts:
            self._index(host)

    def put(self, recipe: Recipe, *, drop_finished: bool = True, newly_assigned: bool = False) -> None:
        """Store a state of a recipe; `drop_finished` is False if the state is tentative."""
        before = self.recipes.get(recipe.recipe_id)
        line_before = None if before is None else self.line_of(before)
        _keep(self.newly_assigned, recipe, newly_assigned)
        self.recipes[recipe.recipe_id] = recipe
        self._holders.hopeless.pop(recipe.recipe_set_id, None)
        self._note(recipe)
        if before is not None and recipe.recipe_id in self._demands:
            self._move(before, line_before, recipe)
        elif before is None and recipe.recipe_id == self.sets[recipe.recipe_set_id].recipe_ids[-1]:
            self._complete(recipe.recipe_set_id)
        if recipe.finished and drop_finished:
            self.drop(recipe)

    def end_batch(self) -> None:
        """Make all newly assigned recipes rank with the assigned ones."""
        newly, self.newly_assigned = self.newly_assigned, {}
        for recipe_id in newly:
            host = self.recipes[recipe_id]
            if recipe_id in self._demands and host.state == "assigned":
                demand, rank = self._demands[recipe_id], self.rank(host)
                self._filters.dequeue(demand, newly_assigned_line(lab_of(host)), rank)
                self._filters.enqueue(demand, lab_of(host), rank)

    def refresh(self, recipe: Recipe) -> None:
        """Replace a recipe by a state that differs only in its deadlines."""
        self.recipes[recipe.recipe_id] = recipe

    def restore(
        self, recipe_sets: Iterable[RecipeSet], recipes: Iterable[Recipe], newly_assigned: Iterable[int] = ()
    ) -> None:
        """Restore sets and recipes from a snapshot; finished recipes are missing from their sets."""
        self.newly_assigned = dict.fromkeys(newly_assigned)
        self.sets = {recipe_set.recipe_set_id: recipe_set for recipe_set in recipe_sets}
        self.recipes = {recipe.recipe_id: recipe for recipe in recipes}
        everybody = self.recipes.values()
        self.on_clock = {recipe.recipe_id: None for recipe in everybody if recipe.deadline is not None}
        self.placed = {recipe.recipe_id: None for recipe in everybody if recipe.state in PLACED}
        self._index_all()

    def _index_all(self) -> None:
        """Do `_complete` for all sets at once: most recipes have no guests, and many share a demand."""
        guests: dict[int, list[Recipe]] = {}
        for recipe in self.recipes.values():
            if recipe.host_recipe_id is not None:
                guests.setdefault(recipe.host_recipe_id, []).append(recipe)
        alike: dict[tuple[str, int | None, str, str | None], SharedDemand] = {}
        apart: list[SharedDemand] = []
        for recipe in self.recipes.values():
            if recipe.host_recipe_id is not None:
                continue
            if recipe.distro is not None or recipe.recipe_id in guests:
                shared = SharedDemand(self._demand_of(recipe, guests.get(recipe.recipe_id, ())))
                apart.append(shared)
            else:
                key = recipe.host_requires, recipe.distro_tree_id, recipe.owner, recipe.group
                shared = alike.get(key) or alike.setdefault(key, SharedDemand(self._demand_of(recipe, ())))
            self._begin(recipe, shared.demand)
            self._want(shared, recipe)
        for shared in chain(alike.values(), apart):
            if shared.unplaced:
                self._filters.add(shared.demand, shared.unplaced)
            for line, ranks in shared.lines.items():
                self._filters.enqueue(shared.demand, line, *ranks)

    def _want(self, shared: SharedDemand, host: Recipe) -> None:
        """Do `_index` for a recipe, but collect the updates of the filters in `shared`."""
        if host.state in UNPLACED:
            shared.unplaced += 1
            line = self.line_of(host)
            if line is not None:
                shared.lines.setdefault(line, []).append(self.rank(host))
        if host.state in BOUND:
            self._holders.bind(lab_of(host), host.recipe_set_id)

    def _note(self, recipe: Recipe) -> None:
        _keep(self.on_clock, recipe, recipe.deadline is not None)
        _keep(self.placed, recipe, recipe.state in PLACED)

    def _complete(self, recipe_set_id: int) -> None:
        """Index the hosts of a set once all its recipes are stored, because demand depends on the guests."""
        members = self.members(recipe_set_id)
        for host in self.hosts(recipe_set_id):
            guests = [recipe for recipe in members if recipe.host_recipe_id == host.recipe_id]
            self._begin(host, self._demand_of(host, guests))
            self._index(host)

    def _demand_of(self, host: Recipe, guests: Iterable[Recipe]) -> Demand:
        return Demand(filter_key(host, guests), self._submitter_of(host))

    def _begin(self, host: Recipe, demand: Demand) -> None:
        self._demands[host.recipe_id] = demand
        self._people.setdefault((host.owner, host.group), {})[host.recipe_id] = None

    def drop(self, recipe: Recipe) -> None:
        """Drop a recipe that has finished according to the log."""
        del self.recipes[recipe.recipe_id]
        if self._demands.pop(recipe.recipe_id, None) is not None:
            theirs = self._people[recipe.owner, recipe.group]
            del theirs[recipe.recipe_id]
            if not theirs:
                del self._people[recipe.owner, recipe.group]
        self._holders.hopeless.pop(recipe.recipe_set_id, None)
        if not self.members(recipe.recipe_set_id):
            del self.sets[recipe.recipe_set_id]

    def has_recipe_for(self, group: str, user: str | None = None) -> bool:
        """Return whether an unfinished recipe is on behalf of a group, owned by `user` if given."""
        if user is not None:
            return (user, group) in self._people
        return any(group == other for _, other in self._people)

    def reindex(self, users: Collection[str], groups: Collection[str | None]) -> None:
        """Re-index the recipes of these users or groups, whose submitter may have changed."""
        for (owner, group), theirs in self._people.items():
            if owner in users or group in groups:
                for host in map(self.recipes.__getitem__, theirs):
                    self._reindex(host)

    def _reindex(self, host: Recipe) -> None:
        before, submitter = self._demands[host.recipe_id], self._submitter_of(host)
        if submitter != before.submitter:
            self._unindex(host)
            self._demands[host.recipe_id] = before._replace(submitter=submitter)
            self._index(host)

    def _index(self, host: Recipe) -> None:
        demand = self._demands[host.recipe_id]
        if host.state in UNPLACED:
            self._filters.add(demand)
        line = self.line_of(host)
        if line is not None:
            self._filters.enqueue(demand, line, self.rank(host))
        if host.state in BOUND:
            self._holders.bind(lab_of(host), host.recipe_set_id)

    def _unindex(self, host: Recipe) -> None:
        demand = self._demands[host.recipe_id]
        line = self.line_of(host)
        if line is not None:
            self._filters.dequeue(demand, line, self.rank(host))
        if host.state in UNPLACED:
            self._filters.remove(demand)
        if host.state in BOUND:
            self._holders.unbind(lab_of(host), host.recipe_set_id)

    def _move(self, before: Recipe, line_before: str | None, host: Recipe) -> None:
        """Update the indexes for a new state of a recipe, which was in the line `line_before`."""
        demand, rank = self._demands[host.recipe_id], self.rank(host)
        line = self.line_of(host)
        was_unplaced, is_unplaced = before.state in UNPLACED, host.state in UNPLACED
        if line_before is not None and line_before != line:
            self._filters.dequeue(demand, line_before, rank)
        if was_unplaced and not is_unplaced:
            self._filters.remove(demand)
        elif is_unplaced and not was_unplaced:
            self._filters.add(demand)
        if line is not None and line != line_before:
            self._filters.enqueue(demand, line, rank)
        if before.state in BOUND:
            self._holders.unbind(lab_of(before), before.recipe_set_id)
        if host.state in BOUND:
            self._holders.bind(lab_of(host), host.recipe_set_id)

    # Queries

    def line_of(self, host: Recipe) -> str | None:
        """Return the line of a queued or assigned recipe, None for other states."""
        if host.state == "assigned":
            lab = lab_of(host)
            return newly_assigned_line(lab) if host.recipe_id in self.newly_assigned else lab
        return QUEUED if host.state == "queued" else None

    def rank_of_set(self, recipe_set_id: int) -> tuple[int, ...]:
        """Return the highest possible sort key of a new set, by nominal priority; empty if it has ended."""
        recipe_set = self.sets.get(recipe_set_id)
        if recipe_set is None:
            return ()
        return -recipe_set.priority, -recipe_set.priority, recipe_set.submission

    def rank(self, host: Recipe) -> Rank:
        recipe_set = self.sets[host.recipe_set_id]
        return Rank(-recipe_set.priority, recipe_set.submission, host.recipe_id)

    def demand(self, host: Recipe) -> Demand:
        return self._demands[host.recipe_id]

    def key(self, host: Recipe) -> FilterKey:
        return self._demands[host.recipe_id].key

    def is_single(self, recipe_set_id: int) -> bool:
        return len(self.sets[recipe_set_id].recipe_ids) == 1

    def members(self, recipe_set_id: int) -> tuple[Recipe, ...]:
        """Return the unfinished recipes of a set, including guests."""
        recipe_set = self.sets.get(recipe_set_id)
        if recipe_set is None:
            return ()
        recipes = self.recipes
        return tuple([recipes[recipe_id] for recipe_id in recipe_set.recipe_ids if recipe_id in recipes])

    def hosts(self, recipe_set_id: int) -> tuple[Recipe, ...]:
        """Return the members that need a system of their own."""
        return tuple([recipe for recipe in self.members(recipe_set_id) if recipe.host_recipe_id is None])

    def missing(self, recipe_set_id: int) -> tuple[Recipe, ...]:
        """Return the hosts that are not scheduled, in a set that has not started."""
        return tuple([host for host in self.hosts(recipe_set_id) if host.state != "scheduled"])


def _keep(index: dict[int, None], recipe: Recipe, belongs: bool) -> None:
    if belongs:
        index[recipe.recipe_id] = None
    else:
        index.pop(recipe.recipe_id, None)


def lab_of(host: Recipe) -> str:
    assert host.lab_controller is not None, f"{host.subject} is {host.state} in no lab"
    return host.lab_controller
