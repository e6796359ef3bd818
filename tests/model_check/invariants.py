"""Invariants of every state, and of states in which the scheduler has nothing left to answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from domain.contention.algebra import conflicts
from domain.contention.locks import NO_LOCKS
from tests.model_check.model import ModelWorld
from tests.model_check.safety import could_take, holders, is_safe, some_lab_has_all
from tests.model_check.view import View, view_of

USAGE = {"scheduled": "scheduled", "waiting": "waiting", "installing": "installing", "running": "running"}


def always(world: ModelWorld) -> Iterator[str]:
    """Yield violations in any state: double bookings, recipes and systems out of step, sets in two labs."""
    taken: dict[str, int] = {}
    for number, recipe in world.recipes.items():
        usage = USAGE.get(recipe.state)
        if usage is None:
            continue
        system = world.systems[recipe.system or ""]
        if system.fqdn in taken:
            yield f"double booking: recipes {taken[system.fqdn]} and {number} are on {system.fqdn}"
        taken[system.fqdn] = number
        if (system.usage, system.recipe_id) != (usage, number):
            yield f"out of step: recipe {number} is {usage}, {system.fqdn} {system.usage}"
        if recipe.state == "scheduled" and system.lab_controller != recipe.lab_controller:
            yield f"recipe {number} is bound to {recipe.lab_controller}, {system.fqdn} is not there"
    yield from _conflicting_locks(world)
    yield from _preemptions(world)
    yield from world.partitions_at_odds()
    for system in world.systems.values():
        if system.recipe_id is not None and taken.get(system.fqdn) != system.recipe_id:
            yield f"{system.fqdn} still has recipe {system.recipe_id}"


def _preemptions(world: ModelWorld) -> Iterator[str]:
    for victim, taking in world.preempted:
        if (taking, victim) in world.preempted:
            yield f"ping-pong: sets {taking} and {victim} have preempted each other"
    for number, recipe in world.recipes.items():
        if recipe.state in ("queued", "assigned") and any(task.state != "new" for task in recipe.tasks):
            yield f"attempt: recipe {number} waits with tasks of an earlier attempt"


def _conflicting_locks(world: ModelWorld) -> Iterator[str]:
    started = [recipe for recipe in world.recipes.values() if recipe.started and recipe.held is not None]
    for one, other in combinations(started, 2):
        same_lab = one.lab_controller == other.lab_controller
        is_one_set = one.recipe_set_id == other.recipe_set_id
        if not is_one_set and conflicts(one.held or NO_LOCKS, other.held or NO_LOCKS, same_lab):
            yield f"conflicting locks: recipes {one.recipe_id} and {other.recipe_id} hold them"


def quiet(world: ModelWorld) -> Iterator[str]:
    """Yield violations when the scheduler is done: lost wake-ups and stuck sets."""
    view = view_of(world)
    yield from _answered(view)
    for lab in dict.fromkeys(view.lab.values()):
        if not is_safe(view, lab):
            yield f"unsafe: {holders(view, lab)} in {lab} wait for each other, or for what never comes"
    yield from _sets(view)
    yield from _lost_wake_ups(view)
    yield from _lost_locks(view)
    yield from _claims(view)
    if not any(map(view.is_started, view.state)):
        yield from _deadlocked(view)


def _answered(view: View) -> Iterator[str]:
    yield from (f"recipe {number} is still new" for number, state in view.state.items() if state == "new")
    yield from (f"{name} is still pending" for name, usage in view.usage.items() if usage == "pending")


def _sets(view: View) -> Iterator[str]:
    for set_id, members in view.sets.items():
        if len({view.bound[number] for number in members if view.bound[number]}) > 1:
            yield f"set {set_id} is in two labs"
        states = {view.state[number] for number in members}
        if states & {"queued"} and len(states) > 1:
            yield f"set {set_id} is {states}"
        if "assigned" in states and not view.holding(set_id):
            yield f"set {set_id} is bound to a lab where it holds no system"
        if states == {"scheduled"}:
            yield f"set {set_id} has all its systems and has not started"


def _lost_wake_ups(view: View) -> Iterator[str]:
    for name, usage in view.usage.items():
        for number, state in view.state.items() if usage == "idle" else ():
            if state in ("queued", "assigned") and could_take(view, number, name):
                yield f"lost wake-up: {name} is idle, and recipe {number} could take it"


def _lost_locks(view: View) -> Iterator[str]:
    for set_id in view.sets:
        if view.awaits_locks(set_id) and view.can_have_locks(set_id):
            yield f"lost locks: set {set_id} waits for locks that it could have"


def _claims(view: View) -> Iterator[str]:
    """Yield claims of recipes that do not wait for their system, and forced systems that nobody claims."""
    for name, number in view.claims.items():
        is_waiting = view.state.get(number) in ("queued", "assigned")
        if not is_waiting or not _is_within_reach(view, number, name):
            yield f"claim: recipe {number} claims {name}, and does not wait for it"
    for number, name in view.forces.items():
        is_waiting = view.state[number] in ("queued", "assigned")
        is_wanted = is_waiting and not view.is_held_back(view.set_of[number])
        is_busy = view.usage.get(name) in USAGE
        if is_wanted and is_busy and name not in view.claims and _is_within_reach(view, number, name):
            yield f"no claim: recipe {number} forces {name}"


def _is_within_reach(view: View, number: int, name: str) -> bool:
    return name in view.usable[number] and view.bound[number] in (None, view.lab[name])


def _deadlocked(view: View) -> Iterator[str]:
    """Yield deadlocks: nothing runs, so no system comes free (every end of a recipe is explored, too)."""
    for set_id in view.sets:
        if view.holding(set_id):
            yield f"deadlock: set {set_id} holds {sorted(view.held(set_id))} for ever"
        elif view.is_held_back(set_id) or not view.has_room(set_id):
            continue
        elif view.wanting(set_id) and some_lab_has_all(view, set_id, dict(view.usable)):
            yield f"deadlock: set {set_id} waits for ever, and all it wants is there"
