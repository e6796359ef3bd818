"""The sets that wait for their locks, in the order in which they get them, and the owed ones (design 4.4)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from replay.audit.locks import NO_LOCKS, Locks, conflict, merged, taken, with_own_names, without_own_names
from replay.audit.state import State
from replay.audit.tables import URGENCY
from replay.audit.values import Recipe

DEFAULT_MAX_OVERTAKEN = 8


class Wish(NamedTuple):
    """The locks that a set in a lab takes at its start. The least `turn` (priority, submission) is first."""

    turn: tuple[int, int]
    set_id: int
    lab: str | None
    locks: Locks

    def conflicts(self, other: Wish) -> bool:
        return conflict(self.locks, other.locks, is_same_lab=self.lab == other.lab)


def own_locks(state: State, host: Recipe) -> Locks:
    """Return the locks that a host declares, with real names in place of its own names once it is placed."""
    if host.locks is NO_LOCKS or host.system is None or host.lab is None:
        return host.locks
    return with_own_names(host.locks, host.system, host.lab, tuple(state.pools.get(host.system, ())))


def profile_of(state: State, set_id: int) -> Locks:
    """Return the merged locks of a set, with unknown names for those of the systems of its recipes."""
    recipes = (state.recipes.get(number) or state.finished.get(number) for number in _numbers(state, set_id))
    return _declared_by(*(recipe.locks for recipe in recipes if recipe is not None))


@lru_cache(10_000)
def _declared_by(*declared: Locks) -> Locks:
    """Return the merged locks that the recipes of a set declare, without their own names."""
    return merged(map(without_own_names, declared))


def _numbers(state: State, set_id: int) -> tuple[int, ...]:
    return state.sets[set_id].recipe_ids if set_id in state.sets else ()


def wish_of(state: State, set_id: int) -> Wish:
    """Return the wish of a set that has all its systems. A guest holds nothing: its host holds for it."""
    hosts = state.hosts(set_id)
    lab = next((host.lab for host in hosts), None)
    locks = _taken_by(*(own_locks(state, host) for host in hosts))
    return Wish(_turn(state, set_id), set_id, lab, locks)


def _turn(state: State, set_id: int) -> tuple[int, int]:
    recipe_set = state.sets[set_id]
    return URGENCY[recipe_set.priority], recipe_set.submission


@lru_cache(10_000)
def _taken_by(*declared: Locks) -> Locks:
    """Return the locks that a set takes at its start, from those that its hosts declare."""
    return merged(map(taken, declared))


def wishes(state: State) -> list[Wish]:
    """Return the wishes of all sets that wait for their locks, in order."""
    return sorted(wish_of(state, set_id) for set_id in state.awaiting)


def blocks(state: State, wish: Wish) -> set[int]:
    """Return the started sets that conflict with a wish."""
    held = state.held_locks[state.sets[wish.set_id].partition]
    return held.in_the_way(wish.locks, wish.lab, wish.set_id)


def is_owed(state: State, wish: Wish) -> bool:
    """Return whether a waiting set was overtaken so often that no set behind it may do so again."""
    section = state.configuration_of(state.sets[wish.set_id].partition).get("locks", {})
    return state.awaiting[wish.set_id] >= int(section.get("most_overtaken", DEFAULT_MAX_OVERTAKEN))


class Claim(NamedTuple):
    """A wish that excludes all conflicting sets behind it: it can be fulfilled at once, or it is owed."""

    wish: Wish
    is_free: bool


def claims(state: State, waiting: list[Wish]) -> Iterator[Claim]:
    """Yield the claims among wishes, which must be all those before a turn, in order."""
    found: list[Wish] = []
    for wish in waiting:
        is_free = not blocks(state, wish) and not any(map(wish.conflicts, found))
        if is_free or is_owed(state, wish):
            found.append(wish)
            yield Claim(wish, is_free)


def count_passed_sets(state: State, recipe: Recipe) -> None:
    """Count an overtaking of each waiting set that the set of a recipe passes, before it gets its locks."""
    if not state.awaiting or recipe.set_id not in state.sets or recipe.is_guest:
        return
    if any(host.has_started for host in state.hosts(recipe.set_id)):
        # It was counted with the first recipe of the set.
        return
    wish = wish_of(state, recipe.set_id)
    for set_id in list(state.awaiting):
        if _turn(state, set_id) < wish.turn and wish_of(state, set_id).conflicts(wish):
            state.put(state.awaiting, set_id, state.awaiting[set_id] + 1)
