"""The recipe that a system asks first while queues have turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from replay.audit.queue_order import LeafFirst, first_of
from replay.audit.queues import OWED
from replay.audit.ranking import SystemRank, rank_on
from replay.audit.safety import could_take_safely
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import PRIORITIES
from replay.audit.values import Recipe, System
from replay.audit.weights import weights_at


def first_in_turn(
    view: SchedulerView, matcher: SystemMatcher, system: System, more: Iterable[Recipe] = ()
) -> Recipe | None:
    """Return the recipe that a system asks first, of those in the queue and of `more`, None without any.

    If bound recipes always come first, the queues have turns only where there is none of them.
    """
    ranked = sorted(
        (rank_of(view, matcher, recipe, system), recipe.recipe_id)
        for recipe in _eligible(view, matcher, system, more)
    )
    leaf_firsts: dict[str, LeafFirst] = {}
    for rank, number in ranked:
        recipe = view.recipes[number]
        if rank.tier == 1:
            return recipe
        # In one line with other leaves, the systems of the job do not count.
        place = rank._replace(systems=0)
        first = LeafFirst(len(PRIORITIES) - rank.effective, place, number)
        leaf_firsts.setdefault(view.queue_of(recipe.set_id), first)
    if not leaf_firsts:
        return None
    return view.recipes[first_of(view.queue_tree, leaf_firsts, view.use_of_queues()).number]


def _eligible(
    view: SchedulerView, matcher: SystemMatcher, system: System, more: Iterable[Recipe]
) -> Iterator[Recipe]:
    """Yield the recipes that could take a system safely."""
    numbers: dict[int, None] = {}
    for lab in (system.lab, OWED, None):
        for _, queue in view.queues[lab]:
            for by_profile in queue.by_priority.values():
                for ranks in by_profile.values():
                    numbers.update((number, None) for _, _, number in ranks)
    numbers.update((recipe.recipe_id, None) for recipe in more)
    for number in numbers:
        if could_take_safely(view, matcher, view.recipes[number], system):
            yield view.recipes[number]


def rank_of(view: SchedulerView, matcher: SystemMatcher, recipe: Recipe, system: System) -> SystemRank:
    """Return the rank of a recipe on a system at the time of the decision."""
    weights = weights_at(view, view.now)
    return rank_on(view, matcher, recipe, system, bound_first=view.bound_first, weights=weights)
