"""An index of the distro trees that each system could install, and of access, for processes that accept jobs.

It uses the same columns, rules and availability as the scheduler, but does not follow the usage of systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from domain.access.submitting import Who
from domain.directory.events import PoolSystemAdded, PoolSystemRemoved
from domain.directory.state import Directory
from domain.events import Event, Moment, Recorded, split_subject
from domain.requirements import Forced, from_text, matching
from domain.requirements.comparisons import comparisons, comparisons_uncached
from domain.requirements.distro import NewestFirst
from domain.requirements.distro import from_text as distro_from_text
from domain.scheduling.supply.access_updates import AccessUpdates
from domain.scheduling.supply.availability import Availability
from domain.scheduling.supply.filter_key import FilterKey
from domain.scheduling.supply.labs import Distro, Labs
from domain.scheduling.supply.rules import could_install
from domain.scheduling.supply.visible import Visible
from domain.scheduling.world.trees_away import TreesAway
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
    """The requirements of a recipe, both as canonical text, and its guests."""

    host_requires: str
    distro_requires: str
    own: Distro | None
    guests: tuple[RecipeNeeds, ...]


class Offered(NamedTuple):
    """A matching tree, its index among these, newest first, and the systems of a lab that can install it."""

    place: int
    tree: Tree
    systems: int


class HostMatch(NamedTuple):
    """The systems that satisfy a host requirement, and whether it forces one."""

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
        self._trees_away = TreesAway()
        self._systems: dict[str, System] = {}
        # Changed systems, and whether more than their access has changed.
        self._stale: dict[str, bool] = {}
        self._trees: dict[str, tuple[int, ...]] = {}
        self._ordered: NewestFirst | None = None
        self._costs: dict[tuple[str, str], int] = {}
        self._could: dict[Distro | Tree, int] = {}
        self._having: dict[int, int] = {}
        self._offered: dict[tuple[str | Distro, int], tuple[Offered, ...]] = {}
        self._host_matches: dict[str, HostMatch] = {}

    def apply(self, recorded: Recorded) -> bool:
        """Apply an event; return whether it may change a result."""
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
        """Mark systems whose access has changed; what they could install is unchanged."""
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
        self._trees_away.changed(tree_id, before, self._labs.tree(tree_id), at)
        self._invalidate()

    def _invalidate(self) -> None:
        """Clear all caches of results."""
        for kept in (self._could, self._having, self._offered, self._host_matches, self._costs):
            kept.clear()

    def catch_up(self, limit: int | None = None) -> bool:
        """Process changed systems before a query, each once however often it changed.

        With `limit`, process at most that many. Return whether none is left.
        """
        # The check comes first because iterating over a dictionary that was emptied is slow.
        for fqdn in list(islice(self._stale, limit)) if self._stale else ():
            system = self._systems[fqdn]
            if self._stale.pop(fqdn):
                self._labs.put(system, self._directory.pools_of(fqdn))
                self._available.put(system)
            self._access_updates.update_system(system)
        return not self._stale

    def trees_away(self, now: datetime) -> dict[int, Mapping[str, Any]]:
        """Return the last documents of the distro trees that left every lab during the last day."""
        return self._trees_away.lately(now)

    def having(self, trees: Mapping[int, Mapping[str, Any]]) -> Installable:
        """Return an index of the same systems with more distro trees, valid until the next event."""
        other = copy(self)
        other._labs, other._ordered = self._labs.having(trees), None
        other._trees, other._could, other._having, other._offered = {}, {}, {}, {}
        return other

    # Queries

    def comparisons(self, wants: Sequence[RecipeNeeds]) -> int:
        """Return the number of comparisons with values of systems and trees for all requirements together."""
        every = [member for want in wants for member in (want, *want.guests)]
        hosts = {want.host_requires: None for want in wants}
        distros = {member.distro_requires: None for member in every if member.own is None}
        trees = self._all_trees().columns
        read = map(distro_from_text, distros)
        return comparisons(map(from_text, hosts), self._labs.columns) + comparisons_uncached(read, trees)

    def max_comparisons(self, want: RecipeNeeds) -> int:
        """Return an upper bound of the comparisons for one recipe, without results shared between recipes."""
        question = want.host_requires, want.distro_requires
        kept = self._costs.get(question)
        if kept is None:
            _make_room(self._costs)
            kept = self._costs[question] = self.comparisons((want,))
        return kept

    def trees_of(self, want: RecipeNeeds) -> Sequence[Tree]:
        """Return the trees that match the requirement, newest first."""
        return (None,) if want.own else self._newest_first(want.distro_requires)

    def _newest_first(self, distro_requires: str) -> tuple[int, ...]:
        kept = self._trees.get(distro_requires)
        if kept is None:
            _make_room(self._trees)
            found = self._all_trees().fitting(distro_from_text(distro_requires))
            kept = self._trees[distro_requires] = found
        return kept

    def _all_trees(self) -> NewestFirst:
        if self._ordered is None:
            self._ordered = NewestFirst(
                {**document, "id": tree_id} for tree_id, document in self._labs.trees()
            )
        return self._ordered

    def could_install(self, distro: Distro | Tree) -> int:
        """Return the systems that could install a distro tree, or a custom distro of the job."""
        kept = self._could.get(distro)
        if kept is None:
            _make_room(self._could)
            key = FilterKey("", None, distro) if isinstance(distro, Distro) else FilterKey("", distro)
            kept = self._could[distro] = could_install(self._labs, key)
        return kept

    def offered(self, want: RecipeNeeds, of_lab: int) -> tuple[Offered, ...]:
        """Return the matching trees that a lab could install, newest first.

        A tree is left out if newer ones cover all its systems, because no system would be given it.
        """
        question = (want.own or want.distro_requires, of_lab)
        kept = self._offered.get(question)
        if kept is None:
            _make_room(self._offered)
            kept = self._offered[question] = tuple(self._offers(want, of_lab))
        return kept

    def _offers(self, want: RecipeNeeds, of_lab: int) -> Iterator[Offered]:
        served = 0
        for place, tree in enumerate(self.trees_of(want)):
            systems = self.could_install(want.own or tree) & of_lab
            if systems & ~served:
                served |= systems
                yield Offered(place, tree, systems)

    def has(self, of_lab: int, tree_id: int) -> bool:
        """Return whether the lab of these systems has a distro tree."""
        kept = self._having.get(tree_id)
        if kept is None:
            _make_room(self._having)
            kept = self._having[tree_id] = self._labs.with_tree(tree_id)
        return bool(kept & of_lab)

    def who(self, owner: str, group: str | None) -> Who:
        """Return the owner and group of a job as far as access policies distinguish them."""
        return self._access_updates.who(owner, group)

    def hidden_from(self, owner: str) -> int:
        """Return the systems that are hidden from the owner of a job."""
        return self._visible.hidden_from(owner)

    def fitting(self, host_requires: str, hidden: int) -> int:
        """Return the systems that satisfy a host requirement in any condition, except hidden ones."""
        return self._host_match(host_requires).systems & ~hidden

    def entitled(self, host_requires: str, who: Who) -> int:
        """Return the fitting systems to which a user may submit, on loan or not."""
        return self._host_match(host_requires).systems & self._labs.access.entitled(who)

    def usable(self, host_requires: str, who: Who) -> int:
        """Return the fitting systems that recipes of a user may have, now or when they come free."""
        asked = self._host_match(host_requires)
        return asked.systems & self._available.usable(forced=asked.forced) & self._labs.access.may(who)

    def _host_match(self, host_requires: str) -> HostMatch:
        kept = self._host_matches.get(host_requires)
        if kept is None:
            _make_room(self._host_matches)
            node = from_text(host_requires)
            systems = matching(node, self._labs.columns) & self._labs.registered
            kept = self._host_matches[host_requires] = HostMatch(systems, isinstance(node, Forced))
        return kept

    def labs(self) -> Iterator[int]:
        """Yield the systems of each lab that has any."""
        return (of_lab for _, of_lab in self._labs.each() if of_lab)

    @property
    def everyone(self) -> int:
        """Return the systems of all labs."""
        return self._labs.registered


def _make_room(kept: dict[Any, Any]) -> None:
    if len(kept) >= MAX_CACHED:
        kept.clear()
