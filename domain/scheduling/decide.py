"""From triggers to decisions: a pure function of the partition, which is the log up to its basis.

A decision is a value; the scheduler process commits it, and says afterwards whether it is in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime

from domain.scheduling.draft import Decision
from domain.scheduling.let_go import let_go
from domain.scheduling.new_job import new_job
from domain.scheduling.partition import Partition
from domain.scheduling.question import pending_system, wake_up
from domain.scheduling.triggers import LET_GO, NEW_JOB, PENDING_SYSTEM, WAKE_UP, Trigger

# 4: access policies, loans, and effective priorities; a reason for who waits, and which labs a set fits in.
# Decisions of 3 knew nothing of these: any system served everybody, by nominal priority.
# 5: the repairs that CHANGELOG.md lists under "Decisions".
POLICY_VERSION = 5

ANSWERS: dict[str, Callable[[Partition, Trigger], Iterator[Decision]]] = {
    NEW_JOB: new_job,
    PENDING_SYSTEM: pending_system,
    LET_GO: let_go,
    WAKE_UP: wake_up,
}


def decide(
    partition: Partition, limit: int, now: datetime | None = None, behind: int | None = None
) -> list[Decision]:
    """Answer triggers in log order, each seeing the decisions before it, until there are `limit` or more.

    Tell the partition afterwards whether they were `committed` or `refused`. Without any there is nothing to
    commit, and what was asked is answered. They happen `now`; without that, nobody means to commit them.
    Who makes them again knows the position they are `behind` (`Partition.suppose_at`).
    """
    decisions: list[Decision] = []
    partition.suppose_at(now, behind)
    while len(decisions) < limit and (trigger := partition.triggers.first()):
        decisions.extend(ANSWERS[trigger.kind](partition, trigger))
    if not decisions:
        partition.triggers.committed()
    return decisions


def answers(partition: Partition) -> Iterator[Decision]:
    """The same decisions one by one, for who wants to look at what is known between two of them."""
    while trigger := partition.triggers.first():
        yield from ANSWERS[trigger.kind](partition, trigger)
