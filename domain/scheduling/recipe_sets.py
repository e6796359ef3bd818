"""The unfinished recipe sets of a partition: who is in them, where they stand in the queue, what they
hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain

from domain.access.submitting import Who
from domain.recipe.lifecycle import PLACED, UNPLACED
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.filter_key import Asks, FilterKey, filter_key
from domain.scheduling.filters import QUEUED, Filters
from domain.scheduling.heads import Rank
from domain.scheduling.holders import Holders
from domain.scheduling.lines import newly_of

# States in which a recipe keeps its set in a lab that it has not started in.
BOUND = ("assigned", "scheduled")


@dataclass(slots=True)
class Wanting:
    """What hosts that stand together come to: how many have no system, and who stands in which line."""

    asks: Asks
    unplaced: int = 0
    lines: dict[str, list[Rank]] = field(default_factory=dict)


class RecipeSets:
    """Mutable: `put` each new state of a set or recipe; `filters` is kept in step.

    Finished recipes are forgotten, and a set with its last one. Who holds is told to `holders`.
    `who_of` says whose a recipe is, as far as that makes a difference.

    `newly_assigned` are the recipes that became assigned in the batch that is being answered. They rank with
    the queued recipes until it is answered, because a batch is answered in the order known at its basis.
    """

    def __init__(self, filters: Filters, holders: Holders, who_of: Callable[[Recipe], Who]) -> None:
        self.sets: dict[int, RecipeSet] = {}
        self.recipes: dict[int, Recipe] = {}
        # Recipes whose watchdog runs, and recipes that have a system.
        self.on_clock: dict[int, None] = {}
        self.placed: dict[int, None] = {}
        self.newly_assigned: dict[int, None] = {}
        self._filters = filters
        self._holders = holders
        self._who_of = who_of
        self._asks: dict[int, Asks] = {}
        # The hosts among them by owner and group.
        self._people: dict[tuple[str, str | None], dict[int, None]] = {}

    # In and out

    def put_set(self, recipe_set: RecipeSet) -> None:
        """A new set, whose recipes come next; or one whose priority has changed, and with it its rank."""
        hosts = self.hosts(recipe_set.recipe_set_id)
        for host in hosts:
            self._unindex(host)
        self.sets[recipe_set.recipe_set_id] = recipe_set
        for host in hosts:
            self._index(host)

    def put(self, recipe: Recipe, *, forget: bool = True, newly_assigned: bool = False) -> None:
        """`forget` is False for what is only supposed: a finished recipe may come back then."""
        before = self.recipes.get(recipe.recipe_id)
        stood = None if before is None else self.line_of(before)
        _keep(self.newly_assigned, recipe, newly_assigned)
        self.recipes[recipe.recipe_id] = recipe
        self._holders.hopeless.pop(recipe.recipe_set_id, None)
        self._note(recipe)
        if before is not None and recipe.recipe_id in self._asks:
            self._move(before, stood, recipe)
        elif before is None and recipe.recipe_id == self.sets[recipe.recipe_set_id].recipe_ids[-1]:
            self._complete(recipe.recipe_set_id)
        if recipe.finished and forget:
            self.forget(recipe)

    def end_batch(self) -> None:
        """Make all newly assigned recipes rank with the assigned ones."""
        newly, self.newly_assigned = self.newly_assigned, {}
        for recipe_id in newly:
            host = self.recipes[recipe_id]
            if recipe_id in self._asks and host.state == "assigned":
                asks, rank = self._asks[recipe_id], self.rank(host)
                self._filters.dequeue(asks, newly_of(lab_of(host)), rank)
                self._filters.enqueue(asks, lab_of(host), rank)

    def refresh(self, recipe: Recipe) -> None:
        """Replace a recipe by one that differs in times only."""
        self.recipes[recipe.recipe_id] = recipe

    def restore(
        self, recipe_sets: Iterable[RecipeSet], recipes: Iterable[Recipe], newly_assigned: Iterable[int] = ()
    ) -> None:
        """Begin with these, of which some have lost finished recipes."""
        self.newly_assigned = dict.fromkeys(newly_assigned)
        self.sets = {recipe_set.recipe_set_id: recipe_set for recipe_set in recipe_sets}
        self.recipes = {recipe.recipe_id: recipe for recipe in recipes}
        everybody = self.recipes.values()
        self.on_clock = {recipe.recipe_id: None for recipe in everybody if recipe.deadline is not None}
        self.placed = {recipe.recipe_id: None for recipe in everybody if recipe.state in PLACED}
        self._index_all()

    def _index_all(self) -> None:
        """`_complete` all sets at once: most recipes have no guests, and want what many others want."""
        guests: dict[int, list[Recipe]] = {}
        for recipe in self.recipes.values():
            if recipe.host_recipe_id is not None:
                guests.setdefault(recipe.host_recipe_id, []).append(recipe)
        alike: dict[tuple[str, int | None, str, str | None], Wanting] = {}
        apart: list[Wanting] = []
        for recipe in self.recipes.values():
            if recipe.host_recipe_id is not None:
                continue
            if recipe.distro is not None or recipe.recipe_id in guests:
                wanting = Wanting(self._asks_of(recipe, guests.get(recipe.recipe_id, ())))
                apart.append(wanting)
            else:
                asked = recipe.host_requires, recipe.distro_tree_id, recipe.owner, recipe.group
                wanting = alike.get(asked) or alike.setdefault(asked, Wanting(self._asks_of(recipe, ())))
            self._begin(recipe, wanting.asks)
            self._want(wanting, recipe)
        for wanting in chain(alike.values(), apart):
            if wanting.unplaced:
                self._filters.add(wanting.asks, wanting.unplaced)
            for line, ranks in wanting.lines.items():
                self._filters.enqueue(wanting.asks, line, *ranks)

    def _want(self, wanting: Wanting, host: Recipe) -> None:
        """`_index` one, but for the filters."""
        if host.state in UNPLACED:
            wanting.unplaced += 1
            line = self.line_of(host)
            if line is not None:
                wanting.lines.setdefault(line, []).append(self.rank(host))
        if host.state in BOUND:
            self._holders.bind(lab_of(host), host.recipe_set_id)

    def _note(self, recipe: Recipe) -> None:
        _keep(self.on_clock, recipe, recipe.deadline is not None)
        _keep(self.placed, recipe, recipe.state in PLACED)

    def _complete(self, recipe_set_id: int) -> None:
        """All recipes of a set are known: which systems its hosts want depends on their guests, too."""
        members = self.members(recipe_set_id)
        for host in self.hosts(recipe_set_id):
            guests = [recipe for recipe in members if recipe.host_recipe_id == host.recipe_id]
            self._begin(host, self._asks_of(host, guests))
            self._index(host)

    def _asks_of(self, host: Recipe, guests: Iterable[Recipe]) -> Asks:
        return Asks(filter_key(host, guests), self._who_of(host))

    def _begin(self, host: Recipe, asks: Asks) -> None:
        self._asks[host.recipe_id] = asks
        self._people.setdefault((host.owner, host.group), {})[host.recipe_id] = None

    def forget(self, recipe: Recipe) -> None:
        """It has finished, and the log says so."""
        del self.recipes[recipe.recipe_id]
        if self._asks.pop(recipe.recipe_id, None) is not None:
            theirs = self._people[recipe.owner, recipe.group]
            del theirs[recipe.recipe_id]
            if not theirs:
                del self._people[recipe.owner, recipe.group]
        self._holders.hopeless.pop(recipe.recipe_set_id, None)
        if not self.members(recipe.recipe_set_id):
            del self.sets[recipe.recipe_set_id]

    def is_for(self, group: str, user: str | None = None) -> bool:
        """Return whether an unfinished recipe is on behalf of a group, by this user or by anybody."""
        if user is not None:
            return (user, group) in self._people
        return any(group == other for _, other in self._people)

    def look_again(self, users: Collection[str], groups: Collection[str | None]) -> None:
        """At whose the recipes of these users are, and those for these groups: that may be otherwise now."""
        for (owner, group), theirs in self._people.items():
            if owner in users or group in groups:
                for host in map(self.recipes.__getitem__, theirs):
                    self._look_again(host)

    def _look_again(self, host: Recipe) -> None:
        before, who = self._asks[host.recipe_id], self._who_of(host)
        if who != before.who:
            self._unindex(host)
            self._asks[host.recipe_id] = before._replace(who=who)
            self._index(host)

    def _index(self, host: Recipe) -> None:
        asks = self._asks[host.recipe_id]
        if host.state in UNPLACED:
            self._filters.add(asks)
        line = self.line_of(host)
        if line is not None:
            self._filters.enqueue(asks, line, self.rank(host))
        if host.state in BOUND:
            self._holders.bind(lab_of(host), host.recipe_set_id)

    def _unindex(self, host: Recipe) -> None:
        asks = self._asks[host.recipe_id]
        line = self.line_of(host)
        if line is not None:
            self._filters.dequeue(asks, line, self.rank(host))
        if host.state in UNPLACED:
            self._filters.remove(asks)
        if host.state in BOUND:
            self._holders.unbind(lab_of(host), host.recipe_set_id)

    def _move(self, before: Recipe, stood: str | None, host: Recipe) -> None:
        """Move a recipe from its previous line to its present one; an unchanged place is not touched."""
        asks, rank = self._asks[host.recipe_id], self.rank(host)
        stands = self.line_of(host)
        wanted, wants = before.state in UNPLACED, host.state in UNPLACED
        if stood is not None and stood != stands:
            self._filters.dequeue(asks, stood, rank)
        if wanted and not wants:
            self._filters.remove(asks)
        elif wants and not wanted:
            self._filters.add(asks)
        if stands is not None and stands != stood:
            self._filters.enqueue(asks, stands, rank)
        if before.state in BOUND:
            self._holders.unbind(lab_of(before), before.recipe_set_id)
        if host.state in BOUND:
            self._holders.bind(lab_of(host), host.recipe_set_id)

    # Questions

    def line_of(self, host: Recipe) -> str | None:
        """Return the line a recipe stands in: that of the queued ones, or one of its lab."""
        if host.state == "assigned":
            lab_controller = lab_of(host)
            return newly_of(lab_controller) if host.recipe_id in self.newly_assigned else lab_controller
        return QUEUED if host.state == "queued" else None

    def rank_of_set(self, recipe_set_id: int) -> Rank:
        """Return the highest possible rank of a new set: its effective priority is the nominal one.

        A set that has ended has none.
        """
        recipe_set = self.sets.get(recipe_set_id)
        if recipe_set is None:
            return ()
        return -recipe_set.priority, -recipe_set.priority, recipe_set.submission

    def rank(self, host: Recipe) -> Rank:
        """Where it stands in its line: nominal priority, high first, then the order of submission.

        The recipe id comes last to find the recipe again; within a set it decides, too. On each system the
        effective priority comes before it (`asking.py`).
        """
        recipe_set = self.sets[host.recipe_set_id]
        return -recipe_set.priority, recipe_set.submission, host.recipe_id

    def asks(self, host: Recipe) -> Asks:
        return self._asks[host.recipe_id]

    def key(self, host: Recipe) -> FilterKey:
        return self._asks[host.recipe_id].key

    def is_single(self, recipe_set_id: int) -> bool:
        """Return whether a set consists of one recipe."""
        return len(self.sets[recipe_set_id].recipe_ids) == 1

    def members(self, recipe_set_id: int) -> tuple[Recipe, ...]:
        """The unfinished recipes of a set, guests too."""
        recipe_set = self.sets.get(recipe_set_id)
        if recipe_set is None:
            return ()
        known = self.recipes
        return tuple([known[recipe_id] for recipe_id in recipe_set.recipe_ids if recipe_id in known])

    def hosts(self, recipe_set_id: int) -> tuple[Recipe, ...]:
        """Those of them that need a system of their own."""
        return tuple([recipe for recipe in self.members(recipe_set_id) if recipe.host_recipe_id is None])

    def missing(self, recipe_set_id: int) -> tuple[Recipe, ...]:
        """Those hosts that have no system yet."""
        return tuple([host for host in self.hosts(recipe_set_id) if host.state != "scheduled"])


def _keep(index: dict[int, None], recipe: Recipe, belongs: bool) -> None:
    if belongs:
        index[recipe.recipe_id] = None
    else:
        index.pop(recipe.recipe_id, None)


def lab_of(host: Recipe) -> str:
    """The lab that a bound recipe keeps its set in."""
    assert host.lab_controller is not None, f"{host.subject} is {host.state} in no lab"
    return host.lab_controller
