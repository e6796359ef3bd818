"""The grants of idle systems that the wake-ups of a batch name (design section 4.2).

The recipe with the highest rank on any of these systems is served first; design section 5.5 decides which of
its candidates the recipe takes. Systems of one access class rank all recipes alike, so the best recipe of
each class follows from the first recipes of the lines, and the best of these is served. While queues have
turns, the order of the one system that it takes decides in the end: which queue is next may depend on recipes
that this system does not fit.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby
from typing import Final, NamedTuple

from domain.access.submit_rights import SubmitRights
from domain.queues.order import Item
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions.choice import choices
from domain.scheduling.decisions.demanded_systems import without_hopeless_labs
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.granting import is_safe
from domain.scheduling.decisions.overtaking import grant_in_order
from domain.scheduling.decisions.room_order import first_for_system, first_rival, room_kept_for
from domain.scheduling.decisions.system_order import Tier, in_turn, lines_of, tiers_of
from domain.scheduling.demand.order import Place
from domain.scheduling.ranked import Rank
from domain.scheduling.sets.queue_turns import ONE_LINE, head_of
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.partition_queries import EVERY_SYSTEM
from domain.scheduling.world.triggers import Trigger

# To find all filters that fit costs as much as a few searches that each leave out one filter.
MAX_LEFT_OUT: Final = 3


class Wake(NamedTuple):
    """The systems that the wake-ups of one event name; `trigger` is the first of these wake-ups."""

    trigger: Trigger
    systems: int


class Head(NamedTuple):
    """The first recipe of a queue that may have a system of a group: its place and its candidates there."""

    place: Place
    systems: int


class BestRecipe(NamedTuple):
    """The first recipe that may have a system of a group: its tier, its place, and its candidates there."""

    tier: int
    place: Place
    systems: int


class NextGrant(NamedTuple):
    """The next grant: a recipe, the number of its system, and the wake-up that causes the grant."""

    trigger: Trigger
    host: Recipe
    number: int


@dataclass
class LineSearch:
    """A line, the systems of the labs that consider it, and the filters that may still lead to a grant.

    `until` is a recipe of the set for which room is kept from all sets behind it, until the next grant.
    """

    line: str
    of_labs: int
    filters: int
    until: Rank | None = None


@dataclass
class WakeGroup:
    """Idle systems of one access class, the filters that fit any of them, and the searches of their lines.

    `searches` has the lines by tier and queue, once the queue was asked. `heads` has the first recipe, or
    None, of each such queue; they are valid as long as weights and rooms have these `versions`. `left_out`
    counts the filters that searches have left out one by one since all were last asked at once.
    """

    rights: SubmitRights
    systems: int
    filters: int
    searches: dict[tuple[Tier, str], list[LineSearch]] = field(default_factory=dict)
    heads: dict[tuple[Tier, str], Head | None] = field(default_factory=dict)
    versions: tuple[int, ...] = ()
    left_out: int = 0


class WakeUpGrants:
    """The grants of the systems that wake-ups name. Mutable; valid while only its grants happen."""

    def __init__(self, partition: Partition, wakes: Sequence[Wake]) -> None:
        self._partition = partition
        self._wakes = wakes
        self._next: NextGrant | None = None
        self._form_groups()

    def _form_groups(self) -> None:
        """Form the groups of idle systems, with the lines of all classes that have room now."""
        self._groups = list(_groups(self._partition, union(wake.systems for wake in self._wakes)))
        self._last_class = self._partition.sets.rooms.last_number

    def next(self) -> NextGrant | None:
        """Return the next grant, which has not happened yet; None if no recipe takes a system."""
        if self._next is None:
            best_recipes = _best_recipes(self._partition, self._groups)
            if best_recipes:
                tier, place, _ = _first_of(self._partition, best_recipes)
                systems = union(best.systems for best in best_recipes if best[:2] == (tier, place))
                host = self._partition.sets.recipes[place.rank.recipe_id]
                self._next = self._in_room_order(self._in_turn(self._choose(host, systems)))
        return self._next

    def _in_turn(self, found: NextGrant) -> NextGrant:
        """Return the grant of the same system to the recipe that is first in its order."""
        if self._partition.sets.turns.is_one_line:
            return found
        group = next(group for group in self._groups if group.systems >> found.number & 1)
        first = first_for_system(
            self._partition, found.number, partial(_cached_takers, self._partition, group)
        )
        assert first is not None, f"{found.host.subject} may have the system"
        return found._replace(host=first)

    def _in_room_order(self, found: NextGrant) -> NextGrant:
        """Return the grant to a set that comes before in the order of room, if there is one."""
        rival = first_rival(self._partition, found.host, found.number)
        return found if rival is None else NextGrant(found.trigger, rival.host, rival.number)

    def _choose(self, host: Recipe, candidates: int) -> NextGrant:
        """Return a grant of a safe candidate, by the first event whose wake-ups name one."""
        for trigger, systems in self._wakes:
            for number in _preferred(self._partition, host, candidates & systems, trigger):
                if is_safe(self._partition, host, number):
                    return NextGrant(trigger, host, number)
        raise AssertionError(f"{host.subject} may have one of the candidates")

    def grant_next(self) -> Decision:
        """Return the decision of the grant that `next` returns; there must be one."""
        granted, self._next = self.next(), None
        assert granted is not None, "there is a next grant"
        draft = Draft(self._partition, granted.trigger)
        system = self._partition.system(granted.number)
        overtook = grant_in_order(draft, granted.host, system)
        self._after(granted, overtook)
        return draft.decision()

    def _after(self, granted: NextGrant, overtook: int | None) -> None:
        """Remove the system from its group, and forget the heads that the grant may have changed.

        A single-recipe set starts at once and is never a holder, so its grant affects only queues that have
        it as their head, and a fair leaf, which compares the systems of jobs. The grant to a larger set may
        change which other grants are safe. A set that was overtaken may be owed now. What a grant changes in
        weights and rooms has versions. The other sets of a job that is charged from now on may be in a new
        class, whose lines no group has.
        """
        if self._last_class != self._partition.sets.rooms.last_number:
            self._form_groups()
            return
        sets = self._partition.sets
        is_alone = sets.is_single(granted.host.recipe_set_id) and overtook is None
        queue = sets.turns.queue_of(sets.sets[granted.host.recipe_set_id])
        is_fair = sets.turns.is_fair(queue)
        keys = [(tier, each) for tier in tiers_of(self._partition) for each in (queue, ONE_LINE)]
        others = ~(1 << granted.number)
        for group in self._groups:
            group.systems &= others
            if not is_alone:
                # The set has recipes in lines that may have been empty.
                group.heads.clear()
                group.searches.clear()
            for key in keys:
                head = group.heads.get(key)
                if is_fair or (head is not None and head.place.rank.recipe_id == granted.host.recipe_id):
                    group.heads.pop(key, None)
        self._groups = [group for group in self._groups if group.systems]


def all_idle(partition: Partition, trigger: Trigger) -> WakeUpGrants:
    """Return the grants of all idle systems that some recipe may have, as if a wake-up named all systems."""
    return WakeUpGrants(partition, [Wake(trigger, EVERY_SYSTEM)])


def wakes_of(partition: Partition, triggers: Iterable[Trigger]) -> list[Wake]:
    """Return a `Wake` for each event, from wake-ups in log order."""
    groups = groupby(triggers, key=lambda trigger: trigger.position)
    by_event = [list(wake_ups) for _, wake_ups in groups]
    systems_of = partition.systems_of_wake_up
    return [Wake(each[0], union(systems_of(trigger.name) for trigger in each)) for each in by_event]


def _preferred(partition: Partition, host: Recipe, candidates: int, trigger: Trigger) -> Iterator[int]:
    if not candidates & candidates - 1:
        return numbers_in(candidates)
    return choices(partition, host, candidates, trigger.cause)


def _groups(partition: Partition, systems_of_wakes: int) -> Iterator[WakeGroup]:
    idle = partition.available.idle(forced=True) & systems_of_wakes
    if not idle:
        return
    for rights, of_class in partition.labs.access.each():
        if (systems := idle & of_class) and (filters := _fitting_filters(partition, systems)):
            yield WakeGroup(rights, systems, filters)


def _fitting_filters(partition: Partition, systems: int, among: int | None = None) -> int:
    """Return the filters of `among` (None: all) with recipes that fit any of these idle systems."""
    unforced = partition.available.idle(forced=False) & systems
    return partition.filters.fitting_filters(unforced, systems, among)


def _searches(partition: Partition, group: WakeGroup, tier: Tier, queue: str) -> list[LineSearch]:
    """Return the lines of a queue with recipes that the systems consider, each only once."""
    found = group.searches.get((tier, queue))
    if found is None:
        lines: dict[str, LineSearch] = {}
        for lab_controller, of_lab in partition.labs.each():
            for line in lines_of(partition, tier, lab_controller, queue) if group.systems & of_lab else ():
                if partition.filters.any_in(line, group.filters):
                    lines.setdefault(line, LineSearch(line, 0, group.filters)).of_labs |= of_lab
        found = group.searches[tier, queue] = list(lines.values())
    return found


def _best_recipes(partition: Partition, groups: Sequence[WakeGroup]) -> list[BestRecipe]:
    sets = partition.sets
    versions = partition.filters.weighing.version, sets.rooms.version
    for group in groups:
        if group.versions != versions:
            group.heads.clear()
            group.versions = versions
    found = (_best_recipe(partition, group) for group in groups)
    return [best for best in found if best is not None]


def _first_of(partition: Partition, best_recipes: Sequence[BestRecipe]) -> BestRecipe:
    """Return the first of the best recipes of groups: by tier, then by the turns of queues and by place."""
    if partition.sets.turns.is_one_line:
        return min(best_recipes)
    first_tier = min(best.tier for best in best_recipes)
    by_queue: defaultdict[str, list[Item[BestRecipe]]] = defaultdict(list)
    tier, sets = tiers_of(partition)[first_tier], partition.sets
    for best in best_recipes:
        if best.tier == first_tier:
            recipe_set = sets.sets[sets.recipes[best.place.rank.recipe_id].recipe_set_id]
            queue = sets.turns.queue_of(recipe_set) if tier.has_queued else ONE_LINE
            by_queue[queue].append((head_of(best.place), best))
    return next(in_turn(partition, tier, lambda queue: iter(sorted(by_queue.get(queue, ())))))[1]


def _best_recipe(partition: Partition, group: WakeGroup) -> BestRecipe | None:
    for number, tier in enumerate(tiers_of(partition)):
        first = next(in_turn(partition, tier, partial(_first_of_queue, partition, group, tier)), None)
        if first is not None:
            return BestRecipe(number, *first[1])
    return None


def _first_of_queue(partition: Partition, group: WakeGroup, tier: Tier, queue: str) -> Iterator[Item[Head]]:
    """Yield the first recipe of a queue that may have a system of the group, if any, with its candidates."""
    head = _head(partition, group, tier, queue)
    if head is not None:
        yield head_of(head.place), head._replace(systems=head.systems & group.systems)


def _head(partition: Partition, group: WakeGroup, tier: Tier, queue: str) -> Head | None:
    """Return the first recipe of a queue that may have a system of the group.

    Grants only take systems and recipes away. So a recipe stays the first one as long as it waits and some
    candidate is left, and a queue without one has none for good. While queues have turns, which each grant
    changes, these decide for whom room is kept.
    """
    key, is_one_line = (tier, queue), partition.sets.turns.is_one_line
    if key in group.heads:
        cached = group.heads[key]
        if cached is None:
            return None
        if cached.systems & group.systems and (is_one_line or not _is_room_kept(partition, cached)):
            return cached
    searches = _searches(partition, group, tier, queue)
    head = _first_of_lines(partition, group, searches)
    if not is_one_line and any(search.until for search in searches):
        group.heads.pop(key, None)
    else:
        group.heads[key] = head
    return head


def _is_room_kept(partition: Partition, head: Head) -> bool:
    return room_kept_for(partition, partition.sets.recipes[head.place.rank.recipe_id]) is not None


def _cached_takers(
    partition: Partition, group: WakeGroup, number: int, tier: Tier, queue: str
) -> Iterator[Item[Recipe]] | None:
    """Return the first recipe of a queue for a system of the group from the cached heads.

    Return None if only a search finds it.
    """
    head = _head(partition, group, tier, queue)
    if head is None:
        return iter(())
    host = partition.sets.recipes[head.place.rank.recipe_id]
    is_first = head.systems >> number & 1 and is_safe(partition, host, number)
    return iter([(head_of(head.place), host)]) if is_first else None


def _first_of_lines(partition: Partition, group: WakeGroup, searches: Sequence[LineSearch]) -> Head | None:
    for search in searches:
        search.until = None
    first = _first_in(partition, group, searches)
    while isinstance(first, LineSearch):
        if group.left_out >= MAX_LEFT_OUT:
            _leave_out_unfit(partition, group)
        first = _first_in(partition, group, searches)
    return first


def _leave_out_unfit(partition: Partition, group: WakeGroup) -> None:
    """Leave out the filters that fit none of the remaining systems, all at once."""
    group.left_out = 0
    group.filters = _fitting_filters(partition, group.systems, group.filters)
    for search in chain.from_iterable(group.searches.values()):
        search.filters &= group.filters


def _first_in(
    partition: Partition, group: WakeGroup, lines: Sequence[LineSearch]
) -> Head | LineSearch | None:
    """Return the place of the first recipe in lines that may have a system of the group, and its candidates.

    Return None if no recipe may have one. Return a `LineSearch` from which a filter without candidates was
    removed: the caller searches again, and so skips all recipes with this filter at once.
    """
    searches = [search for search in lines if partition.filters.any_in(search.line, search.filters)]
    found = [_places(partition, group, search) for search in searches]
    for place, search in found[0] if len(found) == 1 else heapq.merge(*found):
        host = partition.sets.recipes[place.rank.recipe_id]
        if partition.sets.classes.lacks_room(host.recipe_set_id):
            search.filters = 0
            return search
        if search.until is None:
            search.until = room_kept_for(partition, host)
            if search.until is not None:
                return search
        systems = partition.idle(host) & group.systems & search.of_labs
        if not systems:
            group.left_out += 1
            search.filters &= ~(1 << partition.filters.number(partition.sets.index.key(host)))
            return search
        if systems := _where_safe(partition, host, systems):
            return Head(place, systems)
    return None


def _where_safe(partition: Partition, host: Recipe, systems: int) -> int:
    """Return the systems in labs that are not hopeless for the set and in which some grant is safe."""
    if partition.sets.is_single(host.recipe_set_id):
        return systems
    sufficient = without_hopeless_labs(partition, host, systems)
    of_labs = (sufficient & of_lab for _, of_lab in partition.labs.each())
    return union(each for each in of_labs if _is_any_safe(partition, host, each))


def _is_any_safe(partition: Partition, host: Recipe, systems: int) -> bool:
    return any(is_safe(partition, host, number) for number in numbers_in(systems))


def _places(partition: Partition, group: WakeGroup, search: LineSearch) -> Iterator[tuple[Place, LineSearch]]:
    # No two recipes have the same place, so searches are never compared.
    filters, until = search.filters, search.until
    places = partition.filters.ranked_recipes_of_class(search.line, filters, group.rights, until)
    return ((place, search) for place in places)
