"""Time for which incomplete sets hold systems, computed from the events of their recipes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

RecipeEvent = tuple[int, str, str, float]
"""Recipe set, recipe, topic, and time in seconds, in log order."""

GRANTED = "recipe.scheduled"
STARTED = "recipe.waiting"


@dataclass
class HoldTimes:
    """Times of held systems.

    `held_seconds` has an item for each system that is no longer held, `late_seconds` one for each started
    set: the time from its last grant to its start. `held` has the recipes that still hold a system, with the
    times of their grants.
    """

    held_seconds: list[float] = field(default_factory=list)
    late_seconds: list[float] = field(default_factory=list)
    max_held: int = 0
    started: set[int] = field(default_factory=set)
    held: dict[str, float] = field(default_factory=dict)


def hold_times_of(events: Iterable[RecipeEvent]) -> HoldTimes:
    """Return the hold times. A system granted and started in one commit does not count for `max_held`."""
    times, last_grant = HoldTimes(), dict[int, float]()
    moment = None
    for recipe_set, recipe, topic, at in events:
        if at != moment:
            times.max_held = max(times.max_held, len(times.held))
            moment = at
        if topic == GRANTED:
            times.held[recipe] = last_grant[recipe_set] = at
            continue
        if recipe in times.held:
            times.held_seconds.append(at - times.held.pop(recipe))
        if topic == STARTED and recipe_set not in times.started:
            times.started.add(recipe_set)
            times.late_seconds.append(at - last_grant[recipe_set])
    times.max_held = max(times.max_held, len(times.held))
    return times
