"""The safety rule: no holders that wait for each other for ever (design section 4.3).

A holder is a set with some but not all of its systems. A state is safe when there is an order in which every
holder can be completed: by a matching over usable systems, busy ones too, as they come free, except those
held by holders that come later. Completing one only frees systems, so whoever can be completed may come next,
and one order is as good as another. Labs share no systems: each is judged alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.scheduling.bitsets.bitmaps import union
from domain.scheduling.safety.matching import match


@dataclass(frozen=True)
class Holder:
    """`held` are its systems; `wants` has, for each recipe without one, the usable systems of its lab."""

    recipe_set_id: int
    held: int
    wants: tuple[int, ...]


def stuck(holders: Sequence[Holder]) -> list[Holder]:
    """Those left over when every holder that can be completed is; the state is safe when there is none."""
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
    """Whether each of its recipes can have a system that is not among the `held`."""
    return match([want & ~held for want in holder.wants]) is not None


def impossible(holders: Sequence[Holder]) -> list[Holder]:
    """Those that could not be completed even if all the others gave their systems back."""
    return [holder for holder in holders if not completable(holder, holder.held)]
