"""Invariants of grants, checked against the scheduler's view at the time of the decision."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from replay.audit.admission import effect, holds_nothing, lacking
from replay.audit.claimants import first_claimant
from replay.audit.competing_sets import (
    CompetingSet,
    is_between_leaves,
    is_order_settled,
    queue_is_before,
    share_one_line,
)
from replay.audit.first_in_turn import first_in_turn
from replay.audit.invariant import Invariant, Violations
from replay.audit.matching import unplaced_hosts
from replay.audit.ranking import SystemRank, eligible_before, eligible_recipes, rank_on
from replay.audit.record import EventRecord, RecordedDecision
from replay.audit.room_order import is_room_kept_from
from replay.audit.safety import could_take_safely, is_safe, stuck_holders
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import FREE, PRIORITIES
from replay.audit.values import Recipe, System
from replay.audit.weights import Weights, weights_at

PREEMPTION = "timer/preemption/"


class Grant(NamedTuple):
    """A decision's event that gives a system to a recipe without one."""

    recipe: Recipe
    system: System
    record: EventRecord

    @property
    def is_preemption(self) -> bool:
        """Return whether the set took the system from another one, outside of any order."""
        return self.record.cause.startswith(PREEMPTION)


class DecisionInvariant(Invariant):
    """Invariants of a decision: `view` is the state at its basis, with earlier decisions of the commit."""

    def __init__(self, matcher: SystemMatcher) -> None:
        self._matcher = matcher

    def check_begin(self, view: SchedulerView, decision: RecordedDecision) -> Violations:
        """Check a decision before its first event."""
        yield from ()

    def check_grant(self, view: SchedulerView, grant: Grant) -> Violations:
        """Check an event before the system is given to the recipe."""
        yield from ()

    def check_idle(self, view: SchedulerView, system: System, record: EventRecord) -> Violations:
        """Check an event before a pending system becomes idle."""
        yield from ()

    def check_claim(self, view: SchedulerView, recipe: Recipe, record: EventRecord) -> Violations:
        """Check an event before it begins or ends a claim of a recipe."""
        yield from ()

    def check_start(self, view: SchedulerView, recipe: Recipe, record: EventRecord) -> Violations:
        """Check an event before it gives a recipe its locks."""
        yield from ()

    def check_decision(self, view: SchedulerView, decision: RecordedDecision) -> Violations:
        """Check a decision after its last event."""
        yield from ()


class UsableGrant(DecisionInvariant):
    """A granted system was free or already with the recipe, and usable for it."""

    name = "usable_grant"

    def check_grant(self, view: SchedulerView, grant: Grant) -> Violations:
        recipe, system, record = grant
        subjects = recipe.subject, system.subject
        if system.usage not in FREE and system.recipe_id != recipe.recipe_id:
            what = f"{system.fqdn} was {system.usage} with recipe {system.recipe_id}"
            yield self.violation([record.position], subjects, what)
        is_readable = self._matcher.is_readable(view.need(recipe))
        if is_readable and not self._matcher.is_obtainable_for(recipe, system):
            yield self.violation([record.position], subjects, f"{system.fqdn} is not usable for it")


class LentSystem(DecisionInvariant):
    """A system on loan goes only to recipes of its borrower."""

    name = "lent_system"

    def check_grant(self, view: SchedulerView, grant: Grant) -> Violations:
        recipe, system, record = grant
        if self._matcher.is_lent_away(recipe, system):
            loan = f"{system.fqdn} is on loan to {system.borrower}"
            whose = f"{recipe.subject} belongs to {recipe.submitter}"
            what = f"grant of a system on loan to another: {loan}, {whose}"
            yield self.violation([record.position], [recipe.subject, system.subject], what)


class AllowedGrant(DecisionInvariant):
    """A system goes only to recipes whose owner or group may submit to it."""

    name = "allowed_grant"

    def check_grant(self, view: SchedulerView, grant: Grant) -> Violations:
        recipe, system, record = grant
        if not self._matcher.may_submit(recipe, system):
            whose = f"{recipe.subject} belongs to {recipe.submitter}"
            what = f"grant without access: {whose}, who may not submit to {system.fqdn}"
            yield self.violation([record.position], [recipe.subject, system.subject], what)


