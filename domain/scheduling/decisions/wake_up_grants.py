"""The grants of idle systems that the wake-ups of a batch name (design section 4.2).

Claimants of these systems are served first, then the recipe with the highest rank on any of them; design
section 5.5 decides which of its candidates the recipe takes. While queues have turns, the order of the one
system that the recipe takes decides in the end, unless the turns are the same on all systems: which queue is
next may depend on recipes that this system does not fit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from domain.queues.order import Keyed
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions.choice import choices
from domain.scheduling.decisions.claiming import claimant_for_system
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.granting import is_safe
from domain.scheduling.decisions.overtaking import grant_in_order
from domain.scheduling.decisions.room_order import first_rival
from domain.scheduling.decisions.system_order import first_in_turn, in_turn, tiers_of
from domain.scheduling.decisions.wake_groups import (
    BestRecipe,
    best_recipes,
    cached_grantable_recipes,
    groups_of,
)
from domain.scheduling.sets.queue_turns import ONE_LINE, key_among_queues
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.partition_queries import EVERY_SYSTEM
from domain.scheduling.world.triggers import Trigger


class Wake(NamedTuple):
    """The systems that the wake-ups of one event name; `trigger` is the first of these wake-ups."""

    trigger: Trigger
    systems: int


class NextGrant(NamedTuple):
    """The next grant: a recipe, the number of its system, and the wake-up that causes the grant."""

    trigger: Trigger
    host: Recipe
    number: int


class WakeUpGrants:
    """The grants of the systems that wake-ups name. Mutable; valid while only its grants happen."""

    def __init__(self, partition: Partition, wakes: Sequence[Wake]) -> None:
        self._partition = partition
        self._wakes = wakes
        self._next: NextGrant | None = None
        self._claimed = list(_claimed_idle(partition, wakes))
        self._groups = list(groups_of(partition, union(wake.systems for wake in wakes)))
        self._version = partition.sets.classes.version

    def next(self) -> NextGrant | None:
        """Return the next grant, which has not happened yet; None if no recipe takes a system."""
        if self._next is None:
            self._next = self._of_claimant()
        if self._next is None:
            found = best_recipes(self._partition, self._groups)
            if found:
                tier, place, _ = _first_of(self._partition, found)
                systems = union(best.systems for best in found if best[:2] == (tier, place))
                host = self._partition.sets.recipes[place.rank.recipe_id]
                self._next = self._in_room_order(self._with_first_recipe(self._choose(host, systems)))
        return self._next

    def _of_claimant(self) -> NextGrant | None:
        """Return the grant of an idle system to its claimant, by the first event that names such a system."""
        partition = self._partition
        for trigger, number in self._claimed:
            if partition.available.idle(forced=True) >> number & 1:
                host = claimant_for_system(partition, partition.labs.names[number])
                if host is not None:
                    return self._in_room_order(NextGrant(trigger, host, number))
        return None

    def _with_first_recipe(self, found: NextGrant) -> NextGrant:
        """Return the grant of the same system to the recipe that is first in its order."""
        if self._partition.sets.turns.is_alike_everywhere:
            return found
        group = next(group for group in self._groups if group.systems >> found.number & 1)
        recipes_of = partial(cached_grantable_recipes, self._partition, group, found.number)
        first = first_in_turn(self._partition, recipes_of)
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
        """Remove the system from its group, and invalidate the first recipes that the grant may have changed.

        A single-recipe set starts at once and is never a holder, so its grant affects only queues that have
        it as their first recipe, and a fair leaf, which compares the systems of jobs. The grant to a larger
        set may change which other grants are safe. A set that was overtaken may be owed now. What a grant
        changes in weights and rooms has versions. The other sets of a job that is charged from now on are in
        another class.
        """
        sets = self._partition.sets
        is_alone = sets.is_single(granted.host.recipe_set_id) and overtook is None
        queue = sets.turns.queue_of(sets.sets[granted.host.recipe_set_id])
        is_fair = sets.turns.is_fair(queue)
        keys = [(tier, each) for tier in tiers_of(self._partition) for each in (queue, ONE_LINE)]
        is_local = is_alone and self._version == sets.classes.version
        self._version, others = sets.classes.version, ~(1 << granted.number)
        for group in self._groups:
            group.systems &= others
            if not is_local:
                # Some recipes may be in lines that have been empty.
                group.first_of_queues.clear()
                group.searches.clear()
            for key in keys:
                first = group.first_of_queues.get(key)
                if is_fair or (first is not None and first.place.rank.recipe_id == granted.host.recipe_id):
                    group.first_of_queues.pop(key, None)
        self._groups = [group for group in self._groups if group.systems]


def _claimed_idle(partition: Partition, wakes: Iterable[Wake]) -> Iterator[tuple[Trigger, int]]:
    """Yield the idle systems of wake-ups that are claimed, each with a wake-up that names it."""
    claimed = partition.sets.claims.systems
    if claimed:
        claimed &= partition.available.idle(forced=True)
        for trigger, systems in wakes:
            yield from ((trigger, number) for number in numbers_in(claimed & systems))


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


def _first_of(partition: Partition, found: Sequence[BestRecipe]) -> BestRecipe:
    """Return the first of the best recipes of groups: by tier, then by the turns of queues and by place."""
    if partition.sets.turns.is_one_line or len(found) == 1:
        return min(found)
    first_tier = min(best.tier for best in found)
    by_queue: defaultdict[str, list[BestRecipe]] = defaultdict(list)
    tier, sets = tiers_of(partition)[first_tier], partition.sets
    for best in found:
        if best.tier == first_tier:
            recipe_set = sets.sets[sets.recipes[best.place.rank.recipe_id].recipe_set_id]
            queue = sets.turns.queue_of(recipe_set) if tier.has_queued else ONE_LINE
            by_queue[queue].append(best)

    def items_of(queue: str) -> Iterator[Keyed[BestRecipe]]:
        return ((key_among_queues(best.place), best) for best in sorted(by_queue.get(queue, ())))

    return next(in_turn(partition, tier, items_of))[1]
