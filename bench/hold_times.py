"""Time for which incomplete sets hold systems, computed from the events of their recipes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

RecipeEvent = tuple[int, str, str, float]
"""Recipe set, recipe, topic, and time in seconds, in log order."""

GRANTED = "recipe.scheduled"
# The set has its systems, and waits for its locks.
LOCKING = "recipe.waiting without locks"
STARTED = ("recipe.waiting", "recipe.locked")


@dataclass
class HoldTimes:
    """Times of held systems.

    `held_seconds` has an item for each system that is no longer held, `late_seconds` one for each set that
    had all its systems: the time from its last grant until it waited for nothing but its locks. `held` has
    the recipes that still hold a system without having started, with the times of their grants.
    """

    held_seconds: list[float] = field(default_factory=list)
    late_seconds: list[float] = field(default_factory=list)
    max_held: int = 0
    started: set[int] = field(default_factory=set)
    held: dict[str, float] = field(default_factory=dict)


def hold_times_of(events: Iterable[RecipeEvent]) -> HoldTimes:
    """Return the hold times. A system granted and started in one commit does not count for `max_held`."""
    times, last_grant, complete = HoldTimes(), dict[int, float](), set[int]()
    moment = None
    for recipe_set, recipe, topic, at in events:
        if at != moment:
            times.max_held = max(times.max_held, len(times.held))
            moment = at
        if topic == GRANTED:
            # A recipe whose set loses another system while it waits for locks is scheduled again.
            times.held.setdefault(recipe, at)
            last_grant[recipe_set] = at
            complete.discard(recipe_set)
            continue
        if topic in (LOCKING, *STARTED) and recipe_set not in complete:
            complete.add(recipe_set)
            times.late_seconds.append(at - last_grant[recipe_set])
        if topic == LOCKING:
            continue
        if recipe in times.held:
            times.held_seconds.append(at - times.held.pop(recipe))
        if topic in STARTED:
            times.started.add(recipe_set)
    times.max_held = max(times.max_held, len(times.held))
    return times
