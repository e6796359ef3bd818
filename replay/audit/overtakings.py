"""The invariant of overtakings: grants that come before an earlier set name its first recipe."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from functools import partial
from itertools import chain, takewhile

from replay.audit.admission import is_held_back
from replay.audit.grants import DecisionInvariant, Grant
from replay.audit.invariant import Violations
from replay.audit.queues import AFTER_ALL, Rank
from replay.audit.ranking import SystemRank, rank_on
from replay.audit.safety import could_take_safely
from replay.audit.scheduler_view import SchedulerView
from replay.audit.values import Recipe, System
from replay.audit.weights import Weights, weights_at


class CountedOvertaking(DecisionInvariant):
    """A grant to a bound or owed recipe names the first queued recipe that it overtakes, no other grant one.

    That is the first one in the order of the system whose set was submitted earlier, that has no lower
    priority, and that could have taken the system safely. If bound recipes always come first, none is named
    if a more urgent recipe of a later set stands before it. Without a bound no recipe is named.
    """

    name = "counted_overtaking"

    def check_grant(self, view: SchedulerView, grant: Grant) -> Violations:
        recipe, system, record = grant
        named = record.data.get("overtook")
        overtaken = None if grant.is_preemption else self._overtaken(view, recipe, system)
        expected = None if overtaken is None else overtaken.recipe_id
        if named != expected:
            what = f"the grant of {system.fqdn} overtook {_shown(expected)}, but names {_shown(named)}"
            subjects = [f"recipe/{number}" for number in (named, expected) if number is not None]
            yield self.violation([record.position], [recipe.subject, *subjects, system.subject], what)

    def _overtaken(self, view: SchedulerView, recipe: Recipe, system: System) -> Recipe | None:
        if view.max_overtaken is None or recipe.state == "new":
            return None
        weights = weights_at(view, view.now)
        own = rank_on(view, self._matcher, recipe, system, bound_first=view.bound_first, weights=weights)
        if own.line:
            return None
        for rank, number in self._queued(view, system, recipe, own, weights):
            other = view.recipes[number]
            if rank.submission > own.submission:
                if view.bound_first:
                    return None
            elif could_take_safely(view, self._matcher, other, system):
                return other
        return None

    def _queued(
        self, view: SchedulerView, system: System, recipe: Recipe, own: SystemRank, weights: Weights | None
    ) -> Iterator[tuple[SystemRank, int]]:
        """Yield ranked queued recipes of higher priorities, and of the same ones those of earlier sets."""
        ranked = self._by_need(view, system, recipe, own, weights)
        is_sorted = weights is None and not view.queue_tree.has_turns
        return heapq.merge(*ranked) if is_sorted else iter(sorted(chain.from_iterable(ranked)))

    def _by_need(
        self, view: SchedulerView, system: System, recipe: Recipe, own: SystemRank, weights: Weights | None
    ) -> Iterator[Iterator[tuple[SystemRank, int]]]:
        """Yield the queued recipes of each need that precede `own`; without weights they are in order."""
        for submitter, queue in view.queues[None]:
            highest_priority = self._matcher.highest_priority(submitter, system)
            if highest_priority is not None:
                precedes = partial(_precedes, own, highest_priority)
                for need in self._matcher.obtainable_needs(queue, system, AFTER_ALL):
                    recipes = (view.recipes[rank[2]] for rank in takewhile(precedes, queue.ranks_of(need)))
                    yield self._ranked(view, system, self._in_line(view, recipe, recipes), weights)

    def _in_line(self, view: SchedulerView, recipe: Recipe, others: Iterator[Recipe]) -> Iterator[Recipe]:
        """Return the recipes that stand in one line with a recipe: all, if bound ones always come first."""
        if view.bound_first or not view.queue_tree.has_turns:
            return others
        queue = view.queue_of(recipe.set_id)
        return (other for other in others if view.queue_of(other.set_id) == queue)

    def _ranked(
        self, view: SchedulerView, system: System, recipes: Iterator[Recipe], weights: Weights | None
    ) -> Iterator[tuple[SystemRank, int]]:
        for recipe in recipes:
            # Recipes that were assigned in the batch are no longer queued; sets held back stand in no line.
            if recipe.state == "queued" and not is_held_back(view, recipe.set_id):
                bound_first = view.bound_first
                yield (
                    rank_on(view, self._matcher, recipe, system, bound_first=bound_first, weights=weights),
                    recipe.recipe_id,
                )


def _precedes(own: SystemRank, highest_priority: int, rank: Rank) -> bool:
    """Return whether a queued recipe is of a higher priority there, or of the same one and an earlier set.

    Later ranks of a queue do not precede if one does not.
    """
    nominal, submission, _ = rank
    preceding = max(nominal, highest_priority), nominal, submission
    return preceding < (own.effective, own.nominal, own.submission)


def _shown(number: int | None) -> str:
    return "nobody" if number is None else f"recipe/{number}"
