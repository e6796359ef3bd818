"""The rows of admission that keep sets from their first system, with the reasons and the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from domain.recipe.state import Recipe
from domain.scheduling.admitting.room_limits import ROWS_BY_KIND
from domain.scheduling.decisions.kept_room import lacks
from domain.scheduling.demand.lines import OWED, QUEUED, room_line
from domain.scheduling.world.partition import Partition


@dataclass(frozen=True)
class HeldBackBy:
    """A row of admission that holds the set back, and the reason: the dependency, job filter or limit."""

    row: str
    reason: str


def held_back_by(partition: Partition, host: Recipe) -> tuple[HeldBackBy, ...]:
    """Return the rows that hold back the set of a recipe, none for a set that holds systems."""
    admission = partition.sets.admission
    rows: Iterable[tuple[str, str]] = lacks(partition, host)
    if host.recipe_set_id in admission.held_back:
        answers = admission.answers(partition.sets.sets[host.recipe_set_id])
        rows = chain(((held.row, held.reason) for held in answers), rows)
    return tuple(HeldBackBy(*row) for row in rows)


def set_held_back_by(partition: Partition, recipe_set_id: int) -> tuple[HeldBackBy, ...]:
    """Return the rows that hold back a set; none for one that has ended."""
    host = next((host for host in partition.sets.hosts(recipe_set_id) if not host.finished), None)
    return () if host is None else held_back_by(partition, host)


def held_back_counts(partition: Partition) -> dict[str, int]:
    """Return the numbers of hosts that admission holds back, by the first row that applies to a set."""
    counts = Counter(partition.sets.admission.held_back_counts)
    for number, limit in partition.sets.rooms.closed():
        lines = (room_line(line, number) for line in (QUEUED, OWED))
        counts[ROWS_BY_KIND[limit.kind]] += sum(map(partition.filters.count_in, lines))
    return +counts
