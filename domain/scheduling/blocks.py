"""Numbers for pairs of a filter and a `Who`, and in which order a system asks them (design 5.2; seed 004).

The filters of each who are a block of bits: what holds of filters, whoever has them, is one block repeated.
Where no policy tells anybody apart there is one block, and a pair has the number of its filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from domain.access.submitting import Submitting, Who
from domain.priority import Priority
from domain.scheduling.access import Access
from domain.scheduling.bitmaps import union

NARROWEST: Final = 6
# Of classes of systems; those that are gone are forgotten some day.
MOST_KEPT: Final = 1_024


class Step(NamedTuple):
    """A row of the seed's table: recipes `among` these pairs (None: all) that have this nominal priority."""

    nominal: int
    among: int | None


class Order(NamedTuple):
    """The steps in order, and by the number of each who the maximum effective priority."""

    steps: tuple[Step, ...]
    maxima: tuple[int, ...]


class Blocks:
    """Mutable. `version` grows when a number is given to somebody else than before."""

    def __init__(self, access: Access) -> None:
        self.version = 0
        self._access = access
        self._shift = NARROWEST
        self._whos: list[Who] = []
        self._numbers: dict[Who, int] = {}
        # How many recipes each has.
        self._recipes: list[int] = []
        self._orders: dict[Submitting, Order] = {}

    # Who has which number

    def number(self, who: Who) -> int:
        """A new one is of somebody who has no recipes, if there is such a one."""
        known = self._numbers.get(who)
        return self._begin(who) if known is None else known

    def _begin(self, who: Who) -> int:
        self._orders.clear()
        if 0 in self._recipes:
            number = self._recipes.index(0)
            del self._numbers[self._whos[number]]
            self._whos[number] = who
            self.version += 1
        else:
            number = len(self._whos)
            self._whos.append(who)
            self._recipes.append(0)
        self._numbers[who] = number
        return number

    def count(self, who: int, more: int) -> None:
        """So many recipes more, or fewer."""
        self._recipes[who] += more

    def who(self, number: int) -> Who:
        return self._whos[number]

    # Pairs

    def widen(self, filters: int) -> bool:
        """Make room for so many filters; whether pairs have other numbers now."""
        if filters <= 1 << self._shift:
            return False
        self._shift = (filters - 1).bit_length()
        self._orders.clear()
        return True

    def pair(self, filter_number: int, who: int) -> int:
        return who << self._shift | filter_number

    def apart(self, pair: int) -> tuple[int, int]:
        """The filter and who of a pair."""
        return pair & (1 << self._shift) - 1, pair >> self._shift

    def repeated(self, filters: int) -> int:
        """Bitmap of all pairs with these filters."""
        count, blocks = 1, len(self._whos)
        while count < blocks:
            step = min(count, blocks - count)
            filters |= filters << (step << self._shift)
            count += step
        return filters

    # In which order they are asked

    def order(self, decides: Submitting) -> Order:
        """On systems of a class."""
        known = self._orders.get(decides)
        if known is None:
            if len(self._orders) >= MOST_KEPT:
                self._orders.clear()
            maxima = tuple(self._access.cap(decides, who) for who in self._whos)
            known = self._orders[decides] = Order(self._steps(maxima), maxima)
        return known

    def _steps(self, maxima: Sequence[int]) -> tuple[Step, ...]:
        """The effective priority is the lower of the nominal one and the maximum."""
        whole = (1 << (1 << self._shift)) - 1
        blocks = [whole << (number << self._shift) for number in range(len(maxima))]
        found: list[Step] = []
        everybody, at_least = union(blocks), 0
        for effective in reversed(Priority):
            capped = union(block for block, most in zip(blocks, maxima, strict=True) if most == effective)
            if capped:
                found += [Step(nominal, capped) for nominal in reversed(Priority) if nominal > effective]
            at_least |= capped
            if at_least:
                found.append(Step(effective, None if at_least == everybody else at_least))
        return tuple(found)
