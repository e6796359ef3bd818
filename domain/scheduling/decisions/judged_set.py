"""Recipe sets, stored or not yet submitted, with what decides whether a lab could ever serve them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from domain.recipe.state import Recipe
from domain.scheduling.supply.filter_key import Demand
from domain.scheduling.world.partition import Partition


class JudgedSet(NamedTuple):
    """The unfinished recipes of a set, the demand of each host by its id, and the time of the submission."""

    members: tuple[Recipe, ...]
    demands: Mapping[int, Demand]
    submitted_at: datetime | None

    @property
    def hosts(self) -> tuple[Recipe, ...]:
        return tuple([recipe for recipe in self.members if not recipe.is_guest])

    def demand(self, host: Recipe) -> Demand:
        return self.demands[host.recipe_id]


def stored_set(partition: Partition, recipe_set_id: int) -> JudgedSet:
    sets = partition.sets
    demands = {host.recipe_id: sets.index.demand(host) for host in sets.hosts(recipe_set_id)}
    return JudgedSet(sets.members(recipe_set_id), demands, sets.sets[recipe_set_id].submitted_at)
