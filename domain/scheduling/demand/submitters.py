"""Numbers for submitters (the `Who` of a job), and their order on a system (design 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from domain.access.submitting import Submitting, Who
from domain.priority import Priority
from domain.scheduling.supply.access import AccessIndex

# Maximum number of access classes with a cached order; at this number the cache is cleared.
MAX_CACHED: Final = 1_024


class Step(NamedTuple):
    """A row of the table in design 5.2: the submitters whose effective priority equals that of the step."""

    nominal: int
    submitters: tuple[int, ...]


class Order(NamedTuple):
    """The steps in order, and the maximum effective priority by submitter number.

    If `same_for_all`, every submitter has the same maximum, and submitters need not be distinguished.
    """

    steps: tuple[Step, ...]
    maxima: tuple[int, ...]
    same_for_all: bool


class Submitters:
    """Submitters by number. Mutable. `version` grows when a number is reassigned."""

    def __init__(self, access: AccessIndex) -> None:
        self.version = 0
        self._access = access
        self._submitters: list[Who] = []
        self._numbers: dict[Who, int] = {}
        # The number of recipes by submitter number.
        self._recipes: list[int] = []
        self._orders: dict[Submitting, Order] = {}

    def number(self, who: Who) -> int:
        """Return the number of a submitter; a new one may take over that of a submitter without recipes."""
        number = self._numbers.get(who)
        return self._begin(who) if number is None else number

    def _begin(self, who: Who) -> int:
        self._orders.clear()
        if 0 in self._recipes:
            number = self._recipes.index(0)
            del self._numbers[self._submitters[number]]
            self._submitters[number] = who
            self.version += 1
        else:
            number = len(self._submitters)
            self._submitters.append(who)
            self._recipes.append(0)
        self._numbers[who] = number
        return number

    def count(self, number: int, more: int) -> None:
        """Change the number of recipes of a submitter."""
        self._recipes[number] += more

    def __getitem__(self, number: int) -> Who:
        return self._submitters[number]

    def order(self, decides: Submitting) -> Order:
        """Return the order on systems of an access class."""
        order = self._orders.get(decides)
        if order is None:
            if len(self._orders) >= MAX_CACHED:
                self._orders.clear()
            maxima = tuple(self._access.cap(decides, who) for who in self._submitters)
            order = self._orders[decides] = Order(tuple(_steps(maxima)), maxima, len({*maxima}) == 1)
        return order


def _steps(maxima: Sequence[int]) -> list[Step]:
    """Return the steps; the effective priority is the lower of the nominal one and the maximum."""
    found: list[Step] = []
    for effective in reversed(Priority):
        capped = tuple(number for number, maximum in enumerate(maxima) if maximum == effective)
        if capped:
            found += [Step(nominal, capped) for nominal in reversed(Priority) if nominal > effective]
        not_capped = tuple(number for number, maximum in enumerate(maxima) if maximum >= effective)
        if not_capped:
            found.append(Step(effective, not_capped))
    return found
