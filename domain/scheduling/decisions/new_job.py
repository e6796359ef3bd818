"""The decision on a new recipe set (design section 4.1): grant idle systems, queue the set, or abort it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from domain.recipe.events import RecipeQueued
from domain.recipe.state import Recipe
from domain.recipe_set.ending import abort_set
from domain.scheduling.decisions.choice import choices
from domain.scheduling.decisions.demanded_systems import without_hopeless_labs
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.ending_sets import add_end
from domain.scheduling.decisions.granting import grant, is_safe
from domain.scheduling.decisions.impossible import why_never, why_not_yet
from domain.scheduling.decisions.kept_room import lacks, room_kept_for
from domain.scheduling.decisions.new_sets import highest, undemanded_systems
from domain.scheduling.decisions.overtaking import grant_in_order
from domain.scheduling.decisions.room_order import first_rival
from domain.scheduling.safety.matching import Matching
from domain.scheduling.supply.reasons import (
    ALL_BROKEN,
    ALL_LENT,
    ALL_SILENT,
    NO_IDLE_ACCESS,
    NO_IDLE_SYSTEM,
    NONE_USABLE,
    SET_INCOMPLETE,
    UNSAFE,
)
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import Trigger


def new_job(partition: Partition, trigger: Trigger) -> Decision:
    draft = Draft(partition, trigger)
    recipe_set_id = int(trigger.name)
    held = partition.sets.admission.held_back.get(recipe_set_id)
    if held is not None and held.ends:
        add_end(draft, recipe_set_id, held)
    elif never := why_never(partition, recipe_set_id):
        draft.add(abort_set(partition.members(recipe_set_id), never))
    elif held is not None:
        hosts = partition.sets.hosts(recipe_set_id)
        _queue(draft, recipe_set_id, {host.recipe_id: held.reason for host in hosts})
    elif not_yet := why_not_yet(partition, recipe_set_id):
        _queue(draft, recipe_set_id, not_yet)
    else:
        _place(draft, recipe_set_id)
    return draft.decision()


def _place(draft: Draft, recipe_set_id: int) -> None:
    """Grant systems to recipes, those with the fewest viable systems first; if none gets one, queue all."""
    partition = draft.partition
    hosts = partition.sets.hosts(recipe_set_id)
    no_room = _why_no_room(draft, hosts[0])
    if no_room is not None:
        _queue(draft, recipe_set_id, {host.recipe_id: no_room for host in hosts})
        return
    undemanded = undemanded_systems(partition)
    together = SimultaneousStart(partition, hosts, undemanded)
    reasons: dict[int, str] = {}
    for host in sorted(hosts, key=lambda host: (partition.viable(host).bit_count(), host.recipe_id)):
        reason = _place_one(draft, host.recipe_id, undemanded, together)
        if reason is not None:
            reasons[host.recipe_id] = reason
    if len(reasons) == len(hosts):
        _queue(draft, recipe_set_id, reasons)


def _why_no_room(draft: Draft, host: Recipe) -> str | None:
    """Return why the set of a new recipe gets no room, after the grants to sets that come before it."""
    partition, sets = draft.partition, draft.partition.sets
    while not sets.classes.lacks_room(host.recipe_set_id):
        if room_kept_for(partition, host) is not None:
            break
        rival = first_rival(partition, host)
        if rival is None:
            return None
        grant_in_order(draft, rival.host, partition.system(rival.number))
    return next(lacks(partition, host)).reason


def _queue(draft: Draft, recipe_set_id: int, reasons: Mapping[int, str]) -> None:
    members = draft.partition.members(recipe_set_id)
    for host in draft.partition.sets.hosts(recipe_set_id):
        draft.add(members.with_guests(host, RecipeQueued(reason=reasons[host.recipe_id])))


def _place_one(draft: Draft, recipe_id: int, undemanded: int, together: SimultaneousStart) -> str | None:
    """Grant a system to a recipe; return None, or the reason if it gets no system."""
    partition = draft.partition
    host = partition.sets.recipes[recipe_id]
    candidates = partition.idle(host) & undemanded
    if host.lab_controller is not None:
        candidates &= partition.labs.lab_controller[host.lab_controller]
    elif len(partition.sets.hosts(host.recipe_set_id)) == 1:
        candidates = highest(partition, host, candidates).systems
    if not candidates:
        return waiting_reason(partition, host, undemanded)
    fits = candidates & together.systems or without_hopeless_labs(partition, host, candidates)
    if not fits:
        return SET_INCOMPLETE
    may_have = together.can_start if together.systems else partial(is_safe, partition)
    numbers = choices(partition, host, fits, draft.trigger.cause)
    eligible = (number for number in numbers if may_have(host, number))
    number = next(eligible, None)
    if number is None:
        return UNSAFE
    grant(draft, host, partition.system(number), instead=eligible)
    together.take(host, number)
    return None


def waiting_reason(partition: Partition, host: Recipe, undemanded: int) -> str:
    """Return the reason why no system of `undemanded` is idle for a new recipe."""
    viable = partition.viable(host)
    if not viable:
        return ALL_LENT
    if not partition.usable(host):
        return _why_none_usable(partition, viable)
    key = partition.sets.index.key(host)
    idle = partition.available.idle(forced=key.forced is not None)
    inaccessible = partition.filters.fitting(key) & ~partition.entitled(host) & idle & undemanded
    is_visible = bool(inaccessible and inaccessible & ~partition.visible.hidden_from(host.owner))
    return NO_IDLE_ACCESS if is_visible else NO_IDLE_SYSTEM


def _why_none_usable(partition: Partition, viable: int) -> str:
    not_broken = viable & ~partition.available.broken
    if not not_broken:
        return ALL_BROKEN
    return NONE_USABLE if not_broken & ~partition.in_silent_labs() else ALL_SILENT


class SimultaneousStart:
    """The labs in which all recipes of a new set can start at once. Mutable: `take` each granted system.

    `systems` is the bitmap of the systems of these labs. A matching is kept for each lab, so that a query
    about one system moves a few recipes instead of matching all of them again.
    """

    def __init__(self, partition: Partition, hosts: Sequence[Recipe], undemanded: int) -> None:
        self._partition = partition
        self._index = {host.recipe_id: index for index, host in enumerate(hosts)}
        self._matchings: dict[str, Matching] = {}
        self.systems = 0
        idle = [partition.idle(host) & undemanded for host in hosts]
        if len(hosts) == 1:
            self.systems = idle[0]
        elif all(idle):
            self._match(idle)

    def _match(self, idle: Sequence[int]) -> None:
        for name, lab in self._partition.labs.each():
            matching = Matching([each & lab for each in idle])
            if matching.complete():
                self._matchings[name] = matching
                self.systems |= lab

    def can_start(self, host: Recipe, number: int) -> bool:
        """Return whether each sibling can still get an idle system if a recipe takes this one."""
        if len(self._index) == 1:
            return True
        matching = self._matchings.get(self._partition.system(number).lab_controller)
        return matching is not None and matching.can_have(self._index[host.recipe_id], number)

    def take(self, host: Recipe, number: int) -> None:
        """Fix the system of a recipe, for which `can_start` is true."""
        matching = self._matchings.get(self._partition.system(number).lab_controller)
        if matching is not None:
            matching.fix(self._index[host.recipe_id], number)
