"""Who takes this system (design section 4.2): asked when it is pending, and again when something eased."""

from __future__ import annotations

from collections.abc import Iterator

from domain.scheduling.bitmaps import numbers_in
from domain.scheduling.draft import Decision, Draft
from domain.scheduling.filters import QUEUED
from domain.scheduling.granting import grant, is_safe
from domain.scheduling.heads import Rank
from domain.scheduling.partition import Partition
from domain.scheduling.triggers import Trigger
from domain.scheduling.wanted import wanted
from domain.system.events import SystemIdle
from domain.system.state import System

EVERY_SYSTEM = -1


def pending_system(partition: Partition, trigger: Trigger) -> Iterator[Decision]:
    """Nobody: idle."""
    draft = Draft(partition, trigger)
    _ask(draft, trigger.name)
    if not draft:
        draft.happen([(f"system/{trigger.name}", SystemIdle())])
    yield draft.decision()


def wake_up(partition: Partition, trigger: Trigger) -> Iterator[Decision]:
    """Ask idle systems once more; a decision for each that somebody takes."""
    partition.triggers.take_quiet()
    yield from _ask_idle(partition, trigger, partition.asked_by(trigger.name))


def ask_all(partition: Partition, trigger: Trigger) -> Iterator[Decision]:
    """Ask every idle system, for who doubts that the wake-ups were enough."""
    yield from _ask_idle(partition, trigger, EVERY_SYSTEM)


def _ask_idle(partition: Partition, trigger: Trigger, asked: int) -> Iterator[Decision]:
    """Only those are asked that somebody could use, by name."""
    for fqdn in sorted(partition.labs.names[number] for number in numbers_in(wanted(partition, asked))):
        draft = Draft(partition, trigger)
        _ask(draft, fqdn)
        if draft:
            yield draft.decision()


def _ask(draft: Draft, fqdn: str) -> None:
    """Line by line, each in rank order, the first that may have it."""
    partition = draft.partition
    system, number = partition.systems[fqdn], partition.labs.number(fqdn)
    if not partition.available.usable(forced=True) >> number & 1:
        return
    for rank in in_order(partition, system):
        host = partition.sets.recipes[rank[-1]]
        if is_safe(partition, host, number):
            grant(draft, host, system)
            return


def in_order(partition: Partition, system: System) -> Iterator[Rank]:
    """The recipes that might have a system, as it asks them, while nothing changes."""
    forced_only = is_for_forced_only(partition, system)
    for line in lines_of(system):
        yield from partition.filters.takers(system.fqdn, line, forced_only=forced_only)


def is_for_forced_only(partition: Partition, system: System) -> bool:
    """Whether only recipes that name it by force may have it."""
    return not partition.available.usable(forced=False) >> partition.labs.number(system.fqdn) & 1


def lines_of(system: System) -> tuple[str, ...]:
    """First the assigned recipes of its lab, then the queued ones."""
    return system.lab_controller, QUEUED
