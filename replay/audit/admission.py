"""Admission: which sets may get their first system, by plain search (design 5.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from replay.audit.job_filters import applying
from replay.audit.queue_tree import stopped_queue
from replay.audit.rooms import Limit
from replay.audit.values import RecipeSet
from replay.audit.world import FoldedWorld

# Without states, a dependency names these.
DEFAULT_STATES = ("completed", "aborted")
# Final states, the worst one first.
WORST_FIRST = ("aborted", "cancelled", "completed")

WAITS, CANCELLED, ABORTED = "waits", "is cancelled", "is aborted"


def holds_nothing(world: FoldedWorld, set_id: int) -> bool:
    """Return whether no recipe of a set has a system or a lab; only then admission is asked."""
    return set_id not in world.rooms.charged


def is_held_back(world: FoldedWorld, set_id: int) -> bool:
    """Return whether a set must not get a first system now, or has no room for it under a limit."""
    return effect(world, set_id) is not None or bool(lacking(world, set_id))


def lacking(world: FoldedWorld, set_id: int) -> list[Limit]:
    """Return the limits under which a set that holds nothing has no room."""
    return world.rooms.lacking(world.first_needs(set_id)) if holds_nothing(world, set_id) else []


def effect(world: FoldedWorld, set_id: int) -> str | None:
    """Return what admission does with a set: WAITS, CANCELLED or ABORTED; None if nothing holds it back."""
    recipe_set = world.sets.get(set_id)
    if recipe_set is None or not holds_nothing(world, set_id):
        return None
    effects = [*_effects_of_dependencies(world, recipe_set), *_effects_of_rules(world, recipe_set)]
    return next((each for each in effects if each != WAITS), WAITS if effects else None)


def _effects_of_dependencies(world: FoldedWorld, recipe_set: RecipeSet) -> Iterator[str]:
    for dependency in recipe_set.depends_on:
        state = _final_state(world, dependency)
        if state is None:
            yield WAITS
        elif state not in (dependency.get("states") or DEFAULT_STATES):
            yield CANCELLED if state == "cancelled" else ABORTED


def _final_state(world: FoldedWorld, dependency: Mapping[str, Any]) -> str | None:
    if "job" not in dependency:
        return final_state(world, (dependency["recipe_set"],))
    job_id = dependency["job"]
    is_open, set_ids = world.open_jobs.get(job_id), world.sets_of_job.get(job_id, ())
    if is_open is None or set_ids:
        return None if is_open else final_state(world, set_ids)
    # A closed job without sets has completed.
    return None if is_open else "completed"


def final_state(world: FoldedWorld, set_ids: Collection[int]) -> str | None:
    """Return the worst final state of all recipes of some sets, None before all of these have ended."""
    if not set_ids or any(number not in world.sets for number in set_ids):
        return None
    recipe_ids = [recipe_id for number in set_ids for recipe_id in world.sets[number].recipe_ids]
    if any(recipe_id not in world.finished for recipe_id in recipe_ids):
        return None
    return min((world.finished[recipe_id].state for recipe_id in recipe_ids), key=WORST_FIRST.index)


def _effects_of_rules(world: FoldedWorld, recipe_set: RecipeSet) -> Iterator[str]:
    tree = world.queue_tree_of(recipe_set.partition)
    if recipe_set.submitted is not None and stopped_queue(tree, recipe_set.submitted.queue):
        yield WAITS
    filters = world.job_filters_of(recipe_set.partition)
    found = applying(filters, recipe_set) if filters else None
    if found is not None and found[1]["action"] in ("PAUSE", "REJECT"):
        yield WAITS if found[1]["action"] == "PAUSE" else CANCELLED
