"""The grants of idle systems that the wake-ups of a batch ask (design section 4.2).

The highest rank over all asked systems is served first; which of its systems the recipe takes, says design
section 5.5. Systems of one lab and one access class rank all recipes alike. So the best recipe of each such
group is found by the heads of the lines, without a look at the systems, and the best of those is served.
"""

from __future__ import annotations

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
from domain.scheduling.question import merged, tiers_of
from domain.scheduling.triggers import Trigger
from domain.scheduling.wanted import hopeless

EVERY_SYSTEM: Final = -1


class Wake(NamedTuple):
    """The systems that all wake-ups of one event ask; `trigger` is the first of these wake-ups."""

    trigger: Trigger
    systems: int


class Head(NamedTuple):
    """The best recipe of a group that may have one of its systems, by tier and place, and these systems."""

    tier: int
    place: Place
    systems: int


class Taken(NamedTuple):
    """A recipe, and the number of the system that it takes."""

    trigger: Trigger
    host: Recipe
    number: int


@dataclass
class Group:
    """Asked idle systems of one lab and one access class; the filters of waiting recipes that they fit."""

    lab_controller: str
    decides: Submitting
    systems: int
    filters: int


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
        for group in self._groups:
            group.systems &= ~(1 << taken.number)
        self._groups = [group for group in self._groups if group.systems]
        return draft.decision()


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
    idle = partition.available.idle(forced=True) & asked
    for lab_controller, of_lab in partition.labs.each():
        if here := idle & of_lab:
            yield from _groups_in(partition, lab_controller, here)


def _groups_in(partition: Partition, lab_controller: str, idle: int) -> Iterator[Group]:
    fits = _fits(partition, lab_controller, idle)
    for decides, of_class in partition.labs.access.each() if fits else ():
        if systems := idle & of_class:
            filters = union(1 << number for number, fitting in fits if fitting & systems)
            if filters:
                yield Group(lab_controller, decides, systems, filters)


def _fits(partition: Partition, lab_controller: str, idle: int) -> list[tuple[int, int]]:
    """Return the filters of waiting recipes with those of the idle systems that they fit."""
    for_all = partition.available.idle(forced=False)
    found: dict[int, int] = {}
    for tier in tiers_of(lab_controller):
        for line in tier:
            for entry, _ in partition.filters.wanting(line):
                may_be_had = idle if entry.key.forced is not None else idle & for_all
                if fitting := (entry.viable or 0) & may_be_had:
                    found[entry.number] = fitting
    return list(found.items())


def _heads(partition: Partition, groups: Iterable[Group]) -> list[Head]:
    return [head for group in groups if (head := _head(partition, group)) is not None]


def _head(partition: Partition, group: Group) -> Head | None:
    for number, tier in enumerate(tiers_of(group.lab_controller)):
        while group.filters:
            found = _first_in(partition, group, tier)
            if isinstance(found, int):
                # No system is left for this filter: its recipes need not be looked at one by one.
                group.filters &= ~(1 << found)
                continue
            if found is not None:
                return Head(number, *found)
            break
    return None


def _first_in(partition: Partition, group: Group, tier: tuple[str, ...]) -> tuple[Place, int] | int | None:
    """Return the first recipe of a tier that may have a system of the group, and all that it could use.

    Or the number of a filter that fits none of these systems any more; None: nobody may have one.
    """
    for place in merged([partition.filters.in_order(line, group.filters, group.decides) for line in tier]):
        host = partition.sets.recipes[place[-1]]
        systems = partition.idle(host) & group.systems
        if not systems:
            return partition.filters.number(partition.sets.key(host))
        if hopeless(partition, host.recipe_set_id, group.lab_controller):
            continue
        if any(is_safe(partition, host, number) for number in numbers_in(systems)):
            return place, systems
    return None
