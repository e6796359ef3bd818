"""The decision on a pending system (design section 4.2): grant it to a recipe, or make it idle."""

from __future__ import annotations

from domain.scheduling.decisions.claiming import end_without_room
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.decisions.overtaking import grant_in_order
from domain.scheduling.decisions.room_order import first_for_system, first_rival
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import Trigger
from domain.system.events import SystemIdle


def pending_system(partition: Partition, trigger: Trigger) -> Decision:
    """Return a grant to the claimant, or to the first recipe in rank order, whose grant is safe.

    Without any, the system is idle.
    """
    draft = Draft(partition, trigger)
    if not _grant_first(draft, trigger.name):
        draft.add([(f"system/{trigger.name}", SystemIdle())])
    return draft.decision()


def _grant_first(draft: Draft, fqdn: str) -> bool:
    """Add the grant of a system, and those that must come before it; return whether there is any grant."""
    partition = draft.partition
    system, number = partition.systems[fqdn], partition.labs.number(fqdn)
    if not partition.available.usable(forced=True) >> number & 1:
        return False
    end_without_room(draft, fqdn)
    is_any = False
    while (host := first_for_system(partition, number)) is not None:
        rival = first_rival(partition, host, number)
        if rival is None:
            grant_in_order(draft, host, system)
            return True
        grant_in_order(draft, rival.host, partition.system(rival.number))
        is_any = True
        end_without_room(draft, fqdn)
    return is_any
