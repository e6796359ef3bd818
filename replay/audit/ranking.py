"""Ranks of recipes in the queue of one system (design 5.2), and the recipes that could take the system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from replay.audit.queues import AFTER_ALL, BEFORE_ALL, PartyQueue, Rank
from replay.audit.safety import could_take_safely
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import PRIORITIES, URGENCY
from replay.audit.values import Recipe, System


class SystemRank(NamedTuple):
    """The rank of a recipe on one system; lower ranks come first.

    `queue` is 0 for recipes bound to the lab, 1 for others. Priorities are numbers; 0 is Urgent.
    """

    line: int
    effective: int
    nominal: int
    submission: int

    @property
    def last(self) -> Rank:
        """Return the end of the nominal ranks that may precede this rank, at any effective priority."""
        return self.end(-1)

    def end(self, highest_priority: int) -> Rank:
        """Return the end of the nominal ranks that precede this rank for a party with this highest priority.

        The recipes of a party stand in the order of their nominal priorities, and the effective ones follow
        it.
        """
        if highest_priority > self.effective:
            return BEFORE_ALL
        if highest_priority < self.effective and self.nominal < self.effective:
            return (self.effective,)
        return self.nominal, self.submission

    def __str__(self) -> str:
        nominal, effective = PRIORITIES[self.nominal], PRIORITIES[self.effective]
        return nominal if nominal == effective else f"{nominal}, there {effective}"


def rank_on(view: SchedulerView, matcher: SystemMatcher, recipe: Recipe, system: System) -> SystemRank:
    """Return the rank of a recipe on a system, as if it had permission there if it has none."""
    recipe_set = view.sets[recipe.set_id]
    bound = recipe.recipe_id not in view.newly_assigned and any(
        member.lab == system.lab for member in view.members(recipe.set_id)
    )
    nominal = URGENCY[recipe_set.priority]
    effective = max(nominal, matcher.highest_priority(view.party(recipe.submitter), system) or 0)
    return SystemRank(0 if bound else 1, effective, nominal, recipe_set.submission)


def eligible_recipes(
    view: SchedulerView, matcher: SystemMatcher, system: System, before: SystemRank | None = None
) -> Iterator[Recipe]:
    """Yield the recipes in the queue that could take the system safely, or only those that rank before one.

    For each need and party only the first is yielded: the others rank behind it.
    """
    for number, lab in enumerate((system.lab, None)):
        if before is not None and number > before.line:
            return
        counting = before if before is not None and number == before.line else None
        last = AFTER_ALL if counting is None else counting.last
        for submitter, queue in view.queues[lab]:
            first = queue.first
            if first is None or first >= last:
                continue
            highest_priority = matcher.highest_priority(submitter, system)
            if highest_priority is not None:
                end = AFTER_ALL if counting is None else counting.end(highest_priority)
                yield from _eligible_in(view, matcher, system, queue, end)


def _eligible_in(
    view: SchedulerView, matcher: SystemMatcher, system: System, queue: PartyQueue, end: Rank
) -> Iterator[Recipe]:
    for need in matcher.obtainable_needs(queue, system, end):
        for rank in queue.ranks_of(need):
            if rank > end:
                break
            recipe = view.recipes[rank[2]]
            if could_take_safely(view, matcher, recipe, system):
                yield recipe
                break