class Admitted(DecisionInvariant):
    """A first system goes only to sets with room that no dependency and no job filter holds back."""

    name = "admitted"

    def check_grant(self, view: SchedulerView, grant: Grant) -> Violations:
        recipe, system, record = grant
        if not holds_nothing(view, recipe.set_id):
            return
        subjects = recipe.subject, f"recipe-set/{recipe.set_id}", system.subject
        for fault in self._faults(view, recipe.set_id, grant.is_preemption):
            yield self.violation([record.position], subjects, fault)

    def _faults(self, view: SchedulerView, set_id: int, is_preemption: bool) -> Iterator[str]:
        held_back, without_room = effect(view, set_id), lacking(view, set_id)
        if held_back is not None:
            yield f"by its admission, its set {held_back}"
        if without_room:
            yield f"its set has no room under {' and '.join(map(str, without_room))}"
        elif not is_preemption and is_room_kept_from(view, self._matcher, set_id):
            # Victims change the order of queues: for a preemption the order before it counts.
            yield "the room that its set needs is kept for a set before it, which needs more"


class NobodyJumped(DecisionInvariant):
    """No recipe that ranks before the recipe of a grant could have taken the system safely.

    A policy that answers triggers in batches is checked against the order at the beginning of the batch:
    recipes that the batch has assigned still rank as queued, and new sets are answered in rank order. A new
    set of several recipes is answered as a whole, by its nominal priority on each system. Whether recipes
    bound to a lab rank first (`bound_first`) depends on the policy, or with None on the configuration. A
    policy `by_weight` compares weights before the submission. While no unfinished recipe declares locks, all
    sets weigh the same before ageing, so that the submission alone decides. A policy by weight also follows
    the orders of queues. In a policy `with_claims` the claimant of a system comes before all other recipes.
    """

    name = "nobody_jumped"

    def __init__(
        self,
        matcher: SystemMatcher,
        *,
        in_batches: bool,
        bound_first: bool | None,
        by_weight: bool,
        with_claims: bool,
    ) -> None:
        super().__init__(matcher)
        self._with_claims = with_claims
        self._in_batches = in_batches
        self._bound_first = bound_first
        self._by_weight = by_weight
        self._weights: Weights | None = None

    def check_grant(self, view: SchedulerView, grant: Grant) -> Violations:
        recipe, system, record = grant
        if grant.is_preemption:
            return
        claimant = first_claimant(view, self._matcher, system) if self._with_claims else None
        if claimant is None:
            yield from self._check_order(view, grant)
        elif claimant is not recipe:
            what = f"claim passed over: {claimant.subject} claims {system.fqdn} and could take it"
            yield self.violation([record.position], [recipe.subject, claimant.subject, system.subject], what)

    def _check_order(self, view: SchedulerView, grant: Grant) -> Violations:
        recipe, system, _ = grant
        weights = self._weights = weights_at(view, view.now) if self._by_weight else None
        rank = self._rank_on(view, recipe, system)
        is_new = self._in_batches and view.answering == recipe.set_id
        if self._by_weight and view.queue_tree.has_turns:
            others = self._out_of_turn(view, recipe, system, is_new=is_new)
        else:
            others = eligible_before(view, self._matcher, system, rank, weights)
            others = chain(others, self._new_before(view, recipe, system) if is_new else ())
        for other in others:
            other_rank = self._rank_on(view, other, system)
            ranks = " ".join(
                (
                    f"{other.subject} ({self._shown(other_rank)}), which ranks before",
                    f"{recipe.subject} ({self._shown(rank)})",
                )
            )
            what = f"{system.fqdn} passed over {ranks}"
            subjects = recipe.subject, other.subject, system.subject
            yield self.violation([grant.record.position], subjects, what)
            return

    def _rank_on(self, view: SchedulerView, recipe: Recipe, system: System) -> SystemRank:
        bound_first = view.bound_first if self._bound_first is None else self._bound_first
        weights = self._weights
        return rank_on(view, self._matcher, recipe, system, bound_first=bound_first, weights=weights)

    def _shown(self, rank: SystemRank) -> str:
        if self._weights is None:
            return str(rank)
        return f"{rank}, weight {rank.weight / 1_000 / self._weights.settings.ticks:g}"

    def _out_of_turn(
        self, view: SchedulerView, recipe: Recipe, system: System, *, is_new: bool
    ) -> Iterator[Recipe]:
        """Yield recipes whose turn it was while queues have turns: the first one in the order of the system.

        A new set is answered as a whole, so only its first grant is compared with other new sets of the
        batch: only with those in its leaf or in a leaf of the same parent, or where the parent at which their
        paths part is `fair` or was a leaf.
        """
        first = first_in_turn(view, self._matcher, system, [recipe] if is_new else [])
        if first is not None and first is not recipe and not (is_new and first.set_id == recipe.set_id):
            yield first
        if not is_new or not holds_nothing(view, recipe.set_id):
            return
        rank = self._rank_of_new(view, recipe, system)
        for number in view.new_sets.up_to_priority(len(PRIORITIES), view.batch):
            for other in () if number == recipe.set_id else view.hosts(number):
                theirs = self._rank_on(view, other, system)
                if self._is_before(view, (number, theirs), (recipe.set_id, rank)) and could_take_safely(
                    view, self._matcher, other, system
                ):
                    yield other

    def _is_before(
        self, view: SchedulerView, one: tuple[int, SystemRank], other: tuple[int, SystemRank]
    ) -> bool:
        """Return whether a new set is certainly before another one: False if other sets may decide that."""
        (number, theirs), (own, rank) = one, other
        competing = [CompetingSet(each, len(PRIORITIES) - there.effective) for each, there in (one, other)]
        before = queue_is_before(view, *competing)
        if before is None:
            return share_one_line(view, number, own) and theirs < rank
        return before and (is_order_settled(view, number, own) or is_between_leaves(view, number, own))

    def _rank_of_new(self, view: SchedulerView, recipe: Recipe, system: System) -> SystemRank:
        """Return the rank of a recipe of a new set, which has its nominal priority in a set of several."""
        rank = self._rank_on(view, recipe, system)
        if len(view.hosts(recipe.set_id)) == 1:
            return rank
        return rank._replace(tier=2 if rank.tier else 0, line=1, effective=rank.nominal)

    def _new_before(self, view: SchedulerView, recipe: Recipe, system: System) -> Iterator[Recipe]:
        """Yield the recipes of new sets of the batch that rank before a new one and could take its system."""
        rank = self._rank_of_new(view, recipe, system)
        if self._weights is None:
            numbers = view.new_sets.before(view.sets[recipe.set_id], rank.effective, view.batch)
        else:
            numbers = view.new_sets.up_to_priority(rank.effective, view.batch)
        for number in numbers:
            for other in () if number == recipe.set_id else view.hosts(number):
                ranks_before = self._rank_on(view, other, system) < rank
                if ranks_before and could_take_safely(view, self._matcher, other, system):
                    yield other


