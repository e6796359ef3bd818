"""Overtaking: grants to recipes that come before queued recipes of earlier sets (decision 27).

Assigned recipes, and those of owed sets, come before queued ones of equal priorities. Each such grant names
the first queued recipe that it overtakes, so that the counts follow from the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.decisions.draft import Draft
from domain.scheduling.decisions.granting import grant, is_safe
from domain.scheduling.decisions.room_order import places_with_room
from domain.scheduling.demand.lines import QUEUED, queue_line, ranks_as_queued, room_line
from domain.scheduling.demand.order import Place
from domain.scheduling.ranked import Rank
from domain.scheduling.world.partition import Partition
from domain.system.state import System


def grant_in_order(draft: Draft, host: Recipe, system: System) -> int | None:
    """Add the events of a grant to a recipe in line; return the recipe that it overtakes, if any."""
    overtook = overtaken(draft.partition, host, system)
    grant(draft, host, system, overtook=overtook)
    return overtook


def overtaken(partition: Partition, host: Recipe, system: System) -> int | None:
    """Return the queued recipe that the grant of a free system overtakes, None if there is none.

    The overtaken recipe is the first one in the order of the system that belongs to an earlier set, has no
    lower priority, and could safely take the system. Recipes of sets without room, or from which room is
    kept, could not take it. In one weight class earlier sets come first, so the search ends at the first
    later set. With `always`, later sets of a higher priority may stand in between; the search ends there,
    too, because it must not go through the queue.
    """
    line = partition.sets.places.line_of(host)
    if partition.configuration.order.max_overtaken is None or line is None or ranks_as_queued(line):
        return None
    number = partition.labs.number(system.fqdn)
    recipe_set = partition.sets.sets[host.recipe_set_id]
    submission = recipe_set.submission
    own = -partition.effective_priority(host, system), -recipe_set.priority

    def is_sought(place: Place) -> bool:
        priorities = place[:2]
        return priorities < own or (priorities == own and place.rank.submission < submission)

    forced_only = partition.is_for_forced_only(system)
    lines = tuple(_lines_of_queued(partition, recipe_set))
    is_always = partition.sets.turns.is_assigned_first

    def search(until: Mapping[str, Rank]) -> Iterator[Place]:
        last = {} if is_always else until
        for place in partition.filters.ranked_recipes(
            system.fqdn, lines, forced_only=forced_only, is_sought=is_sought, until=last
        ):
            if place.rank.submission > submission:
                if is_always:
                    return
            elif not _is_left_out(partition, place.rank, until):
                yield place

    for _, queued in places_with_room(partition, search):
        if is_safe(partition, queued, number):
            return queued.recipe_id
    return None


def _is_left_out(partition: Partition, rank: Rank, until: Mapping[str, Rank]) -> bool:
    """Return whether a recipe is behind the last rank to search in its line."""
    line = partition.sets.places.line_of(partition.sets.recipes[rank.recipe_id]) if until else None
    return line is not None and line in until and until[line].is_before_set_of(rank)


def _lines_of_queued(partition: Partition, recipe_set: RecipeSet) -> Iterator[str]:
    """Yield the lines of queued recipes that a set may overtake: without `always` those of its queue."""
    turns, rooms = partition.sets.turns, partition.sets.rooms
    for queue in turns.queues if turns.is_assigned_first else (turns.queue_of(recipe_set),):
        yield queue_line(QUEUED, queue)
        yield from (room_line(QUEUED, each) for each in rooms.open(queue))
