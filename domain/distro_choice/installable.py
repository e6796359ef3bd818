"""An index of the distro trees that each system could install, and of access, for processes that accept jobs.

The index uses the columns, rules and availability of the scheduler, but ignores the usage of systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from domain.access.submit_rights import Submitter
from domain.directory.events import PoolSystemAdded, PoolSystemRemoved
from domain.directory.partitions import number_of_lab
from domain.directory.state import Directory
from domain.events import Event, Moment, Recorded, split_subject
from domain.requirements import Forced, from_text, matching
from domain.requirements.comparisons import comparisons, comparisons_uncached
from domain.requirements.distro import NewestFirst
from domain.requirements.distro import from_text as distro_from_text
from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.supply.access_updates import AccessUpdates
from domain.scheduling.supply.availability import Availability
from domain.scheduling.supply.filter_key import FilterKey
from domain.scheduling.supply.labs import Distro, Labs
from domain.scheduling.supply.rules import FITTING, could_install
from domain.scheduling.supply.visible import Visible
from domain.scheduling.world.absent_trees import AbsentTrees
from domain.system import events as system_events
from domain.system.state import System, evolve

FOLDED_EVENTS: tuple[type[Event], ...] = (
    system_events.SystemRegistered,
    system_events.SystemInventoryChanged,
    system_events.SystemConditionChanged,
    system_events.SystemLabControllerChanged,
    system_events.SystemOwnerChanged,
    system_events.SystemLoaned,
    system_events.SystemLoanEnded,
    system_events.SystemDrained,
    system_events.SystemUndrained,
    system_events.SystemOccupied,
    system_events.SystemVacated,
    system_events.SystemReservationBegun,
    system_events.SystemReservationEnded,
    system_events.SystemAccessPolicyChanged,
)
"""Events of a system that change its access, its availability, or properties that requirements may name."""

# Maximum number of entries per cache; at this number the cache is cleared.
MAX_CACHED = 4_096

Tree: TypeAlias = int | None
"""The id of a distro tree; None for a custom distro of the job, and if no tree was found."""


class RecipeNeeds(NamedTuple):
    """The requirements of a recipe as canonical texts, its custom distro (`own`), and its guests."""

    host_requires: str
    distro_requires: str
    own: Distro | None
    guests: tuple[RecipeNeeds, ...]


class TreeOffer(NamedTuple):
    """A matching tree, the number of newer matching trees, and systems that can install the tree."""

    newer_count: int
    tree: Tree
    systems: int


class HostMatch(NamedTuple):
    """The systems that satisfy a host requirement, and whether the requirement forces a system."""

    systems: int
    forced: bool


class Installable:
    """Mutable: `apply` the events of the log in order, each after the directory has it; then query."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._labs = Labs()
        self._available = Availability(self._labs)
        self._visible = Visible(directory, self._labs)
        self._access_updates = AccessUpdates(directory, self._labs, self._visible)
        self._absent_trees = AbsentTrees()
        self._systems: dict[str, System] = {}
        # Changed systems; the value is False if only their access has changed.
        self._stale: dict[str, bool] = {}
        self._trees: dict[str, tuple[int, ...]] = {}
        self._ordered: NewestFirst | None = None
        self._costs: dict[tuple[str, str], int] = {}
        self._installers: dict[Distro | Tree, int] = {}
        self._with_tree: dict[int, int] = {}
        self._offered: dict[tuple[str | Distro, int], tuple[TreeOffer, ...]] = {}
        self._host_matches: dict[str, HostMatch] = {}

    def apply(self, recorded: Recorded) -> bool:
        """Apply an event; return False if the event changes no result of a query."""
        event = recorded.event
        kind, name = split_subject(recorded.subject)
        if kind in ("user", "group", "pool"):
            self._visible.invalidate()
        if isinstance(event, FOLDED_EVENTS):
            self._systems[name] = evolve(self._systems.get(name), name, event, Moment.of(recorded))
        if isinstance(event, system_events.SystemAccessPolicyChanged):
            self._mark_access_stale((name,))
        elif isinstance(event, FOLDED_EVENTS):
            self._mark_stale(name)
        elif isinstance(event, PoolSystemAdded | PoolSystemRemoved):
            self._mark_stale(event.system)
        elif kind == "pool":
            self._mark_access_stale(self._access_updates.pool_changed(name))
        elif kind == "distro-tree":
            self._describe_tree(name, recorded.recorded_at)
        elif kind == "lab-controller":
            self._available.serve(name, self._directory.is_serving(name))
            self._invalidate()
        else:
            return False
        return True

    def _mark_access_stale(self, fqdns: Iterable[str]) -> None:
        """Mark systems after changes of their access only; the caches stay valid."""
        for fqdn in fqdns:
            self._stale.setdefault(fqdn, False)

    def _mark_stale(self, fqdn: str) -> None:
        self._stale[fqdn] = True
        self._invalidate()

    def _describe_tree(self, name: str, at: datetime) -> None:
        self._trees.clear()
        self._ordered = None
        tree_id, before = int(name), self._labs.tree(int(name))
        entry = self._directory.get("distro-tree", name)
        if entry is None:
            self._labs.remove_tree(tree_id)
        else:
            self._labs.put_tree(tree_id, entry.document)
        self._absent_trees.changed(tree_id, before, self._labs.tree(tree_id), at)
        self._invalidate()

    def _invalidate(self) -> None:
        for cached in (self._installers, self._with_tree, self._offered, self._host_matches, self._costs):
            cached.clear()

    def catch_up(self, limit: int | None = None) -> bool:
        """Update the index for at most `limit` changed systems, once each; return whether none is left."""
        # Check first, because iterating over a dictionary that was emptied is slow.
        for fqdn in list(islice(self._stale, limit)) if self._stale else ():
            system = self._systems[fqdn]
            if self._stale.pop(fqdn):
                self._labs.put(system, self._directory.pools_of(fqdn))
                self._available.put(system)
            self._access_updates.update_system(system)
        return not self._stale

    def absent_trees(self, now: datetime) -> dict[int, Mapping[str, Any]]:
        """Return the last documents of the distro trees that left every lab during the last day."""
        return self._absent_trees.documents_of_last_day(now)

    def with_more_trees(self, trees: Mapping[int, Mapping[str, Any]]) -> Installable:
        """Return an index of the same systems with these trees added, valid until the next event."""
        other = copy(self)
        other._labs, other._ordered = self._labs.with_more_trees(trees), None
        other._trees, other._installers, other._with_tree, other._offered = {}, {}, {}, {}
        return other

    # Queries

    def misfit(self, key: FilterKey, fqdn: str) -> str | None:
        """Return the reason of the first rule that excludes a system for a recipe, None if it fits."""
        number = self._labs.number(fqdn)
        failed = (rule for rule in FITTING if not rule.passes(self._labs, key) >> number & 1)
        return next((rule.of_system for rule in failed), None)

    def comparisons(self, all_needs: Sequence[RecipeNeeds]) -> int:
        """Return the number of comparisons that evaluate all requirements; equal ones count once."""
        every = [member for needs in all_needs for member in (needs, *needs.guests)]
        hosts = {needs.host_requires: None for needs in all_needs}
        distros = {member.distro_requires: None for member in every if member.own is None}
        trees = self._all_trees().columns
        read = map(distro_from_text, distros)
        return comparisons(map(from_text, hosts), self._labs.columns) + comparisons_uncached(read, trees)

    def max_comparisons(self, needs: RecipeNeeds) -> int:
        """Return the number of comparisons for one recipe alone."""
        key = needs.host_requires, needs.distro_requires
        cached = self._costs.get(key)
        if cached is None:
            _make_room(self._costs)
            cached = self._costs[key] = self.comparisons((needs,))
        return cached

    def trees_of(self, needs: RecipeNeeds) -> Sequence[Tree]:
        """Return the trees that match the requirement, newest first; None alone for a custom distro."""
        return (None,) if needs.own else self._newest_first(needs.distro_requires)

    def _newest_first(self, distro_requires: str) -> tuple[int, ...]:
        cached = self._trees.get(distro_requires)
        if cached is None:
            _make_room(self._trees)
            found = self._all_trees().fitting(distro_from_text(distro_requires))
            cached = self._trees[distro_requires] = found
        return cached

    def _all_trees(self) -> NewestFirst:
        if self._ordered is None:
            self._ordered = NewestFirst(
                {**document, "id": tree_id} for tree_id, document in self._labs.trees()
            )
        return self._ordered

    def could_install(self, distro: Distro | Tree) -> int:
        """Return the systems that could install a distro tree, or a custom distro of the job."""
        cached = self._installers.get(distro)
        if cached is None:
            _make_room(self._installers)
            key = FilterKey("", None, distro) if isinstance(distro, Distro) else FilterKey("", distro)
            cached = self._installers[distro] = could_install(self._labs, key)
        return cached

    def offered(self, needs: RecipeNeeds, of_lab: int) -> tuple[TreeOffer, ...]:
        """Return the matching trees of a lab, newest first, without trees whose systems have newer ones."""
        key = (needs.own or needs.distro_requires, of_lab)
        cached = self._offered.get(key)
        if cached is None:
            _make_room(self._offered)
            cached = self._offered[key] = tuple(self._offers(needs, of_lab))
        return cached

    def _offers(self, needs: RecipeNeeds, of_lab: int) -> Iterator[TreeOffer]:
        covered = 0
        for index, tree in enumerate(self.trees_of(needs)):
            systems = self.could_install(needs.own or tree) & of_lab
            if systems & ~covered:
                covered |= systems
                yield TreeOffer(index, tree, systems)

    def has(self, of_lab: int, tree_id: int) -> bool:
        cached = self._with_tree.get(tree_id)
        if cached is None:
            _make_room(self._with_tree)
            cached = self._with_tree[tree_id] = self._labs.with_tree(tree_id)
        return bool(cached & of_lab)

    def submitter(self, owner: str, group: str | None) -> Submitter:
        """Return the owner and group of a job as far as access policies distinguish them."""
        return self._access_updates.submitter(owner, group)

    def hidden_from(self, owner: str) -> int:
        """Return the systems that the owner of a job may neither view nor submit to."""
        return self._visible.hidden_from(owner)

    def fitting(self, host_requires: str, hidden: int) -> int:
        """Return the systems that satisfy a host requirement in any condition, except hidden ones."""
        return self._host_match(host_requires).systems & ~hidden

    def entitled(self, host_requires: str, submitter: Submitter) -> int:
        """Return the systems that satisfy a host requirement and admit the submitter, lent or not."""
        return self._host_match(host_requires).systems & self._labs.access.entitled(submitter)

    def usable(self, host_requires: str, submitter: Submitter) -> int:
        """Return the systems that recipes of a submitter may have, now or when they come free."""
        match = self._host_match(host_requires)
        usable = match.systems & self._available.usable(forced=match.forced)
        return usable & self._labs.access.allowed(submitter)

    def _host_match(self, host_requires: str) -> HostMatch:
        cached = self._host_matches.get(host_requires)
        if cached is None:
            _make_room(self._host_matches)
            node = from_text(host_requires)
            systems = matching(node, self._labs.columns) & self._labs.registered
            cached = self._host_matches[host_requires] = HostMatch(systems, isinstance(node, Forced))
        return cached

    def labs(self) -> Iterator[int]:
        return (of_lab for _, of_lab in self._labs.each() if of_lab)

    @property
    def all_systems(self) -> int:
        return self._labs.registered

    def of_partition(self, number: int) -> int:
        """Return the systems of the labs of a partition."""
        labs = self._labs.each()
        return union(of_lab for lab, of_lab in labs if number_of_lab(self._directory, lab) == number)


def _make_room(cached: dict[Any, Any]) -> None:
    if len(cached) >= MAX_CACHED:
        cached.clear()
