"""The decision on a pending system (design section 4.2): grant it to a recipe, or make it idle."""

from __future__ import annotations

from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.overtaking import grant_in_order
from domain.scheduling.decisions.room_order import first_for_system, first_rival
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import Trigger
from domain.system.events import SystemIdle


def pending_system(partition: Partition, trigger: Trigger) -> Decision:
    """Return a grant to the first recipe in rank order whose grant is safe; otherwise the system is idle."""
    draft = Draft(partition, trigger)
    _grant_first(draft, trigger.name)
    if not draft:
        draft.add([(f"system/{trigger.name}", SystemIdle())])
    return draft.decision()


def _grant_first(draft: Draft, fqdn: str) -> None:
    partition = draft.partition
    system, number = partition.systems[fqdn], partition.labs.number(fqdn)
    if not partition.available.usable(forced=True) >> number & 1:
        return
    while (host := first_for_system(partition, number)) is not None:
        rival = first_rival(partition, host, number)
        if rival is None:
            grant_in_order(draft, host, system)
            return
        grant_in_order(draft, rival.host, partition.system(rival.number))
