"""The grants of idle systems that the wake-ups of a batch ask (design section 4.2).

The highest rank over all asked systems is served first; which of its systems the recipe takes, says design
section 5.5. Systems of one access class rank all recipes alike. So the best recipe of each class is found by
the heads of the lines, without a look at the systems, and the best of those is served.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple

from domain.access.submitting import Submitting
from domain.recipe.state import Recipe
from domain.scheduling.asking import Place
from domain.scheduling.bitmaps import numbers_in, union
from domain.scheduling.choice import choices
from domain.scheduling.draft import Decision, Draft
from domain.scheduling.granting import grant, is_safe
from domain.scheduling.partition import Partition
from domain.scheduling.question import tiers_of
from domain.scheduling.triggers import Trigger
from domain.scheduling.wanted import of_sufficient_labs

EVERY_SYSTEM: Final = -1


class Wake(NamedTuple):
    """The systems that all wake-ups of one event ask; `trigger` is the first of these wake-ups."""

    trigger: Trigger
    systems: int


class Head(NamedTuple):
    """The best recipe that may have a system of a group, by tier and place, and the systems it could use."""

    tier: int
    place: Place
    systems: int


class Taken(NamedTuple):
    """A recipe, and the number of the system that it takes."""

    trigger: Trigger
    host: Recipe
    number: int


@dataclass
class Asking:
    """A line that systems of these labs ask, and the filters of recipes that might fit one of them."""

    line: str
    of_labs: int
    filters: int


@dataclass
class Group:
    """Asked idle systems of one access class, and the lines that they ask, tier by tier.

    `head` is kept while `has_head`; None: no recipe may have one of the systems.
    """

    decides: Submitting
    systems: int
    tiers: Sequence[Sequence[Asking]]
    head: Head | None = None
    has_head: bool = False


class Waking:
    """Search grants for the systems of wake-ups. Mutable; valid while nothing happens but its own grants."""

    def __init__(self, partition: Partition, wakes: Sequence[Wake]) -> None:
        self._partition = partition
        self._wakes = wakes
        self._groups = list(_groups(partition, union(wake.systems for wake in wakes)))
        self._next: Taken | None = None

    def next(self) -> Taken | None:
        """Return the next grant, which has not happened yet; None when nobody takes anything."""
        if self._next is None:
            heads = _heads(self._partition, self._groups)
            if heads:
                _, place, _ = first = min(heads)
                alike = (head.systems for head in heads if head[:2] == first[:2])
                self._next = self._choose(self._partition.sets.recipes[place[-1]], union(alike))
        return self._next

    def _choose(self, host: Recipe, candidates: int) -> Taken:
        """Return the grant for the first event that asks a system which the recipe may have."""
        for trigger, asked in self._wakes:
            for number in _preferred(self._partition, host, candidates & asked, trigger):
                if is_safe(self._partition, host, number):
                    return Taken(trigger, host, number)
        raise AssertionError(f"{host.subject} may have one of them")

    def grant_next(self) -> Decision:
        taken, self._next = self.next(), None
        assert taken is not None, "there is somebody"
        draft = Draft(self._partition, taken.trigger)
        grant(draft, taken.host, self._partition.system(taken.number))
        self._note(taken)
        return draft.decision()

    def _note(self, taken: Taken) -> None:
        """Take the system out of its group, and invalidate the heads that the grant may have changed.

        The only recipe of a set starts at once, and never holds a system while it waits for another. Its
        grant takes it from the heads of the groups, and changes no other head. The grant of a larger set may
        change which grants are safe.
        """
        is_single = self._partition.sets.is_single(taken.host.recipe_set_id)
        for group in self._groups:
            group.systems &= ~(1 << taken.number)
            stays = group.head is None or group.head.place[-1] != taken.host.recipe_id
            group.has_head = group.has_head and is_single and stays
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
    return [Wake(each[0], union(partition.asked_by(trigger.name) for trigger in each)) for each in together]


def _preferred(partition: Partition, host: Recipe, candidates: int, trigger: Trigger) -> Iterator[int]:
    if not candidates & candidates - 1:
        return numbers_in(candidates)
    return choices(partition, host, candidates, trigger.cause)


def _groups(partition: Partition, asked: int) -> Iterator[Group]:
    by_force = partition.available.idle(forced=True) & asked
    if not by_force:
        return
    fits = partition.filters.fitting(partition.available.idle(forced=False) & asked, by_force)
    for decides, of_class in partition.labs.access.each() if fits else ():
        if systems := by_force & of_class:
            filters = union(own for own, fitting in fits if fitting & systems)
            if filters:
                yield Group(decides, systems, _tiers(partition, systems, filters))


def _tiers(partition: Partition, systems: int, filters: int) -> list[list[Asking]]:
    """Return the lines that these systems ask: that of the queued recipes once for all labs."""
    tiers: tuple[dict[str, Asking], ...] = ({}, {})
    for lab_controller, of_lab in partition.labs.each():
        if systems & of_lab:
            for tier, lines in zip(tiers, tiers_of(lab_controller), strict=True):
                for line in lines:
                    tier.setdefault(line, Asking(line, 0, filters)).of_labs |= of_lab
    return [list(tier.values()) for tier in tiers]


def _heads(partition: Partition, groups: Sequence[Group]) -> list[Head]:
    for group in groups:
        if not group.has_head:
            group.head, group.has_head = _head(partition, group), True
    return [group.head for group in groups if group.head is not None]


def _head(partition: Partition, group: Group) -> Head | None:
    for number, tier in enumerate(group.tiers):
        found = _first_in(partition, group, tier)
        while isinstance(found, Asking):
            found = _first_in(partition, group, tier)
        if found is not None:
            return Head(number, *found)
    return None


def _first_in(
    partition: Partition, group: Group, tier: Sequence[Asking]
) -> tuple[Place, int] | Asking | None:
    """Return the first recipe of a tier that may have a system of the group, and all that it could use.

    None: no recipe may have one. An `Asking` that is returned has lost a filter that fits no system any more:
    its recipes need not be looked at one by one, so the caller searches again.
    """
    asked = [asking for asking in tier if partition.filters.any_in(asking.line, asking.filters)]
    for place, asking in heapq.merge(*(_in_order(partition, group, asking) for asking in asked)):
        host = partition.sets.recipes[place[-1]]
        systems = partition.idle(host) & group.systems & asking.of_labs
        if not systems:
            asking.filters &= ~(1 << partition.filters.number(partition.sets.key(host)))
            return asking
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


def _in_order(partition: Partition, group: Group, asking: Asking) -> Iterator[tuple[Place, Asking]]:
    # No two recipes have the same place, so that `merge` never compares the askings.
    places = partition.filters.in_order(asking.line, asking.filters, group.decides)
    return ((place, asking) for place in places)
