"""The labs whose idle systems suffice for all recipes of a new set at once."""

from __future__ import annotations

from collections.abc import Sequence

from domain.recipe.state import Recipe
from domain.scheduling.safety.matching import Matching
from domain.scheduling.world.partition import Partition


class SimultaneousStart:
    """The labs in which all recipes of a new set can start at once. Mutable: `take` each granted system.

    `systems` is the bitmap of the systems of these labs. A matching is kept for each lab, so that a query
    about one system moves a few recipes instead of matching all of them again.
    """

    def __init__(self, partition: Partition, hosts: Sequence[Recipe], unclaimed: int) -> None:
        self._partition = partition
        self._index = {host.recipe_id: index for index, host in enumerate(hosts)}
        self._matchings: dict[str, Matching] = {}
        self.systems = 0
        idle = [partition.idle(host) & unclaimed for host in hosts]
        if len(hosts) == 1:
            self.systems = idle[0]
        elif all(idle):
            self._match(idle)

    def _match(self, idle: Sequence[int]) -> None:
        for name, lab in self._partition.labs.each():
            matching = Matching([each & lab for each in idle])
            if matching.complete():
                self._matchings[name] = matching
                self.systems |= lab

    def can_start(self, host: Recipe, number: int) -> bool:
        """Return whether each sibling can still get an idle system if a recipe takes this one."""
        if len(self._index) == 1:
            return True
        matching = self._matchings.get(self._partition.system(number).lab_controller)
        return matching is not None and matching.can_have(self._index[host.recipe_id], number)

    def take(self, host: Recipe, number: int) -> None:
        """Fix the system of a recipe, for which `can_start` is true."""
        matching = self._matchings.get(self._partition.system(number).lab_controller)
        if matching is not None:
            matching.fix(self._index[host.recipe_id], number)
