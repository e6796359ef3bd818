"""How long systems are held by sets that are not complete yet, out of what happened to their recipes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

Happened = tuple[int, str, str, float]
"""recipe set, recipe, topic, seconds of some clock: in log order."""

HELD = "recipe.scheduled"
STARTED = "recipe.waiting"


@dataclass
class Holding:
    """`held_seconds` of every system that was held and is not any more, `late_seconds` of every set: from its
    last grant to its start, in which it needs nothing more. `held` are held still.
    """

    held_seconds: list[float] = field(default_factory=list)
    late_seconds: list[float] = field(default_factory=list)
    most_held: int = 0
    started: set[int] = field(default_factory=set)
    held: dict[str, float] = field(default_factory=dict)


def holding_of(happened: Iterable[Happened]) -> Holding:
    """What is held within one commit is not held at all: nobody could ever have seen it."""
    found, last_grant = Holding(), dict[int, float]()
    moment = None
    for recipe_set, recipe, topic, at in happened:
        if at != moment:
            found.most_held = max(found.most_held, len(found.held))
            moment = at
        if topic == HELD:
            found.held[recipe] = last_grant[recipe_set] = at
            continue
        if recipe in found.held:
            found.held_seconds.append(at - found.held.pop(recipe))
        if topic == STARTED and recipe_set not in found.started:
            found.started.add(recipe_set)
            found.late_seconds.append(at - last_grant[recipe_set])
    found.most_held = max(found.most_held, len(found.held))
    return found
