"""Invariants of decisions that give locks: all at once, as declared, in order, and as soon as possible."""

from __future__ import annotations

from replay.audit.awaited_locks import claims, own_locks, wish_of, wishes
from replay.audit.grants import DecisionInvariant
from replay.audit.invariant import Violations
from replay.audit.locks import NO_LOCKS, covers, readable, taken
from replay.audit.record import EventRecord, RecordedDecision
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import CLAIM_ENDED, GIVEN_UP
from replay.audit.values import Recipe

ENDS = frozenset(f"recipe.{state}" for state in GIVEN_UP)


class DeclaredLocks(DecisionInvariant):
    """A recipe takes no locks that it does not declare, and a guest none: its host holds them."""

    name = "locks_covered"

    def check_start(self, view: SchedulerView, recipe: Recipe, record: EventRecord) -> Violations:
        declared = NO_LOCKS if recipe.is_guest else own_locks(view, recipe)
        if not covers(taken(declared), taken(readable(record.data.get("locks")))):
            what = "its locks are not covered by those that it declares"
            yield self.violation([record.position], [recipe.subject], what)


class LocksAllAtOnce(DecisionInvariant):
    """A set gets all locks of all its recipes in one decision, or none."""

    name = "locks_all_at_once"

    def __init__(self, matcher: SystemMatcher) -> None:
        super().__init__(matcher)
        # The first event that gives locks to a set, in this decision.
        self._started: dict[int, EventRecord] = {}

    def check_start(self, view: SchedulerView, recipe: Recipe, record: EventRecord) -> Violations:
        self._started.setdefault(recipe.set_id, record)
        if not recipe.is_guest:
            lacks = not covers(readable(record.data.get("locks")), taken(own_locks(view, recipe)))
            if lacks:
                what = "it gets only a part of the locks that it declares"
                yield self.violation([record.position], [recipe.subject], what)

    def check_decision(self, view: SchedulerView, decision: RecordedDecision) -> Violations:
        started, self._started = self._started, {}
        for number, record in started.items():
            late = [member.subject for member in view.members(number) if not member.has_started]
            if late:
                what = "its set gets locks without these recipes"
                yield self.violation([record.position], [record.subject, f"recipe-set/{number}", *late], what)


class NoLockJumped(DecisionInvariant):
    """A set gets no locks that conflict with a claim of a set before it, by nominal priority and submission.

    A set that waits for locks claims them if it could have had them at that moment, or if it is owed them,
    because other sets have overtaken it too often.
    """

    name = "no_lock_jumped"

    def check_start(self, view: SchedulerView, recipe: Recipe, record: EventRecord) -> Violations:
        if not view.awaiting or any(member.has_started for member in view.members(recipe.set_id)):
            return
        wish = wish_of(view, recipe.set_id)
        for claim in claims(view, [other for other in wishes(view) if other.turn < wish.turn]):
            if claim.wish.conflicts(wish):
                number = claim.wish.set_id
                why = "could have had its locks" if claim.is_free else "is owed its locks"
                what = f"its locks conflict with those of recipe set {number}, which is before it and {why}"
                subjects = recipe.subject, f"recipe-set/{recipe.set_id}", f"recipe-set/{number}"
                yield self.violation([record.position], subjects, what)
                return


class NoLockOverlooked(DecisionInvariant):
    """No set begins to wait for locks that it could have, or still waits when a later trigger is answered.

    The scheduler asks the waiting sets before it answers the other triggers of a batch, but it may end sets
    before that. Sets that may have their locks only since a later event than the batch are asked in the next
    one.
    """

    name = "starts_with_locks"

    def check_decision(self, view: SchedulerView, decision: RecordedDecision) -> Violations:
        if not view.awaiting or any(record.topic == "recipe.locked" for record in decision.records):
            return
        is_asked = _comes_after_locks(decision) and view.eased_at <= decision.batch
        began = {record.name for record in decision.records if record.topic == "recipe.waiting"}
        for claim in claims(view, wishes(view)):
            number = claim.wish.set_id
            members = [member for member in view.members(number) if member.awaits_locks]
            begins = any(str(member.recipe_id) in began for member in members)
            if claim.is_free and (is_asked or begins):
                subjects = f"recipe-set/{number}", *(member.subject for member in members)
                what = "it waits for locks that it could have"
                yield self.violation([decision.records[0].position], subjects, what)


def _comes_after_locks(decision: RecordedDecision) -> bool:
    """Return whether waiting sets are asked before such a decision in the same batch."""
    if decision.records[0].cause.startswith("timer/"):
        return False
    topics = {record.topic for record in decision.records}
    return not topics & ENDS or bool(topics - ENDS - {CLAIM_ENDED})
