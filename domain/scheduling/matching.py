"""Whether each of several recipes can have a system of its own at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from domain.scheduling.bitmaps import lowest, numbers_in


def match(wants: Sequence[int]) -> list[int] | None:
    """Return a different system number for each bitmap of candidates, or None where there is no such choice.

    The recipes with the fewest candidates choose first; a recipe without a free candidate makes others move
    along the shortest augmenting path.
    """
    if not all(wants):
        return None
    matching = _Matching(wants)
    order = sorted(range(len(wants)), key=lambda index: wants[index].bit_count())
    if all(matching.add(index) for index in order):
        return matching.numbers
    return None


class _Matching:
    """Mutable: `add` the recipes one after another."""

    def __init__(self, wants: Sequence[int]) -> None:
        self.numbers = [-1] * len(wants)
        self._wants = wants
        self._owner: dict[int, int] = {}
        self._taken = 0

    def add(self, index: int) -> bool:
        """Give the recipe a system; False where that is impossible beside the recipes already added.

        The search is breadth first, so it looks at each recipe once: several recipes with the same candidates
        cost hardly more than one.
        """
        seen, asked_by, queue = 0, dict[int, int](), [index]
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
        """Each recipe on the path takes the next system and leaves its own to the recipe that asks for it."""
        self._taken |= 1 << number
        while True:
            before = self.numbers[asking]
            self.numbers[asking] = number
            self._owner[number] = asking
            if asking == index:
                return
            number, asking = before, asked_by[before]
