"""The invariant of the order of room: no first grant takes the room of a set that could have used it."""

from __future__ import annotations

from collections.abc import Iterator

from replay.audit.admission import holds_nothing, lacking
from replay.audit.claimants import first_claimant
from replay.audit.competing_sets import is_order_settled
from replay.audit.first_in_turn import first_in_turn
from replay.audit.grants import DecisionInvariant, Grant
from replay.audit.invariant import Violations
from replay.audit.ranking import eligible_before, rank_on
from replay.audit.room_order import first_for_room, gets_room_before, sets_in_line, would_lack
from replay.audit.rooms import Limit
from replay.audit.safety import could_take_safely
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import FREE
from replay.audit.values import Recipe, System
from replay.audit.weights import weights_at


class NoRoomJumped(DecisionInvariant):
    """A set gets the last room only if it is first of all that would lack only this room and could use it.

    Such a set could have a free system: another one than the granted one, on which the order of the system
    decides. It could have an idle or pending system if one of its recipes is the first there that could take
    it: the claimant of the system, or else the first in its order.
    """

    name = "no_room_jumped"

    def __init__(self, matcher: SystemMatcher, *, with_claims: bool) -> None:
        super().__init__(matcher)
        self._with_claims = with_claims

    def check_grant(self, view: SchedulerView, grant: Grant) -> Violations:
        recipe, system, record = grant
        is_first = holds_nothing(view, recipe.set_id) and not grant.is_preemption
        if not is_first or not view.needs(recipe.set_id):
            return
        rivals = dict(self._rivals(view, recipe, system))
        first = first_for_room(view, [recipe.set_id, *rivals])
        if first != recipe.set_id:
            limit, other, free = rivals[first]
            what = f"it took the last room under {limit}, but {other.subject} could have had {free.fqdn}"
            subjects = recipe.subject, system.subject, f"recipe-set/{first}", other.subject, free.subject
            yield self.violation([record.position], subjects, what)

    def _rivals(
        self, view: SchedulerView, recipe: Recipe, granted: System
    ) -> Iterator[tuple[int, tuple[Limit, Recipe, System]]]:
        """Yield the other sets that would lack room after the grant and could have a free system.

        Each has the limit, one of its recipes and the system. If the order of the two sets depends on no
        other set, only a set that comes before is yielded.
        """
        for number in sets_in_line(view):
            limit = would_lack(view, number, recipe.set_id)
            if limit is None or lacking(view, number):
                continue
            is_before = gets_room_before(view, number, recipe.set_id)
            if not is_before and is_order_settled(view, number, recipe.set_id):
                continue
            found = next(self._free_systems(view, number, granted), None)
            if found is not None:
                yield number, (limit, *found)

    def _free_systems(
        self, view: SchedulerView, set_id: int, granted: System
    ) -> Iterator[tuple[Recipe, System]]:
        """Yield the recipes of a set with the free systems that each could have, without the granted one."""
        for free in list(view.systems.values()):
            if free.usage in FREE and free.fqdn != granted.fqdn:
                for host in view.hosts(set_id):
                    takes = could_take_safely(view, self._matcher, host, free)
                    if takes and self._is_first(view, host, free):
                        yield host, free

    def _is_first(self, view: SchedulerView, host: Recipe, free: System) -> bool:
        claimant = first_claimant(view, self._matcher, free) if self._with_claims else None
        if claimant is not None:
            return claimant is host
        if view.queue_tree.has_turns:
            return first_in_turn(view, self._matcher, free) is host
        weights, bound_first = weights_at(view, view.now), view.bound_first
        rank = rank_on(view, self._matcher, host, free, bound_first=bound_first, weights=weights)
        return next(eligible_before(view, self._matcher, free, rank, weights), None) is None
