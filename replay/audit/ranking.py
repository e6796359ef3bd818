"""Ranks of recipes in the queue of one system (design 5.2), and the recipes that could take the system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import NamedTuple

from replay.audit.queues import AFTER_ALL, BEFORE_ALL, NEWLY_ASSIGNED, OWED, Rank, SubmitterQueue
from replay.audit.safety import could_take_safely
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import PRIORITIES, URGENCY
from replay.audit.values import Recipe, System
from replay.audit.weights import Weights


class SystemRank(NamedTuple):
    """The rank on one system, lowest first; `line` is 0 if bound to the lab, else 1; priority 0 is Urgent.

    Recipes of owed sets rank as bound ones, with the weight 0. `weight` is 0 for all recipes if they are not
    weighed. `systems` is the number of systems of the job in a fair leaf, 0 elsewhere.

    `tier` is 0 for all recipes if priorities come first; if bound recipes do, it is 1 for them, else 2.
    """

    tier: int
    effective: int
    nominal: int
    line: int
    systems: int
    weight: int
    submission: int

    def end(self, highest_priority: int, line: int) -> Rank:
        """Return the end of the preceding ranks of a line, given the priority of a submitter here.

        Only without weights the recipes of a line have one order on all systems.
        """
        if highest_priority > self.effective:
            return BEFORE_ALL
        if highest_priority < self.effective and self.nominal < self.effective:
            return (self.effective,)
        if line == self.line:
            return self.nominal, self.submission
        return (self.nominal + (line < self.line),)

    def __str__(self) -> str:
        nominal, effective = PRIORITIES[self.nominal], PRIORITIES[self.effective]
        return nominal if nominal == effective else f"{nominal}, there {effective}"


def rank_on(
    view: SchedulerView,
    matcher: SystemMatcher,
    recipe: Recipe,
    system: System,
    *,
    bound_first: bool,
    weights: Weights | None = None,
) -> SystemRank:
    """Return the rank of a recipe on a system. Without permission there, its nominal priority counts."""
    recipe_set = view.sets[recipe.set_id]
    is_owed = view.is_owed(recipe)
    bound = recipe.recipe_id not in view.newly_assigned and any(
        member.lab == system.lab for member in view.members(recipe.set_id)
    )
    nominal = URGENCY[recipe_set.priority]
    effective = max(nominal, matcher.highest_priority(view.representative(recipe.submitter), system) or 0)
    line = 0 if bound or is_owed else 1
    weight = 0 if weights is None or view.weighs_nothing(recipe) else weights.weight(recipe.set_id)
    is_fair = view.is_in_fair_leaf(recipe.set_id) and (line or not bound_first)
    systems = view.systems_of_job[recipe_set.job_id] if is_fair else 0
    tier, submission = _tier(line, bound_first), recipe_set.submission
    return SystemRank(tier, effective, nominal, line, systems, weight, submission)


def _tier(line: int, bound_first: bool) -> int:
    return 1 + line if bound_first else 0


def eligible_recipes(
    view: SchedulerView, matcher: SystemMatcher, system: System, before: SystemRank | None = None
) -> Iterator[Recipe]:
    """Yield recipes (`before` a rank) that could take a system safely, one per need and representative."""
    for line, lab in ((0, system.lab), (0, OWED), (1, None)):
        tier = 0 if before is None else _tier(line, before.tier > 0)
        if before is not None and tier > before.tier:
            return
        limit = before if before is not None and tier == before.tier else None
        last = AFTER_ALL if limit is None else limit.end(-1, line)
        for submitter, queue in view.queues[lab]:
            first = queue.first
            if first is None or first >= last:
                continue
            highest_priority = matcher.highest_priority(submitter, system)
            if highest_priority is not None:
                end = AFTER_ALL if limit is None else limit.end(highest_priority, line)
                yield from _eligible_in(view, matcher, system, queue, end)


def eligible_by_weight(
    view: SchedulerView, matcher: SystemMatcher, system: System, before: SystemRank, weights: Weights
) -> Iterator[Recipe]:
    """Yield recipes that rank before `before` and could take a system safely, by plain search."""
    # A list, because the check of safety changes the queues tentatively.
    for recipe in list(_candidates_by_weight(view, matcher, system, before, weights)):
        there = rank_on(view, matcher, recipe, system, bound_first=before.tier > 0, weights=weights)
        if there < before and could_take_safely(view, matcher, recipe, system):
            yield recipe


def _candidates_by_weight(
    view: SchedulerView, matcher: SystemMatcher, system: System, before: SystemRank, weights: Weights
) -> Iterator[Recipe]:
    """Yield the recipes that could take a system, but few of those that do not rank before `before`."""
    for lab in (system.lab, OWED):
        for _, queue in view.queues[lab]:
            for need in matcher.obtainable_needs(queue, system, AFTER_ALL):
                yield from (view.recipes[rank[2]] for rank in queue.ranks_of(need))
    suits = cache(partial(matcher.is_obtainable, system=system))
    for submitter, queue in view.queues[None]:
        highest_priority = matcher.highest_priority(submitter, system)
        if highest_priority is None:
            continue
        for nominal, by_profile in queue.by_priority.items():
            first = SystemRank(_tier(1, before.tier > 0), max(nominal, highest_priority), nominal, 1, 0, 0, 0)
            if first < before:
                recipes = _recipes_before(view, by_profile, first, before, weights)
                yield from (recipe for recipe in recipes if suits(view.need(recipe)))


def _recipes_before(
    view: SchedulerView,
    by_profile: Mapping[int, list[Rank]],
    first: SystemRank,
    before: SystemRank,
    weights: Weights,
) -> Iterator[Recipe]:
    """Yield the recipes of one nominal priority that rank before `before`, and all newly assigned ones.

    `first` is the least rank that they can have.
    """
    without_weight = first[:5]
    for profile, ranks in by_profile.items():
        static = None if profile == NEWLY_ASSIGNED else weights.of_profile(profile)
        for _, submission, number in ranks:
            recipe = view.recipes[number]
            if static is not None:
                weight = static * weights.remaining_ticks(recipe.set_id)
                if (*without_weight, weight, submission) >= before:
                    # No later recipe of the profile is lighter.
                    break
            yield recipe


def eligible_before(
    view: SchedulerView, matcher: SystemMatcher, system: System, before: SystemRank, weights: Weights | None
) -> Iterator[Recipe]:
    """Yield recipes that rank before `before` and could take a system safely; without weights, as ranked."""
    if weights is None:
        return eligible_recipes(view, matcher, system, before)
    return eligible_by_weight(view, matcher, system, before, weights)


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
