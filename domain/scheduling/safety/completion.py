"""The safety rule: no holders wait for each other for ever (design section 4.3).

A holder is a set with some but not all of its systems. A state is safe if all holders can be completed in
some order. A holder can be completed if its missing systems can be matched with usable systems, busy or idle,
that no later holder has. Completing a holder frees its systems, so any holder that can be completed may come
next. Labs share no systems, so each lab is checked separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.safety.matching import match


@dataclass(frozen=True)
class Holder:
    """A set: the bitmap `held` of its systems, and the usable ones that each recipe without one `wants`."""

    recipe_set_id: int
    held: int
    wants: tuple[int, ...]


def stuck(holders: Sequence[Holder]) -> list[Holder]:
    """Return the holders that no order completes; the state is safe if there are none."""
    left = list(holders)
    while left:
        held = union(holder.held for holder in left)
        rest = []
        for holder in left:
            if is_completable(holder, held):
                held &= ~holder.held
            else:
                rest.append(holder)
        if len(rest) == len(left):
            return left
        left = rest
    return left


def is_completable(holder: Holder, held: int) -> bool:
    """Return whether each missing system of a holder can be one that is not in `held`."""
    return match([want & ~held for want in holder.wants]) is not None


def impossible(holders: Sequence[Holder]) -> list[Holder]:
    """Return the holders that could not be completed even if all others released their systems."""
    return [holder for holder in holders if not is_completable(holder, holder.held)]