class NobodyOverlooked(DecisionInvariant):
    """A pending system becomes idle only if no recipe in the queue could take it safely."""

    name = "nobody_overlooked"

    def check_idle(self, view: SchedulerView, system: System, record: EventRecord) -> Violations:
        for recipe in eligible_recipes(view, self._matcher, system):
            what = f"{system.fqdn} became idle, but {recipe.subject} could take it"
            yield self.violation([record.position], [recipe.subject, system.subject], what)
            return


class NoUnsafeGrant(DecisionInvariant):
    """Every holder of the lab can be completed after a grant that does not complete its set."""

    name = "no_unsafe_grant"

    def __init__(self, matcher: SystemMatcher) -> None:
        super().__init__(matcher)
        self._grants: list[Grant] = []

    def check_grant(self, view: SchedulerView, grant: Grant) -> Violations:
        self._grants.append(grant)
        yield from ()

    def check_decision(self, view: SchedulerView, decision: RecordedDecision) -> Violations:
        grants, self._grants = self._grants, []
        for recipe, system, record in grants:
            if not unplaced_hosts(view, recipe.set_id):
                continue
            if not is_safe(view, self._matcher, system.lab):
                left = [f"recipe-set/{number}" for number in stuck_holders(view, self._matcher, system.lab)]
                what = f"after the grant of {system.fqdn}, {', '.join(left)} cannot be completed"
                yield self.violation([record.position], [recipe.subject, system.subject, *left], what)
