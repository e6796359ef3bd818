"""Whether each of several recipes can have a system of its own at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from domain.scheduling.bitmaps import lowest, numbers_in


def match(wants: Sequence[int]) -> list[int] | None:
    """A different system number for each bitmap of candidates, or None where there is no such choice.

    Augmenting paths: who finds nothing free asks the takers of its candidates to move on.
    """
    owner: dict[int, int] = {}
    taken = 0
    for index in range(len(wants)):
        if not wants[index]:
            return None
        free = wants[index] & ~taken
        if free:
            number = lowest(free)
            owner[number] = index
            taken |= 1 << number
        elif _augment(wants, index, owner, set()):
            taken = sum(1 << number for number in owner)
        else:
            return None
    return _by_index(owner)


def _augment(wants: Sequence[int], index: int, owner: dict[int, int], seen: set[int]) -> bool:
    """Find a system for `index`, moving others where they can go elsewhere."""
    for number in numbers_in(wants[index]):
        if number in seen:
            continue
        seen.add(number)
        if number not in owner or _augment(wants, owner[number], owner, seen):
            owner[number] = index
            return True
    return False


def _by_index(owner: dict[int, int]) -> list[int]:
    return [number for number, _ in sorted(owner.items(), key=lambda pair: pair[1])]
