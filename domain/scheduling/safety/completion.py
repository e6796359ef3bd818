"""The safety rule: no holders that wait for each other for ever (design section 4.3).

A holder is a set with some but not all of its systems. A state is safe if there is an order in which every
holder can be completed: by a matching over usable systems, including busy ones, which come free, but
excluding systems of holders that come later. Completing a holder only frees systems, so any holder that can
be completed may come next, and all such orders are equivalent. Labs share no systems, so each lab is checked
separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.safety.matching import match


@dataclass(frozen=True)
class Holder:
    """A holder: the bitmap `held` of its systems, and the systems it wants.

    `wants` has, for each recipe without a system, the bitmap of the usable systems of the lab.
    """

    recipe_set_id: int
    held: int
    wants: tuple[int, ...]


def stuck(holders: Sequence[Holder]) -> list[Holder]:
    """Return the holders that cannot be completed after all others; the state is safe if there is none."""
    left = list(holders)
    while left:
        held = union(holder.held for holder in left)
        rest = []
        for holder in left:
            if completable(holder, held):
                held &= ~holder.held
            else:
                rest.append(holder)
        if len(rest) == len(left):
            return left
        left = rest
    return left


def completable(holder: Holder, held: int) -> bool:
    """Return whether each of its recipes can have a system that is not among the `held`."""
    return match([want & ~held for want in holder.wants]) is not None


def impossible(holders: Sequence[Holder]) -> list[Holder]:
    """Return the holders that could not be completed even if all others gave their systems back."""
    return [holder for holder in holders if not completable(holder, holder.held)]
