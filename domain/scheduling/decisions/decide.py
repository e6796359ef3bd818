"""Decisions as a function of the partition, which is folded from the log up to the basis.

A decision is a value. The scheduler process appends its events to the log, then confirms or rolls back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from domain.intake_states import STOPPED
from domain.queues.tree import WITHOUT_CONFIGURATION
from domain.scheduling.decisions.claiming import ClaimChange, change_claims, claim_changes
from domain.scheduling.decisions.draft import Decision, with_batch
from domain.scheduling.decisions.ending_sets import Ending, end_set, ending_sets
from domain.scheduling.decisions.let_go import let_go, stuck_lab
from domain.scheduling.decisions.lock_grants import grant_locks
from domain.scheduling.decisions.new_job import new_job
from domain.scheduling.decisions.new_sets import next_new_set
from domain.scheduling.decisions.pending_system import pending_system
from domain.scheduling.decisions.wake_up_grants import WakeUpGrants, wakes_of
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import (
    ADMISSION,
    CLAIMS,
    LET_GO,
    LOCKS,
    NEW_JOB,
    PENDING_SYSTEM,
    WAKE_UP,
)

# 4: access policies, loans, and effective priorities; a reason for recipes that wait, and the labs in which a
# set fits. Version 3 had none of these: any system served any recipe, by nominal priority.
# 5: the changes that CHANGELOG.md lists under "Decisions (policy version 5)".
# 6: priorities rank before assignment (`order.assigned_first`), then weights; sets wait for their locks.
# 7: maxima and states of queues. Without configured queues, version 6 decides alike.
# 8: claims; preemption is a decision of timers. Without them, version 7 decides alike.
POLICY_VERSION: Final = 8
WITHOUT_CLAIMS: Final = 7
WITHOUT_QUEUES: Final = 6

Answer = Callable[[], Decision]


def decide(
    partition: Partition, limit: int, now: datetime | None = None, policy_version: int = POLICY_VERSION
) -> list[Decision]:
    """Return up to `limit` decisions that answer triggers of one batch; each one sees those before it.

    A stopped partition decides nothing: its triggers wait until it is started.

    Afterwards call `confirm` or `rollback` of the partition; after an empty result call neither. `now` is the
    time of the decisions, None if they will not be committed. `policy_version` is one that `decides_alike`.
    """
    if partition.state == STOPPED:
        return []
    partition.begin_tentative(now)
    answering = _Answering(partition, policy_version)
    decisions: list[Decision] = []
    while (answer := answering.next()) is not None and len(decisions) < limit:
        decisions.append(answer())
    if not decisions:
        partition.answered()
    return with_batch(partition, decisions)


def decides_alike(partition: Partition, policy_version: int) -> bool:
    """Return whether decisions of a policy version follow from the present rules in this partition."""
    if policy_version == WITHOUT_QUEUES:
        return partition.sets.admission.tree == WITHOUT_CONFIGURATION
    return policy_version in (WITHOUT_CLAIMS, POLICY_VERSION)


def iter_decisions(partition: Partition) -> Iterator[Decision]:
    """Yield the decisions one by one; the caller begins the tentative state and rolls it back."""
    answering = _Answering(partition, POLICY_VERSION)
    while (answer := answering.next()) is not None:
        yield answer()


class _Answering:
    """The answers of the unfinished batch, or of a new one if there is none. Mutable."""

    def __init__(self, partition: Partition, policy_version: int) -> None:
        self._partition = partition
        self._has_claims = policy_version > WITHOUT_CLAIMS
        self._wake_up_grants: WakeUpGrants | None = None
        self._ending: Iterator[Ending] | None = None
        self._claims: Iterator[ClaimChange] | None = None
        self._has_begun = False

    def next(self) -> Answer | None:
        """Return the function that makes the next decision; None when the batch is answered.

        The decision is not made yet. So a caller that has enough decisions knows whether a trigger is left.
        """
        if not self._has_begun:
            self._begin()
        answer = self._find()
        if answer is None and not self._has_begun:
            # The rest of an earlier batch led to no decision, so begin a new batch.
            self._wake_up_grants = self._ending = self._claims = None
            self._begin()
            answer = self._find()
        self._has_begun = True
        return answer

    def _begin(self) -> None:
        """Begin a new batch unless one is unfinished; newly assigned recipes then rank as assigned."""
        if self._partition.triggers.left() is None:
            self._partition.sets.end_batch()
        self._partition.triggers.begin(self._partition.position)
        self._partition.triggers.rank_again()
        if not self._has_claims:
            self._partition.triggers.finish(CLAIMS)

    def _find(self) -> Answer | None:
        triggers = self._partition.triggers
        while (kind := triggers.left()) is not None:
            answer = _FIND[kind](self)
            if answer is not None:
                return answer
            triggers.finish(kind)
        return None

    def admission(self) -> Answer | None:
        if self._ending is None:
            self._ending = ending_sets(self._partition)
        ending = next(self._ending, None)
        return None if ending is None else lambda: end_set(self._partition, ending)

    def locks(self) -> Answer | None:
        recipe_set_id = self._partition.locks.next()
        if recipe_set_id is None:
            return None
        # The last trigger, because a restarted scheduler may answer earlier ones again that had no result.
        trigger = self._partition.triggers.of_batch(LOCKS)[-1]
        return lambda: grant_locks(self._partition, trigger, recipe_set_id)

    def let_go(self) -> Answer | None:
        trigger = stuck_lab(self._partition)
        return None if trigger is None else lambda: let_go(self._partition, trigger)

    def pending_system(self) -> Answer:
        trigger = self._partition.triggers.first(PENDING_SYSTEM)
        return lambda: pending_system(self._partition, trigger)

    def wake_up(self) -> Answer | None:
        if self._wake_up_grants is None:
            wake_ups = self._partition.triggers.of_batch(WAKE_UP)
            self._wake_up_grants = WakeUpGrants(self._partition, wakes_of(self._partition, wake_ups))
        return None if self._wake_up_grants.next() is None else self._wake_up_grants.grant_next

    def claims(self) -> Answer | None:
        if self._claims is None:
            self._claims = claim_changes(self._partition)
        change = next(self._claims, None)
        return None if change is None else lambda: change_claims(self._partition, change)

    def new_job(self) -> Answer:
        trigger = next_new_set(self._partition)
        return lambda: new_job(self._partition, trigger)


_FIND: Final[dict[str, Callable[[_Answering], Answer | None]]] = {
    ADMISSION: _Answering.admission,
    LOCKS: _Answering.locks,
    LET_GO: _Answering.let_go,
    PENDING_SYSTEM: _Answering.pending_system,
    WAKE_UP: _Answering.wake_up,
    NEW_JOB: _Answering.new_job,
    CLAIMS: _Answering.claims,
}
