"""The grants of idle systems that the wake-ups of a batch ask (design section 4.2).

The highest rank over all asked systems is served first; design section 5.5 decides which of its systems the
recipe takes. Systems of one access class rank all recipes alike. So the best recipe of each class follows
from the first recipes of the lines, without a look at the systems, and the best of these recipes is served.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

from domain.access.submit_rights import SubmitRights
from domain.recipe.state import Recipe
from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.decisions.choice import choices
from domain.scheduling.decisions.demanded_systems import of_sufficient_labs
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.granting import grant, is_safe
from domain.scheduling.decisions.pending_system import tiers_of
from domain.scheduling.demand.order import Place
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import Trigger

EVERY_SYSTEM: Final = -1


class Wake(NamedTuple):
    """The systems that all wake-ups of one event ask; `trigger` is the first of these wake-ups."""

    trigger: Trigger
    systems: int


class BestRecipe(NamedTuple):
    """The best recipe that may have a system of a group, by tier and place, and the systems it could use."""

    tier: int
    place: Place
    systems: int


class NextGrant(NamedTuple):
    """A recipe, the number of the system that it takes, and the wake-up behind it."""

    trigger: Trigger
    host: Recipe
    number: int


@dataclass
class LineSearch:
    """A line that systems of these labs ask, and the filters of recipes that might fit one of them."""

    line: str
    of_labs: int
    filters: int


@dataclass
class WakeGroup:
    """Idle systems of one access class that wake-ups ask, and the lines that they ask, tier by tier.

    `best` is valid while `has_best`; None means that no recipe may have one of the systems.
    """

    rights: SubmitRights
    systems: int
    tiers: Sequence[Sequence[LineSearch]]
    best: BestRecipe | None = None
    has_best: bool = False


class Waking:
    """The search for grants of the systems that wake-ups ask. Mutable; valid while only its grants happen."""

    def __init__(self, partition: Partition, wakes: Sequence[Wake]) -> None:
        self._partition = partition
        self._wakes = wakes
        self._groups = list(_groups(partition, union(wake.systems for wake in wakes)))
        self._next: NextGrant | None = None

    def next(self) -> NextGrant | None:
        """Return the next grant, which has not happened yet; None if no recipe takes a system."""
        if self._next is None:
            found = _best_recipes(self._partition, self._groups)
            if found:
                tier, place, _ = min(found)
                alike = (best.systems for best in found if (best.tier, best.place) == (tier, place))
                self._next = self._choose(self._partition.sets.recipes[place.rank.recipe_id], union(alike))
        return self._next

    def _choose(self, host: Recipe, candidates: int) -> NextGrant:
        """Return the grant for the first event that asks a system which the recipe may have."""
        for trigger, asked in self._wakes:
            for number in _preferred(self._partition, host, candidates & asked, trigger):
                if is_safe(self._partition, host, number):
                    return NextGrant(trigger, host, number)
        raise AssertionError(f"{host.subject} may have one of them")

    def grant_next(self) -> Decision:
        granted, self._next = self.next(), None
        assert granted is not None, "a recipe takes a system"
        draft = Draft(self._partition, granted.trigger)
        grant(draft, granted.host, self._partition.system(granted.number))
        self._note(granted)
        return draft.decision()

    def _note(self, granted: NextGrant) -> None:
        """Take the system out of its group, and invalidate the best recipes that the grant may have changed.

        The only recipe of a set starts at once, and never holds a system that others wait for. So
        its grant affects only the groups where it is the best recipe. The grant of a larger set may change
        which other grants are safe.
        """
        is_single = self._partition.sets.is_single(granted.host.recipe_set_id)
        for group in self._groups:
            group.systems &= ~(1 << granted.number)
            stays = group.best is None or group.best.place.rank.recipe_id != granted.host.recipe_id
            group.has_best = group.has_best and is_single and stays
        self._groups = [group for group in self._groups if group.systems]


def ask_all(partition: Partition, trigger: Trigger) -> Iterator[Decision]:
    """Ask every idle system, in case the wake-ups were not enough."""
    waking = Waking(partition, [Wake(trigger, EVERY_SYSTEM)])
    while waking.next() is not None:
        yield waking.grant_next()


def wakes_of(partition: Partition, triggers: Iterable[Trigger]) -> list[Wake]:
    """Return the systems that wake-ups in log order ask, event by event."""
    by_event = groupby(triggers, key=lambda trigger: trigger.position)
    together = (list(each) for _, each in by_event)
    systems_of = partition.systems_of_wake_up
    return [Wake(each[0], union(systems_of(trigger.name) for trigger in each)) for each in together]


def _preferred(partition: Partition, host: Recipe, candidates: int, trigger: Trigger) -> Iterator[int]:
    if not candidates & candidates - 1:
        return numbers_in(candidates)
    return choices(partition, host, candidates, trigger.cause)


def _groups(partition: Partition, asked: int) -> Iterator[WakeGroup]:
    by_force = partition.available.idle(forced=True) & asked
    if not by_force:
        return
    fits = partition.filters.filters_fitting(partition.available.idle(forced=False) & asked, by_force)
    for rights, of_class in partition.labs.access.each() if fits else ():
        if systems := by_force & of_class:
            filters = union(own for own, fitting in fits if fitting & systems)
            if filters:
                yield WakeGroup(rights, systems, _tiers(partition, systems, filters))


def _tiers(partition: Partition, systems: int, filters: int) -> list[list[LineSearch]]:
    """Return the lines that these systems ask: that of the queued recipes once for all labs."""
    tiers: tuple[dict[str, LineSearch], ...] = ({}, {})
    for lab_controller, of_lab in partition.labs.each():
        if systems & of_lab:
            for tier, lines in zip(tiers, tiers_of(lab_controller), strict=True):
                for line in lines:
                    tier.setdefault(line, LineSearch(line, 0, filters)).of_labs |= of_lab
    return [list(tier.values()) for tier in tiers]


def _best_recipes(partition: Partition, groups: Sequence[WakeGroup]) -> list[BestRecipe]:
    for group in groups:
        if not group.has_best:
            group.best, group.has_best = _best_recipe(partition, group), True
    return [group.best for group in groups if group.best is not None]


def _best_recipe(partition: Partition, group: WakeGroup) -> BestRecipe | None:
    for number, tier in enumerate(group.tiers):
        found = _first_in(partition, group, tier)
        while isinstance(found, LineSearch):
            found = _first_in(partition, group, tier)
        if found is not None:
            return BestRecipe(number, *found)
    return None


def _first_in(
    partition: Partition, group: WakeGroup, tier: Sequence[LineSearch]
) -> tuple[Place, int] | LineSearch | None:
    """Return the first recipe of a tier that may have a system of the group, and all that it could use.

    None: no recipe may have one. A `LineSearch`: it has lost a filter that fits no system any more, so the
    caller searches again, and skips all recipes with this filter at once.
    """
    asked = [search for search in tier if partition.filters.any_in(search.line, search.filters)]
    for place, search in heapq.merge(*(_places(partition, group, search) for search in asked)):
        host = partition.sets.recipes[place.rank.recipe_id]
        systems = partition.idle(host) & group.systems & search.of_labs
        if not systems:
            search.filters &= ~(1 << partition.filters.number(partition.sets.key(host)))
            return search
        if systems := _where_safe(partition, host, systems):
            return place, systems
    return None


def _where_safe(partition: Partition, host: Recipe, systems: int) -> int:
    """Return the systems of labs that could serve the whole set, and in which one is safe for the recipe."""
    if partition.sets.is_single(host.recipe_set_id):
        return systems
    sufficient = of_sufficient_labs(partition, host, systems)
    of_labs = (sufficient & of_lab for _, of_lab in partition.labs.each())
    return union(each for each in of_labs if _is_any_safe(partition, host, each))


def _is_any_safe(partition: Partition, host: Recipe, systems: int) -> bool:
    return any(is_safe(partition, host, number) for number in numbers_in(systems))


def _places(partition: Partition, group: WakeGroup, search: LineSearch) -> Iterator[tuple[Place, LineSearch]]:
    # No two recipes have the same place, so searches are never compared.
    places = partition.filters.ranked_recipes_of_class(search.line, search.filters, group.rights)
    return ((place, search) for place in places)
