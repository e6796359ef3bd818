"""Completion plans for all holders of a lab, updated as holders come, grow and go (design section 4.3).

The plan of a holder has a different system for each of its recipes without a system, and none that the holder
has. A holder waits for the other holders that have systems of its plan. A state is safe exactly if there are
plans such that no holder waits for itself, directly or through others: then, and only then, there is an order
in which all holders can be completed.

When a holder goes, the plans of the others remain valid, because no plan waits for it any more. A holder that
comes or grows needs a new plan, and only holders that wait for it may need another one.
"""

from __future__ import annotations

from collections.abc import Iterable

from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.safety.completion import Holder
from domain.scheduling.safety.matching import match


class Plans:
    """Plans of holders that can all be completed. Mutable. `held` is the bitmap of all their systems."""

    def __init__(self) -> None:
        self.held = 0
        self._holders: dict[int, Holder] = {}
        self._plans: dict[int, Iterable[int]] = {}
        # System number -> sets whose plans include the system.
        self._planned: dict[int, dict[int, None]] = {}

    def put(self, holder: Holder) -> bool:
        """Add a holder; return False, and do not add it, if not all holders could be completed then."""
        plan = self.plan(holder)
        if plan is None:
            return False
        self._holders[holder.recipe_set_id] = holder
        self.held |= holder.held
        self._replace_plan(holder.recipe_set_id, plan)
        return True

    def remove(self, recipe_set_id: int) -> None:
        holder = self._holders.pop(recipe_set_id, None)
        if holder is not None:
            self.held &= ~holder.held
            self._replace_plan(recipe_set_id, ())

    def plan(self, holder: Holder) -> list[int] | None:
        """Return a plan for a holder, None if not all holders could be completed.

        If free systems do not suffice, the holder waits for others, and these may switch to other plans.
        """
        plan = _plan(holder, self.held)
        return _plan(holder, union(each.held for each in self._behind(holder))) if plan is None else plan

    def _behind(self, holder: Holder) -> list[Holder]:
        """Return the holders that can only be completed after this holder.

        A holder that waits for this one, but has another plan, switches to that plan. The other plan avoids
        the systems of this holder and of the returned holders, so it is valid in any case.
        """
        left = self._waiting_for(holder)
        while left:
            held = holder.held | union(each.held for each in left)
            rest = []
            for other in left:
                plan = _plan(other, held)
                if plan is None:
                    rest.append(other)
                else:
                    self._replace_plan(other.recipe_set_id, plan)
                    held &= ~other.held
            if len(rest) == len(left):
                return left
            left = rest
        return left

    def _waiting_for(self, holder: Holder) -> list[Holder]:
        """Return the holders that wait for this one, directly or through others, by their present plans."""
        waiting: dict[int, Holder] = {holder.recipe_set_id: holder}
        unvisited = [holder]
        while unvisited:
            for number in numbers_in(unvisited.pop().held):
                for recipe_set_id in self._planned.get(number, ()):
                    if recipe_set_id not in waiting:
                        waiting[recipe_set_id] = self._holders[recipe_set_id]
                        unvisited.append(waiting[recipe_set_id])
        del waiting[holder.recipe_set_id]
        return list(waiting.values())

    def _replace_plan(self, recipe_set_id: int, plan: Iterable[int]) -> None:
        for number in self._plans.pop(recipe_set_id, ()):
            planned = self._planned[number]
            del planned[recipe_set_id]
            if not planned:
                del self._planned[number]
        if plan:
            self._plans[recipe_set_id] = plan
        for number in plan:
            self._planned.setdefault(number, {})[recipe_set_id] = None


def _plan(holder: Holder, held: int) -> list[int] | None:
    """Return a plan for a holder with systems neither in `held` nor its own, None if there is none."""
    free = ~(held | holder.held)
    return match([want & free for want in holder.wants])
