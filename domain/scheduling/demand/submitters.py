"""Numbers for submitters, and their order on systems of an access class (design 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from domain.access.submit_rights import SubmitRights, Submitter
from domain.priority import Priority
from domain.scheduling.supply.access import AccessIndex

# Maximum number of access classes with a cached order; at this number the cache is cleared.
MAX_CACHED: Final = 1_024


class Step(NamedTuple):
    """A row of the table in design 5.2: the recipes of one nominal priority of these submitters."""

    nominal: int
    submitters: tuple[int, ...]


class Order(NamedTuple):
    """The steps in rank order, the maximum effective priority by submitter, and whether all are equal."""

    steps: tuple[Step, ...]
    maxima: tuple[int, ...]
    same_for_all: bool


class Submitters:
    """Submitters by number. Mutable. `version` grows when a number is reassigned."""

    def __init__(self, access: AccessIndex) -> None:
        self.version = 0
        self._access = access
        self._submitters: list[Submitter] = []
        self._numbers: dict[Submitter, int] = {}
        # The number of recipes by submitter number.
        self._recipes: list[int] = []
        self._orders: dict[SubmitRights, Order] = {}

    def number(self, submitter: Submitter) -> int:
        """Return the number of a submitter. A new one may get the number of a submitter without recipes."""
        number = self._numbers.get(submitter)
        return self._begin(submitter) if number is None else number

    def _begin(self, submitter: Submitter) -> int:
        self._orders.clear()
        if 0 in self._recipes:
            number = self._recipes.index(0)
            del self._numbers[self._submitters[number]]
            self._submitters[number] = submitter
            self.version += 1
        else:
            number = len(self._submitters)
            self._submitters.append(submitter)
            self._recipes.append(0)
        self._numbers[submitter] = number
        return number

    def count(self, number: int, more: int) -> None:
        self._recipes[number] += more

    def __getitem__(self, number: int) -> Submitter:
        return self._submitters[number]

    def order(self, rights: SubmitRights) -> Order:
        order = self._orders.get(rights)
        if order is None:
            if len(self._orders) >= MAX_CACHED:
                self._orders.clear()
            maxima = tuple(self._access.cap(rights, submitter) for submitter in self._submitters)
            order = self._orders[rights] = Order(tuple(_steps(maxima)), maxima, len({*maxima}) == 1)
        return order


def _steps(maxima: Sequence[int]) -> list[Step]:
    """Return the steps by effective priority (the lower of nominal and maximum), then by nominal priority."""
    steps: list[Step] = []
    for effective in reversed(Priority):
        capped = tuple(number for number, maximum in enumerate(maxima) if maximum == effective)
        if capped:
            steps += [Step(nominal, capped) for nominal in reversed(Priority) if nominal > effective]
        not_capped = tuple(number for number, maximum in enumerate(maxima) if maximum >= effective)
        if not_capped:
            steps.append(Step(effective, not_capped))
    return steps
