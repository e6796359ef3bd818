"""Bipartite matching: a different system for each of several recipes."""

from __future__ import annotations

from collections.abc import Sequence

from domain.scheduling.bitsets.bitmaps import lowest, numbers_in


def match(wants: Sequence[int]) -> list[int] | None:
    """Return a different system number for each bitmap of candidates, or None if there is no such choice.

    The recipes with the fewest candidates choose first. If a recipe has no free candidate, others move along
    the shortest augmenting path.
    """
    matching = Matching(wants)
    return matching.numbers if matching.complete() else None


class Matching:
    """A matching of recipes and systems. Mutable. `numbers` has the system of each recipe, -1 if none."""

    def __init__(self, wants: Sequence[int]) -> None:
        self.numbers = [-1] * len(wants)
        self._wants = list(wants)
        self._owner: dict[int, int] = {}
        self._taken = 0

    def complete(self) -> bool:
        """Give each recipe a system; return False if that is impossible."""
        if not all(self._wants):
            return False
        order = sorted(range(len(self._wants)), key=lambda index: self._wants[index].bit_count())
        return all(self._add(index) for index in order)

    def can_have(self, index: int, number: int) -> bool:
        """Return whether a recipe can have this candidate in a complete matching; if so, move it there."""
        before, bit = self.numbers[index], 1 << number
        if number == before:
            return True
        self._taken &= ~(1 << before)
        if self._taken & bit and not self._add(self._owner[number], seen=bit):
            self._taken |= 1 << before
            return False
        self._taken |= bit
        self.numbers[index], self._owner[number] = number, index
        return True

    def fix(self, index: int, number: int) -> None:
        """Give a recipe a system that it can have, for good."""
        is_possible = self.can_have(index, number)
        assert is_possible, "the recipe can have the system"
        self._wants[index] = 1 << number

    def _add(self, index: int, seen: int = 0) -> bool:
        """Give the recipe a system outside `seen`, moving others if necessary; return False if impossible.

        The search is breadth first and visits each system once, so several recipes with the same candidates
        cost hardly more than one.
        """
        asked_by, queue = dict[int, int](), [index]
        for asking in queue:
            fresh = self._wants[asking] & ~seen
            free = fresh & ~self._taken
            if free:
                self._move(index, asking, lowest(free), asked_by)
                return True
            seen |= fresh
            for number in numbers_in(fresh) if fresh else ():
                asked_by[number] = asking
                queue.append(self._owner[number])
        return False

    def _move(self, index: int, asking: int, number: int, asked_by: dict[int, int]) -> None:
        """Move each recipe on the path to its next system; the recipe before gets the former one."""
        self._taken |= 1 << number
        while True:
            before = self.numbers[asking]
            self.numbers[asking] = number
            self._owner[number] = asking
            if asking == index:
                return
            number, asking = before, asked_by[before]
