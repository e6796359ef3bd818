"""From triggers to decisions: a pure function of the partition, its basis and the time it is told.

Both triggers end in the same places: a recipe gets a system, waits in the queue, or is given up, and a system
goes idle. A decision is a value; the scheduler process commits it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from domain.events import Event
from domain.recipe import events as recipe_happened
from domain.recipe.state import Recipe
from domain.scheduling.partition import Partition, Trigger, filter_key, rank
from domain.scheduling.reasons import NO_DISTRO_TREE, NO_IDLE_SYSTEM
from domain.scheduling.rules import why_none
from domain.system import events as system_happened
from domain.system.state import System

POLICY_VERSION = 1

Decided = tuple[tuple[str, Event], ...]


@dataclass(frozen=True)
class Decision:
    """The answer to one trigger, and the versions of the aggregates it rests on."""

    trigger: Trigger
    events: Decided
    expected: tuple[tuple[str, int], ...]


def decide(partition: Partition, limit: int) -> list[Decision]:
    """Answer up to `limit` triggers in log order, each seeing those before it.

    The partition is left supposing what was decided; the caller takes it back.
    """
    decisions: list[Decision] = []
    while len(decisions) < limit and (trigger := partition.next_trigger()):
        events = ANSWERS[trigger.kind](partition, trigger)
        expected = {subject: _version(partition, subject) for subject, _ in events}
        decisions.append(Decision(trigger, events, tuple(expected.items())))
        for subject, event in events:
            partition.suppose(subject, event)
    return decisions


def _new_job(partition: Partition, trigger: Trigger) -> Decided:
    """A recipe takes a usable idle system, or is queued; one that nobody could ever serve is given up."""
    (recipe,) = (partition.recipes[member] for member in partition.recipe_sets[int(trigger.name)])
    never = _never(partition, recipe)
    if never:
        return ((recipe.subject, recipe_happened.RecipeAborted(reason=never)),)
    fqdn = partition.filters.first_idle(filter_key(recipe))
    if fqdn is None:
        return ((recipe.subject, recipe_happened.RecipeQueued(reason=NO_IDLE_SYSTEM)),)
    # Something may have eased since the system went idle (its lab was enabled, say), and nobody asked it
    # again: who waits and ranks before the new recipe goes first, and the new one is looked at again then.
    waits = min(partition.filters.heads_for(fqdn), default=rank(recipe))
    first = recipe if rank(recipe) <= waits else partition.recipes[waits[-1]]
    return _grant(first, partition.systems[fqdn])


def _pending_system(partition: Partition, trigger: Trigger) -> Decided:
    """The first queued recipe in rank order that the system is viable for takes it; else it goes idle."""
    system = partition.systems[trigger.name]
    if partition.usable(system):
        winner = min(partition.filters.heads_for(system.fqdn), default=None)
        if winner is not None:
            return _grant(partition.recipes[winner[-1]], system)
    return ((system.subject, system_happened.SystemIdle()),)


ANSWERS: dict[str, Callable[[Partition, Trigger], Decided]] = {
    "new-job": _new_job,
    "pending-system": _pending_system,
}


def _grant(recipe: Recipe, system: System) -> Decided:
    """Recipe and system scheduled, and at once waiting: this was the last recipe of its set."""
    number, fqdn = recipe.recipe_id, system.fqdn
    scheduled = recipe_happened.RecipeScheduled(system=fqdn, lab_controller=system.lab_controller)
    return (
        (recipe.subject, scheduled),
        (system.subject, system_happened.SystemScheduled(recipe_id=number)),
        (recipe.subject, recipe_happened.RecipeWaiting(system=fqdn)),
        (system.subject, system_happened.SystemWaiting(recipe_id=number)),
    )


def _never(partition: Partition, recipe: Recipe) -> str | None:
    """Why no registered system could ever run it, or None if one could."""
    if recipe.distro_tree_id is None:
        return NO_DISTRO_TREE
    key = filter_key(recipe)
    return None if partition.filters.viable(key) else why_none(partition.lab, key)


def _version(partition: Partition, subject: str) -> int:
    kind, _, name = subject.partition("/")
    return (partition.systems[name] if kind == "system" else partition.recipes[int(name)]).version
