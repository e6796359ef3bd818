"""The state for the checks: plain dictionaries, updated by the events of a decision.

This module does not use `domain.scheduling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import NamedTuple

from domain.contention.algebra import conflicts, merge
from domain.contention.documents import stored_locks
from domain.contention.locks import NO_LOCKS, Locks
from domain.contention.weights import WeightSettings, order_weight, static_weight, worst_cells
from domain.events import Event, split_subject
from domain.recipe.state import Recipe
from domain.system.state import System
from tests.model_check.actions import tree_labs
from tests.model_check.case import BIG_MB, POOL, SUBMITTER, RecipeWant
from tests.model_check.model import ModelWorld

URGENCY = ("Urgent", "High", "Normal", "Medium", "Low")
FINISHED = ("completed", "cancelled", "aborted")
# The default of the configuration.
MAX_OVERTAKEN = 8
UNPLACED = ("new", "queued", "assigned")
PLACED = ("scheduled", "waiting", "installing", "running")


SYSTEMS = "systems"


class SetLimit(NamedTuple):
    """A limit that counts the systems of sets, or the sets, that it is for."""

    name: str
    unit: str
    capacity: int
    counts: Callable[[int], bool]


@dataclass
class View:
    """The state; `viable` and `usable` are the systems of each recipe, `rank` its place in a line, low first.

    `overtaken` is how often each set was overtaken, and `max_overtaken` the bound. `highest` is the index in
    `URGENCY` of the maximum effective priority of a recipe on a system. The job filter applies to the
    sets `paused`. `awaited` is the unfinished set on which a set depends.

    `locks_wanted` and `locks_held` are the declared locks of each recipe, and those that it holds, None
    before it has them. `overtaken_for_locks` is how often each set that waits for locks was overtaken.
    `buckets` are the limits of the bucket of each set, `max_placed` the maximum of placed recipes. `queue_of`
    is the queue of each set, `maxima` are those of the queues, `shares` is what is guaranteed to them, None
    without fair shares. `ages` are the ticks since the submission of
    each set, `sizes` the numbers of recipes, also of those that have ended.

    `claims` are the claimants by system, `forces` are the systems that recipes force.
    """

    lab: Mapping[str, str]
    viable: Mapping[int, frozenset[str]]
    usable: Mapping[int, frozenset[str]]
    rank: Mapping[int, tuple[int, int, int]]
    highest: Mapping[tuple[int, str], int]
    set_of: Mapping[int, int]
    sets: Mapping[int, tuple[int, ...]]
    sizes: Mapping[int, int]
    state: dict[int, str]
    on: dict[int, str | None]
    bound: dict[int, str | None]
    usage: dict[str, str]
    overtaken: dict[int, int]
    max_overtaken: int
    paused: frozenset[int]
    awaited: Mapping[int, int]
    locks_wanted: Mapping[int, Locks]
    locks_held: dict[int, Locks | None]
    overtaken_for_locks: dict[int, int]
    buckets: Mapping[int, int]
    max_placed: int | None
    queue_of: Mapping[int, str]
    maxima: tuple[tuple[str, str, int], ...]
    shares: Mapping[str, int] | None
    ages: Mapping[int, int]
    weights: WeightSettings
    claims: dict[str, int]
    forces: Mapping[int, str]

    def apply(self, subject: str, event: Event) -> None:
        kind, name = split_subject(subject)
        if kind == "system":
            self.usage[name] = event.TOPIC.removeprefix("system.")
        elif kind == "recipe":
            self._recipe(int(name), event)

    def _recipe(self, number: int, event: Event) -> None:
        locks = getattr(event, "locks", None)
        if event.TOPIC in ("recipe.waiting", "recipe.locked"):
            self.locks_held[number] = None if locks is None else stored_locks(locks)
        if event.TOPIC == "recipe.claimed":
            self.claims[event.system] = number  # type: ignore[attr-defined]
        elif event.TOPIC == "recipe.claim-ended":
            del self.claims[event.system]  # type: ignore[attr-defined]
        if event.TOPIC in ("recipe.locked", "recipe.claimed", "recipe.claim-ended"):
            return
        state = self.state[number] = event.TOPIC.removeprefix("recipe.")
        overtook: int | None = getattr(event, "overtook", None)
        if overtook is not None:
            self.overtaken[self.set_of[overtook]] = self.overtaken.get(self.set_of[overtook], 0) + 1
        if state in ("scheduled", "assigned", "queued", *FINISHED):
            self.on[number] = getattr(event, "system", None)
            self.bound[number] = getattr(event, "lab_controller", None)
            self.locks_held[number] = None

    def is_owed(self, number: int) -> bool:
        """Return whether the set of a waiting recipe was overtaken as often as allowed."""
        count = self.overtaken.get(self.set_of[number], 0)
        return self.state[number] in ("queued", "assigned") and count >= self.max_overtaken

    def is_held_back(self, set_id: int) -> bool:
        """Return whether a set may not get its first system."""
        if any(self.state[number] not in UNPLACED for number in self.sets[set_id]):
            return False
        before = self.sets[self.awaited[set_id]] if set_id in self.awaited else ()
        return set_id in self.paused or any(self.state[number] not in FINISHED for number in before)

    def weight(self, set_id: int) -> int:
        """Return the weight of a set for the order; 0 if weights are switched off, and for owed sets."""
        if not self.weights.is_enabled or any(map(self.is_owed, self.sets[set_id])):
            return 0
        locks = merge(*(self.locks_wanted[number] for number in self.sets[set_id]))
        others = (number for number in self.state if self.set_of[number] != set_id)
        placed = (
            self.locks_held[number] or self.locks_wanted[number]
            for number in others
            if self.state[number] in PLACED
        )
        static = static_weight(worst_cells(locks, placed), self.weights)
        return order_weight(static, self.ages[set_id], self.weights)

    # Locks and room

    def awaits_locks(self, set_id: int) -> bool:
        return all(
            self.state[each] == "waiting" and self.locks_held[each] is None for each in self.sets[set_id]
        )

    def is_started(self, number: int) -> bool:
        return (
            self.state[number] in ("waiting", "installing", "running") and self.locks_held[number] is not None
        )

    def turn(self, set_id: int) -> tuple[int, int]:
        return self.rank[self.sets[set_id][0]][:2]

    def conflict(self, set_id: int, other: int) -> bool:
        """Return whether the locks that two sets want conflict."""
        same_lab = self.lab_of(set_id) == self.lab_of(other)
        pairs = product(self.sets[set_id], self.sets[other])
        return any(conflicts(self.locks_wanted[one], self.locks_wanted[two], same_lab) for one, two in pairs)

    def can_have_locks(self, set_id: int) -> bool:
        """Return whether a set with all its systems conflicts with no holder, and with no set before it."""
        for other in (each for each in self.set_of if self.set_of[each] != set_id and self.is_started(each)):
            held, lab = self.locks_held[other] or NO_LOCKS, self.lab_of(self.set_of[other])
            same_lab = lab == self.lab_of(set_id)
            if any(conflicts(self.locks_wanted[each], held, same_lab) for each in self.sets[set_id]):
                return False
        before = self.waiting_before(set_id)
        is_owed = any(self.overtaken_for_locks.get(each, 0) >= self.max_overtaken for each in before)
        return not is_owed and not any(map(self.can_have_locks, before))

    def waiting_before(self, set_id: int) -> list[int]:
        """Return the sets before a set that wait for locks and conflict with it."""
        waiting = (each for each in self.sets if self.awaits_locks(each))
        before = (each for each in waiting if self.turn(each) < self.turn(set_id))
        return [each for each in before if self.conflict(set_id, each)]

    def room_turn(self, set_id: int) -> tuple[object, int, int, int]:
        """Return the place of a set in the order of room: by turns, nominal priority, weight, submission."""
        nominal, submission = self.turn(set_id)
        return self.queue_turn(set_id), nominal, self.weight(set_id), submission

    def queue_turn(self, set_id: int) -> tuple[tuple[Fraction, tuple[int, ...]], ...]:
        """Return the share and the first waiting set of each queue on the way down to that of a set.

        Above the queue where their paths part, two sets have equal turns.
        """
        if self.shares is None:
            return ()
        names = self.queue_of[set_id].split(".")
        return tuple(self._turn_of(".".join(names[:depth])) for depth in range(1, len(names) + 1))

    def _turn_of(self, path: str) -> tuple[Fraction, tuple[int, ...]]:
        assert self.shares is not None, "queues have shares"
        inside = [number for number in self.state if self._is_in(path, self.set_of[number])]
        used = sum(self.state[number] in PLACED for number in inside)
        waiting = (self.rank[number][:2] for number in inside if self.state[number] in UNPLACED)
        return Fraction(used, self.shares.get(path, 1)), min(waiting, default=())

    def is_charged(self, set_id: int) -> bool:
        uncharged = ("new", "queued", *FINISHED)
        return any(self.state[number] not in uncharged for number in self.sets[set_id])

    def has_room(self, set_id: int, *instead: int) -> bool:
        """Return whether a set has room; `instead` are sets that are charged before."""
        return self.is_charged(set_id) or not any(self._lacked(set_id, *instead))

    def lacks_only_systems(self, set_id: int, other: int) -> bool:
        """Return whether a set lacks only room for systems, some of it under limits of another set.

        The room would suffice without other sets.
        """
        lacked, size = list(self._lacked(set_id)), self.sizes[set_id]
        names = {limit.name for limit in self._limits(other)}
        may_be_kept = all(limit.unit == SYSTEMS and size <= limit.capacity for limit in lacked)
        return may_be_kept and any(limit.name in names for limit in lacked)

    def _limits(self, set_id: int) -> Iterator[SetLimit]:
        bucket = self.buckets.get(set_id)
        if bucket is not None:
            yield SetLimit("bucket", "sets", bucket, lambda each: self.buckets.get(each) == bucket)
        if self.max_placed is not None:
            yield SetLimit("placed", SYSTEMS, self.max_placed, lambda _: True)
        for path, unit, capacity in self.maxima:
            is_in = partial(self._is_in, path)
            if is_in(set_id):
                yield SetLimit(f"{path} {unit}", unit, capacity, is_in)

    def _is_in(self, path: str, set_id: int) -> bool:
        return f"{self.queue_of[set_id]}.".startswith(f"{path}.")

    def _lacked(self, set_id: int, *instead: int) -> Iterator[SetLimit]:
        """Yield the limits under which a set lacks room."""
        charged = [each for each in self.sets if self.is_charged(each) or each in instead]
        for limit in self._limits(set_id):
            counted = [each for each in charged if limit.counts(each)]
            sizes = [self.sizes[each] if limit.unit == SYSTEMS else 1 for each in (*counted, set_id)]
            if sum(sizes) > limit.capacity:
                yield limit

    def is_in_queue(self, set_id: int) -> bool:
        is_queued = all(self.state[number] == "queued" for number in self.sets[set_id])
        return is_queued and not self.is_held_back(set_id)

    def wanting(self, set_id: int) -> list[int]:
        """Return the recipes of a set that have no system."""
        return [number for number in self.sets[set_id] if self.state[number] in UNPLACED]

    def holding(self, set_id: int) -> list[int]:
        return [number for number in self.sets[set_id] if self.state[number] == "scheduled"]

    def held(self, set_id: int) -> frozenset[str]:
        return frozenset(system for number in self.holding(set_id) if (system := self.on[number]))

    def lab_of(self, set_id: int) -> str | None:
        return next((lab for number in self.sets[set_id] if (lab := self.bound[number])), None)


def view_of(world: ModelWorld) -> View:
    """Return the view of the present log."""
    systems = world.systems_here
    there = {
        number: each
        for number, each in world.recipes.items()
        if each.state not in FINISHED and world.is_here(each)
    }
    sets: dict[int, tuple[int, ...]] = {}
    for number, recipe in there.items():
        sets[recipe.recipe_set_id] = (*sets.get(recipe.recipe_set_id, ()), number)
    trees = tree_labs(world)
    highest = {
        (number, name): place
        for number, recipe in there.items()
        for name in world.wants[number].names
        if name in systems and (place := _highest(world, recipe, name)) is not None
    }
    viable = {
        number: frozenset(
            name for name in _viable(world, world.wants[number], trees) if (number, name) in highest
        )
        for number in there
    }
    return View(
        lab={name: system.lab_controller for name, system in systems.items()},
        viable=viable,
        usable={
            number: frozenset(
                name
                for name in names
                if _may_have(world, world.systems[name], world.wants[number].force)
                and world.borrowers.get(name, SUBMITTER) == SUBMITTER
            )
            for number, names in viable.items()
        },
        highest=highest,
        rank={number: _rank(world, each.recipe_set_id, number) for number, each in there.items()},
        set_of={number: each.recipe_set_id for number, each in there.items()},
        sets=sets,
        sizes={set_id: len(world.sets[set_id].recipe_ids) for set_id in sets},
        state={number: each.state for number, each in there.items()},
        on={number: each.system for number, each in there.items()},
        bound={number: each.lab_controller for number, each in there.items()},
        usage={name: system.usage for name, system in systems.items()},
        overtaken=dict(world.overtaken),
        paused=frozenset(each.recipe_set_id for each in there.values() if world.is_paused and each.group),
        awaited={number: before for number, before in world.awaited.items() if before in sets},
        locks_wanted={number: stored_locks(world.wants[number].declared) for number in there},
        locks_held={number: each.held for number, each in there.items()},
        overtaken_for_locks=dict(world.overtaken_for_locks),
        buckets=world.buckets,
        max_placed=world.max_placed,
        queue_of=world.queue_of,
        maxima=world.case.queues,
        shares=None if world.case.shares is None else dict(world.case.shares),
        ages={set_id: world.age(set_id) for set_id in sets},
        weights=WeightSettings(is_enabled=world.has_weights, coefficient=world.coefficient),
        max_overtaken=MAX_OVERTAKEN if world.case.max_overtaken is None else world.case.max_overtaken,
        claims={each.claim.system: number for number, each in there.items() if each.claim is not None},
        forces={number: world.wants[number].names[0] for number in there if world.wants[number].force},
    )


def _viable(world: ModelWorld, want: RecipeWant, trees: list[str]) -> frozenset[str]:
    return frozenset(
        name
        for name in want.names
        if (system := world.systems.get(name)) is not None
        and system.condition != "Removed"
        and system.lab_controller in trees
        and (want.needs != "big" or system.inventory["memory_mb"] >= BIG_MB)
        and (want.needs != "pool" or world.directory.pool_has(POOL, name))
    )


def _highest(world: ModelWorld, recipe: Recipe, name: str) -> int | None:
    """Return the index of the maximum effective priority; None if submission is not allowed there."""
    entries = world.entries.get(name, ({"everybody": True, "maximum_effective_priority": "Urgent"},))
    if world.directory.pool_has(POOL, name):
        entries = world.entries.get(POOL) or entries
    group = recipe.group if world.is_in_group else None
    places = [
        URGENCY.index(entry["maximum_effective_priority"])
        for entry in entries
        if entry.get("everybody") or entry["group"] == group
    ]
    if not places and SUBMITTER in (world.systems[name].owner, world.borrowers.get(name)):
        return 0
    return min(places, default=None)


def _may_have(world: ModelWorld, system: System, force: bool) -> bool:
    if system.draining or system.occupied is not None or system.reservation is not None:
        return False
    return (force or system.condition == "Automated") and _serves(world, system.lab_controller)


def _serves(world: ModelWorld, lab: str) -> bool:
    return world.directory.is_enabled(lab) and not world.directory.is_silent(lab)


def _rank(world: ModelWorld, set_id: int, number: int) -> tuple[int, int, int]:
    recipe_set = world.sets[set_id]
    return URGENCY.index(recipe_set.priority.name), recipe_set.submission, number
