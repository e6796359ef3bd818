"""The invariant of claims at the basis of their decision: the right to a system, and its loss."""

from __future__ import annotations

from collections.abc import Iterator

from replay.audit.admission import effect, is_held_back
from replay.audit.claimants import claimant_of
from replay.audit.grants import DecisionInvariant
from replay.audit.invariant import Violations
from replay.audit.queues import AFTER_ALL, OWED
from replay.audit.record import EventRecord
from replay.audit.room_order import is_room_kept_from
from replay.audit.scheduler_view import SchedulerView
from replay.audit.tables import CLAIMED, FREE, NO_ROOM, SYSTEM_AWAY, URGENCY
from replay.audit.values import Recipe, System


class RightfulClaims(DecisionInvariant):
    """A recipe claims a busy system that it could have later, and loses the claim only with this right.

    Of several recipes that force a system the first one claims it, by nominal priority and submission. Only a
    recipe that could get its first system claims one that it does not force. A claimant that could not get it
    when the system asks loses the claim.
    """

    name = "rightful_claims"

    def check_claim(self, view: SchedulerView, recipe: Recipe, record: EventRecord) -> Violations:
        system = view.systems.get(record.data["system"])
        if record.topic == CLAIMED:
            faults = self._faults_of_claim(view, recipe, system, is_forced=record.data["forced"])
        else:
            faults = self._faults_of_end(view, recipe, system, record.data["reason"])
        for fault in faults:
            subjects = recipe.subject, f"system/{record.data['system']}"
            yield self.violation([record.position], subjects, fault)

    def check_idle(self, view: SchedulerView, system: System, record: EventRecord) -> Violations:
        """Check that a claim to a pending system has ended if its claimant may have no first system."""
        claimant = claimant_of(view, system)
        is_left = claimant is not None and self._matcher.could_take(claimant, system)
        if claimant is not None and is_left and self._lacks_room(view, claimant):
            what = f"{system.fqdn} became idle, but {claimant.subject} claims it without room for its set"
            yield self.violation([record.position], [claimant.subject, system.subject], what)

    def _faults_of_claim(
        self, view: SchedulerView, recipe: Recipe, system: System | None, *, is_forced: bool
    ) -> Iterator[str]:
        if system is None or not self._matcher.could_take(recipe, system):
            yield "it claims a system that it cannot have"
            return
        if system.recipe_id is None:
            yield f"it claims {system.fqdn}, which is {system.usage} without a recipe"
        if effect(view, recipe.set_id) is not None:
            yield f"it claims {system.fqdn}, but its set {effect(view, recipe.set_id)}"
        elif not is_forced and self._lacks_room(view, recipe):
            yield f"it claims {system.fqdn} without room for its set"
        first = next(self._forcing_before(view, recipe, system), None) if is_forced else None
        if first is not None:
            yield f"it claims {system.fqdn}, but {first.subject} forces it and comes first"

    def _faults_of_end(
        self, view: SchedulerView, recipe: Recipe, system: System | None, reason: str
    ) -> Iterator[str]:
        can_have = system is not None and self._matcher.could_take(recipe, system)
        if reason == SYSTEM_AWAY and can_have and not _forces_otherwise(recipe):
            yield "its claim ended as if the system were away, but it could have the system"
        if reason == NO_ROOM and system is not None and system.usage not in FREE:
            yield f"its claim ended without room, but {system.fqdn} is {system.usage}"
        if reason == NO_ROOM and not self._lacks_room(view, recipe):
            yield "its claim ended without room, but its set has room and is not held back"

    def _lacks_room(self, view: SchedulerView, recipe: Recipe) -> bool:
        return is_held_back(view, recipe.set_id) or is_room_kept_from(view, self._matcher, recipe.set_id)

    def _forcing_before(self, view: SchedulerView, recipe: Recipe, system: System) -> Iterator[Recipe]:
        """Yield the waiting recipes that force a system, could have it later, and come before a recipe."""
        own = _place(view, recipe)
        for lab in (system.lab, OWED, None):
            for _, queue in view.queues[lab]:
                for need in self._matcher.obtainable_needs(queue, system, AFTER_ALL):
                    if need.requirements.forced != system.fqdn.casefold():
                        continue
                    for rank in queue.ranks_of(need):
                        other = view.recipes[rank[2]]
                        is_before = _place(view, other) < own and effect(view, other.set_id) is None
                        if is_before and self._matcher.could_take(other, system):
                            yield other


def _forces_otherwise(recipe: Recipe) -> bool:
    """Return whether a change of its requirements made a claimant force its system, or no longer."""
    claim, forced = recipe.claim, recipe.requirements.forced
    return claim is not None and claim.forced is not (forced == claim.system.casefold())


def _place(view: SchedulerView, recipe: Recipe) -> tuple[int, int, int]:
    recipe_set = view.sets[recipe.set_id]
    return URGENCY[recipe_set.priority], recipe_set.submission, recipe.recipe_id
