"""How all holders of a lab can be completed, kept while they come, grow and go (design section 4.3).

Each holder has a plan: for each of its recipes without a system one that it wants, none twice, none that it
holds. It waits for those that hold systems of its plan. If nobody waits for itself that way, not through
others either, there is an order in which all are completed; and if there is an order, there are such plans:
those by which each is completed in its turn. So the state is safe exactly where there are such plans.

Who goes is waited for by nobody: the plans of the others stand. Who comes, or grows, needs one of its own,
and only those that wait for it may need another.
"""

from __future__ import annotations

from collections.abc import Iterable

from domain.scheduling.bitsets.bitmaps import numbers_in, union
from domain.scheduling.safety.completion import Holder
from domain.scheduling.safety.matching import match


class Plans:
    """Mutable; of holders that can all be completed. `held` are the systems of all of them."""

    def __init__(self) -> None:
        self.held = 0
        self._holders: dict[int, Holder] = {}
        self._plans: dict[int, Iterable[int]] = {}
        # System -> sets whose plans have it.
        self._planned: dict[int, dict[int, None]] = {}

    def put(self, holder: Holder) -> bool:
        """Take in one that is not there; False, and it stays outside, if then some could not be completed."""
        plan = self.plan(holder)
        if plan is None:
            return False
        self._holders[holder.recipe_set_id] = holder
        self.held |= holder.held
        self._keep(holder.recipe_set_id, plan)
        return True

    def remove(self, recipe_set_id: int) -> None:
        holder = self._holders.pop(recipe_set_id, None)
        if holder is not None:
            self.held &= ~holder.held
            self._keep(recipe_set_id, ())

    def plan(self, holder: Holder) -> list[int] | None:
        """One for this holder, in place of what it was if it is there; None if there is none with which all
        can be completed.
        """
        first = _plan(holder, self.held)
        return _plan(holder, union(each.held for each in self._behind(holder))) if first is None else first

    def _behind(self, holder: Holder) -> list[Holder]:
        """Those that cannot be completed as long as this one holds what it holds, by whatever plans.

        Who could be otherwise than planned has that plan from now on. It is as good for as things are: it
        leads around this holder and all who are behind it.
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
                    self._keep(other.recipe_set_id, plan)
                    held &= ~other.held
            if len(rest) == len(left):
                return left
            left = rest
        return left

    def _waiting_for(self, holder: Holder) -> list[Holder]:
        """By their plans, for itself or for others that do."""
        found: dict[int, Holder] = {holder.recipe_set_id: holder}
        look_at = [holder]
        while look_at:
            for number in numbers_in(look_at.pop().held):
                for recipe_set_id in self._planned.get(number, ()):
                    if recipe_set_id not in found:
                        found[recipe_set_id] = self._holders[recipe_set_id]
                        look_at.append(found[recipe_set_id])
        del found[holder.recipe_set_id]
        return list(found.values())

    def _keep(self, recipe_set_id: int, plan: Iterable[int]) -> None:
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
    """Systems for its recipes that are not among the `held`, nor held by itself."""
    free = ~(held | holder.held)
    return match([want & free for want in holder.wants])
