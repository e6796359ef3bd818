"""Ranks of recipes in the queue of one system (design 5.2), and the recipes that could take the system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from replay.audit.queues import AFTER_ALL, BEFORE_ALL, Rank, SubmitterQueue
from replay.audit.safety import could_take_safely
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import PRIORITIES, URGENCY
from replay.audit.values import Recipe, System


class SystemRank(NamedTuple):
    """The rank on one system, lowest first; `line` is 0 if bound to the lab, else 1; priority 0 is Urgent."""

    line: int
    effective: int
    nominal: int
    submission: int

    @property
    def last(self) -> Rank:
        """Return the end of the nominal ranks that may precede this rank, for any submitter."""
        return self.end(-1)

    def end(self, highest_priority: int) -> Rank:
        """Return the end of the preceding nominal ranks, given a submitter's highest priority here."""
        if highest_priority > self.effective:
            return BEFORE_ALL
        if highest_priority < self.effective and self.nominal < self.effective:
            return (self.effective,)
        return self.nominal, self.submission

    def __str__(self) -> str:
        nominal, effective = PRIORITIES[self.nominal], PRIORITIES[self.effective]
        return nominal if nominal == effective else f"{nominal}, there {effective}"


def rank_on(view: SchedulerView, matcher: SystemMatcher, recipe: Recipe, system: System) -> SystemRank:
    """Return the rank of a recipe on a system. Without permission there, its nominal priority counts."""
    recipe_set = view.sets[recipe.set_id]
    bound = recipe.recipe_id not in view.newly_assigned and any(
        member.lab == system.lab for member in view.members(recipe.set_id)
    )
    nominal = URGENCY[recipe_set.priority]
    effective = max(nominal, matcher.highest_priority(view.representative(recipe.submitter), system) or 0)
    return SystemRank(0 if bound else 1, effective, nominal, recipe_set.submission)


def eligible_recipes(
    view: SchedulerView, matcher: SystemMatcher, system: System, before: SystemRank | None = None
) -> Iterator[Recipe]:
    """Yield recipes (`before` a rank) that could take a system safely, one per need and representative."""
    for number, lab in enumerate((system.lab, None)):
        if before is not None and number > before.line:
            return
        limit = before if before is not None and number == before.line else None
        last = AFTER_ALL if limit is None else limit.last
        for submitter, queue in view.queues[lab]:
            first = queue.first
            if first is None or first >= last:
                continue
            highest_priority = matcher.highest_priority(submitter, system)
            if highest_priority is not None:
                end = AFTER_ALL if limit is None else limit.end(highest_priority)
                yield from _eligible_in(view, matcher, system, queue, end)


def _eligible_in(
    view: SchedulerView, matcher: SystemMatcher, system: System, queue: SubmitterQueue, end: Rank
) -> Iterator[Recipe]:
    for need in matcher.obtainable_needs(queue, system, end):
        for rank in queue.ranks_of(need):
            if rank > end:
                break
            recipe = view.recipes[rank[2]]
            if could_take_safely(view, matcher, recipe, system):
                yield recipe
                break
