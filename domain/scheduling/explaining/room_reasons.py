"""The limits that keep the sets of many waiting recipes from their first system."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from domain.recipe.state import Recipe
from domain.scheduling.decisions.kept_room import Lack, lacks
from domain.scheduling.demand.lines import QUEUED
from domain.scheduling.demand.weighing import Profile
from domain.scheduling.world.partition import Partition

Group = tuple[int, int, Profile]
"""The class of a set, its negative priority, and the profile with which its recipes stand in line."""


def room_reasons(partition: Partition, hosts: Iterable[Recipe]) -> dict[int, Lack]:
    """Return the first limit that keeps the set of each recipe from its first system, by recipe id.

    Within a group, room is never kept from a recipe and not from a later one, so that only the recipes at
    which the answer changes are searched for.
    """
    groups = defaultdict[Group, list[Recipe]](list)
    for group, host in _grouped(partition, hosts):
        groups[group].append(host)
    found: dict[int, Lack] = {}
    for members in groups.values():
        members.sort(key=partition.sets.rank)
        for host, lack in zip(members, _lacks_of(partition, members), strict=True):
            if lack is not None:
                found[host.recipe_id] = lack
    return found


def _grouped(partition: Partition, hosts: Iterable[Recipe]) -> Iterator[tuple[Group, Recipe]]:
    """Yield the recipes whose sets need room for their first system, each with its group."""
    sets = partition.sets
    for host in hosts if sets.classes.numbers else ():
        number = sets.classes.numbers.get(host.recipe_set_id)
        if number is not None and host.recipe_set_id not in sets.rooms.charged:
            profile = sets.places.profile(host, sets.places.line_of(host) or QUEUED)
            yield (number, sets.rank(host).negative_priority, profile), host


def _lacks_of(partition: Partition, members: Sequence[Recipe]) -> list[Lack | None]:
    """Return the answers for the recipes of a group, which are in rank order."""
    answers: list[Lack | None] = [None] * len(members)

    def ask(index: int) -> Lack | None:
        return next(lacks(partition, members[index]), None)

    def fill(first: int, last: int) -> None:
        """Fill the answers between two that have been found."""
        if answers[first] == answers[last]:
            answers[first : last + 1] = [answers[first]] * (last + 1 - first)
        elif last - first > 1:
            middle = (first + last) // 2
            answers[middle] = ask(middle)
            fill(first, middle)
            fill(middle, last)

    answers[0], answers[-1] = ask(0), ask(len(members) - 1)
    fill(0, len(members) - 1)
    return answers
