"""Numbers for those whose recipes wait, and in which order a system asks them (design 5.2; seed 004)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from domain.access.submitting import Submitting, Who
from domain.priority import Priority
from domain.scheduling.supply.access import Access

# Of classes of systems; those that are gone are forgotten some day.
MAX_CACHED: Final = 1_024


class Step(NamedTuple):
    """A row of the seed's table: recipes of this nominal priority, whose effective one is equal, too."""

    nominal: int
    submitters: tuple[int, ...]


class Order(NamedTuple):
    """The steps in order, and by the number of each who the maximum effective priority.

    Where that is the same of all, it makes no difference whose a recipe is.
    """

    steps: tuple[Step, ...]
    maxima: tuple[int, ...]
    same_for_all: bool


class Submitters:
    """Mutable. `version` grows when a number is given to somebody else than before."""

    def __init__(self, access: Access) -> None:
        self.version = 0
        self._access = access
        self._submitters: list[Who] = []
        self._numbers: dict[Who, int] = {}
        # How many recipes each has.
        self._recipes: list[int] = []
        self._orders: dict[Submitting, Order] = {}

    def number(self, who: Who) -> int:
        """Somebody new is given that of somebody who has no recipes, if there is such a one."""
        known = self._numbers.get(who)
        return self._begin(who) if known is None else known

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
        """So many recipes more, or fewer."""
        self._recipes[number] += more

    def __getitem__(self, number: int) -> Who:
        return self._submitters[number]

    def order(self, decides: Submitting) -> Order:
        """On systems of a class."""
        known = self._orders.get(decides)
        if known is None:
            if len(self._orders) >= MAX_CACHED:
                self._orders.clear()
            maxima = tuple(self._access.cap(decides, who) for who in self._submitters)
            known = self._orders[decides] = Order(tuple(_steps(maxima)), maxima, len({*maxima}) == 1)
        return known


def _steps(maxima: Sequence[int]) -> list[Step]:
    """The effective priority is the lower of the nominal one and the maximum."""
    found: list[Step] = []
    for effective in reversed(Priority):
        capped = tuple(number for number, most in enumerate(maxima) if most == effective)
        if capped:
            found += [Step(nominal, capped) for nominal in reversed(Priority) if nominal > effective]
        not_capped = tuple(number for number, most in enumerate(maxima) if most >= effective)
        if not_capped:
            found.append(Step(effective, not_capped))
    return found
