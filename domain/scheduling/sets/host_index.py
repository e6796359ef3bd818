"""The hosts of the unfinished sets by demand, line and lab, and by owner and group."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain

from domain.access.submit_rights import Submitter
from domain.contention.locks import NO_LOCKS
from domain.recipe.lifecycle import UNPLACED
from domain.recipe.state import Recipe
from domain.scheduling.demand.filters import Filters, Stand
from domain.scheduling.demand.weighing import Profile
from domain.scheduling.ranked import Rank
from domain.scheduling.safety.holders import Holders
from domain.scheduling.sets.host_places import HostPlaces
from domain.scheduling.sets.set_states import SetStates, lab_of
from domain.scheduling.supply.filter_key import Demand, FilterKey, filter_key

# States in which a recipe that has not started binds its set to a lab.
BOUND = ("assigned", "scheduled")
# Of this number of demands, equal ones are one object: a million recipes have some ten thousand.
MAX_EQUAL = 65_536


@dataclass(slots=True)
class SharedDemand:
    """The number of unplaced recipes with one demand, and the ranks of these recipes by line and profile.

    `is_forcing` is whether the recipes force a system. It is kept, because `FilterKey.forced` looks the
    requirement up each time.
    """

    demand: Demand
    unplaced: int = 0
    lines: dict[tuple[str, Profile], list[Rank]] = field(default_factory=dict)
    is_forcing: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_forcing = self.demand.key.forced is not None

    def add_to(self, filters: Filters) -> None:
        if self.unplaced:
            filters.add(self.demand, self.unplaced)
        for (line, profile), ranks in self.lines.items():
            filters.enqueue(self.demand, line, *ranks, profile=profile)

    def remove_from(self, filters: Filters) -> None:
        filters.remove(self.demand, self.unplaced)
        for (line, profile), ranks in self.lines.items():
            filters.dequeue(self.demand, line, *ranks, profile=profile)


class HostIndex:
    """The index of hosts. Mutable: `complete` each set, then `move` its hosts.

    The index updates `filters` and `holders`.

    `submitter_of` returns the submitter of a recipe.
    """

    def __init__(
        self,
        states: SetStates,
        places: HostPlaces,
        filters: Filters,
        holders: Holders,
        submitter_of: Callable[[Recipe], Submitter],
    ) -> None:
        self._states = states
        self._places = places
        self._filters = filters
        self._holders = holders
        self._submitter_of = submitter_of
        self._demands: dict[int, Demand] = {}
        # Demands of recent hosts, so that equal ones are one object.
        self._equal: dict[Demand, Demand] = {}
        # Hosts by owner and group.
        self._people: dict[tuple[str, str | None], dict[int, None]] = {}

    def demand(self, host: Recipe) -> Demand:
        return self._demands[host.recipe_id]

    def key(self, host: Recipe) -> FilterKey:
        return self._demands[host.recipe_id].key

    # Hosts

    def complete(self, recipe_set_id: int) -> None:
        """Add the hosts of a set once all its recipes are stored, because demand depends on the guests."""
        members = self._states.members(recipe_set_id)
        for host in self._states.hosts(recipe_set_id):
            guests = [recipe for recipe in members if recipe.host_recipe_id == host.recipe_id]
            self._begin(host, self._demand_of(host, guests))
            self.add(host)

    def demand_changed(self, host: Recipe) -> None:
        """Store the present demand of a host that is in no index now, after a change of its requirements."""
        members = self._states.members(host.recipe_set_id)
        guests = [recipe for recipe in members if recipe.host_recipe_id == host.recipe_id]
        self._demands[host.recipe_id] = self._demand_of(host, guests)

    def _demand_of(self, host: Recipe, guests: Iterable[Recipe]) -> Demand:
        demand = Demand(filter_key(host, guests), self._submitter_of(host))
        if len(self._equal) >= MAX_EQUAL:
            self._equal.clear()
        return self._equal.setdefault(demand, demand)

    def _begin(self, host: Recipe, demand: Demand) -> None:
        self._demands[host.recipe_id] = demand
        self._people.setdefault((host.owner, host.group), {})[host.recipe_id] = None

    def add(self, host: Recipe) -> None:
        """Index a host of a completed set by its present state."""
        demand, places = self._demands[host.recipe_id], self._places
        if places.is_wanting(host):
            self._filters.add(demand)
        line = places.line_of(host)
        if line is not None:
            profile = places.profile(host, line)
            self._filters.enqueue(demand, line, self._states.rank(host), profile=profile)
        if host.state in BOUND:
            self._holders.bind(lab_of(host), host.recipe_set_id)

    def remove(self, host: Recipe) -> None:
        """Take a host out of the indexes, before a change of its set or submitter."""
        demand, places = self._demands[host.recipe_id], self._places
        line = places.line_of(host)
        if line is not None:
            profile = places.profile(host, line)
            self._filters.dequeue(demand, line, self._states.rank(host), profile=profile)
        if places.is_wanting(host):
            self._filters.remove(demand)
        if host.state in BOUND:
            self._holders.unbind(lab_of(host), host.recipe_set_id)

    def move(self, before: Recipe, line_before: str | None, host: Recipe) -> None:
        """Update the indexes for a new state of a host, which was in the line `line_before`."""
        demand, places = self._demands[host.recipe_id], self._places
        line = places.line_of(host)
        # The same conditions as `HostPlaces.is_wanting`, which would ask admission twice.
        is_held_back = places.is_held_back(host)
        was_wanting = before.state in UNPLACED and not is_held_back
        is_wanting = host.state in UNPLACED and not is_held_back
        if line_before is not None and line_before != line:
            profile = places.profile(host, line_before)
            self._filters.dequeue(demand, line_before, self._states.rank(host), profile=profile)
        if was_wanting and not is_wanting:
            self._filters.remove(demand)
        elif is_wanting and not was_wanting:
            self._filters.add(demand)
        if line is not None and line != line_before:
            profile = places.profile(host, line)
            self._filters.enqueue(demand, line, self._states.rank(host), profile=profile)
        if before.state in BOUND:
            self._holders.unbind(lab_of(before), before.recipe_set_id)
        if host.state in BOUND:
            self._holders.bind(lab_of(host), host.recipe_set_id)

    def move_from(self, lines: Mapping[int, str | None]) -> None:
        """Move waiting hosts from the given lines to their present ones."""
        for recipe_id, before in lines.items():
            host = self._states.recipes[recipe_id]
            line = self._places.line_of(host)
            if recipe_id in self._demands and before is not None and line is not None and line != before:
                demand, rank = self._demands[recipe_id], self._states.rank(host)
                profile = self._places.profile
                self._filters.dequeue(demand, before, rank, profile=profile(host, before))
                self._filters.enqueue(demand, line, rank, profile=profile(host, line))

    def drop(self, recipe: Recipe) -> None:
        """Drop a finished recipe, which is in no line any more."""
        if self._demands.pop(recipe.recipe_id, None) is not None:
            theirs = self._people[recipe.owner, recipe.group]
            del theirs[recipe.recipe_id]
            if not theirs:
                del self._people[recipe.owner, recipe.group]

    # Many hosts at once

    @contextmanager
    def reindexed(self, recipe_set_ids: Iterable[int]) -> Iterator[None]:
        """Index the hosts of these sets again after the change that the caller makes."""
        hosts = [
            host
            for recipe_set_id in recipe_set_ids
            for host in self._states.hosts(recipe_set_id)
            if host.recipe_id in self._demands
        ]
        for shared in self._share(hosts):
            shared.remove_from(self._filters)
        yield
        for shared in self._share(hosts):
            shared.add_to(self._filters)

    def line_up(self) -> None:
        """Index all hosts in lines by their present lines and profiles.

        The change before made no host wait or stop waiting.
        """
        recipes, sets, class_of = self._states.recipes, self._states.sets, self._places.class_of
        is_owed = self._states.overtakings.is_owed
        # Most hosts are queued and declare no locks: they stand where others of their class and job do.
        stands: dict[tuple[int | None, int], Stand] = {}

        def stand_of(rank: Rank) -> Stand:
            host = recipes[rank.recipe_id]
            recipe_set = sets[host.recipe_set_id]
            if host.state != "queued" or recipe_set.profile != NO_LOCKS or is_owed(host.recipe_set_id):
                return self._stand_of(host)
            key = class_of(host.recipe_set_id), recipe_set.job_id
            stand = stands.get(key)
            if stand is None:
                stand = stands[key] = self._stand_of(host)
            return stand

        self._filters.line_up(stand_of)

    def _stand_of(self, host: Recipe) -> Stand:
        line = self._places.line_of(host)
        assert line is not None, f"{host.subject} waits"
        return line, self._filters.weighing.number(self._places.profile(host, line))

    def _share(self, hosts: Iterable[Recipe]) -> Iterable[SharedDemand]:
        """Return the demands of hosts, each with all of its hosts that could take a system."""
        found: dict[Demand, SharedDemand] = {}
        for host in hosts:
            demand = self._demands[host.recipe_id]
            self._collect(found.get(demand) or found.setdefault(demand, SharedDemand(demand)), host)
        return [shared for shared in found.values() if shared.unplaced]

    def _collect(self, shared: SharedDemand, host: Recipe) -> None:
        """Add a host to `shared`, unless it has a system or is held back."""
        if self._places.is_wanting(host):
            shared.unplaced += 1
            line = self._places.line_of(host)
            if line is not None:
                profile = self._places.profile(host, line)
                shared.lines.setdefault((line, profile), []).append(self._states.rank(host))

    def restore(self) -> list[Recipe]:
        """Do `complete` for all sets at once: most recipes have no guests, and many share a demand.

        Return the hosts that force a system.
        """
        forcing: list[Recipe] = []
        guests: dict[int, list[Recipe]] = {}
        for recipe in self._states.recipes.values():
            if recipe.host_recipe_id is not None:
                guests.setdefault(recipe.host_recipe_id, []).append(recipe)
        alike: dict[tuple[str, int | None, str, str | None], SharedDemand] = {}
        apart: list[SharedDemand] = []
        for recipe in self._states.recipes.values():
            if recipe.host_recipe_id is not None:
                continue
            if recipe.distro is not None or recipe.recipe_id in guests:
                shared = SharedDemand(self._demand_of(recipe, guests.get(recipe.recipe_id, ())))
                apart.append(shared)
            else:
                key = recipe.host_requires, recipe.distro_tree_id, recipe.owner, recipe.group
                shared = alike.get(key) or alike.setdefault(key, SharedDemand(self._demand_of(recipe, ())))
            self._begin(recipe, shared.demand)
            if shared.is_forcing:
                forcing.append(recipe)
            self._collect(shared, recipe)
            if recipe.state in BOUND:
                self._holders.bind(lab_of(recipe), recipe.recipe_set_id)
        for shared in chain(alike.values(), apart):
            shared.add_to(self._filters)
        return forcing

    # People

    def has_recipe_for(self, group: str, user: str | None = None) -> bool:
        """Return whether an unfinished recipe is on behalf of a group, owned by `user` if given."""
        if user is not None:
            return (user, group) in self._people
        return any(group == other for _, other in self._people)

    def reindex(self, users: Collection[str], groups: Collection[str | None]) -> None:
        """Re-index the recipes of these users or groups, whose submitter may have changed."""
        for (owner, group), theirs in self._people.items():
            if owner in users or group in groups:
                for host in map(self._states.recipes.__getitem__, theirs):
                    self._reindex(host)

    def _reindex(self, host: Recipe) -> None:
        before, submitter = self._demands[host.recipe_id], self._submitter_of(host)
        if submitter != before.submitter:
            self.remove(host)
            self._demands[host.recipe_id] = before._replace(submitter=submitter)
            self.add(host)
