"""Maintenance windows: their systems are drained in time, and undrained after the end of the window.

The state of a system says which windows have drained it. Each run compares that with the windows that are to
drain now, so a run after a crash finds what is left to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from domain.directory.state import DirectoryEntry
from domain.maintenance.window import (
    KIND,
    begin_reason,
    candidates,
    covers,
    end_reason,
    is_draining,
    may_drain,
)
from domain.scheduling.decisions.draft import Decision, Draft
from domain.scheduling.world.partition import Partition
from domain.scheduling.world.triggers import TIMER, Trigger
from domain.system_admin.draining import begin_maintenance, end_maintenance

MAX_CHANGED: Final = 1_000
"""Maximum number of systems that one run drains or undrains; the next run continues."""


def begin_and_end_windows(partition: Partition, now: datetime) -> Iterator[Decision]:
    """Yield a decision for each window that begins or ends to drain systems of the partition."""
    windows = {int(number): entry for number, entry in partition.directory.items(KIND)}
    if not windows:
        return
    draining = {number for number, entry in windows.items() if is_draining(entry.document, now)}
    left = MAX_CHANGED
    # First, so that a system of two adjoining windows drains from the first to the last.
    for number in sorted(draining):
        fqdns = _to_begin(partition, number, windows[number])[:left]
        left -= len(fqdns)
        if fqdns:
            yield _begin(partition, number, windows[number], fqdns)
    for number, ended in sorted(_to_end(partition, draining).items()):
        fqdns = ended[:left]
        left -= len(fqdns)
        if fqdns:
            yield _end(partition, number, windows[number], fqdns)


def _to_begin(partition: Partition, number: int, entry: DirectoryEntry) -> list[str]:
    """Return the systems that a window covers and has not drained yet, by name."""
    directory, document = partition.directory, entry.document
    names = candidates(directory, document, partition.systems)
    systems = (partition.systems[name] for name in names if name in partition.systems)
    return sorted(
        system.fqdn
        for system in systems
        if number not in system.windows
        and number not in system.overridden_windows
        and system.condition != "Removed"
        and partition.has_lab(system.lab_controller)
        and covers(document, system.lab_controller, system.inventory)
        and may_drain(directory, entry, system)
    )


def _to_end(partition: Partition, draining: set[int]) -> dict[int, list[str]]:
    """Return, for each window that is over, the systems that it still drains."""
    ended: dict[int, list[str]] = {}
    for system in partition.systems.values():
        for number in (*system.windows, *system.overridden_windows):
            if number not in draining and partition.has_lab(system.lab_controller):
                ended.setdefault(number, []).append(system.fqdn)
    return {number: sorted(fqdns) for number, fqdns in ended.items()}


def _begin(partition: Partition, number: int, entry: DirectoryEntry, fqdns: list[str]) -> Decision:
    draft, reason = _draft(partition, number), begin_reason(number, entry.document)
    for fqdn in fqdns:
        draft.add(begin_maintenance(partition.systems[fqdn], number, reason))
    return draft.decision()


def _end(partition: Partition, number: int, entry: DirectoryEntry, fqdns: list[str]) -> Decision:
    draft, reason = _draft(partition, number), end_reason(number, entry.document)
    for fqdn in fqdns:
        draft.add(end_maintenance(partition.systems[fqdn], number, reason))
    return draft.decision()


def _draft(partition: Partition, number: int) -> Draft:
    draft = Draft(partition, Trigger(partition.position, TIMER, f"maintenance/{number}"))
    # A person may move or end the window meanwhile.
    draft.depend_on((f"{KIND}/{number}",))
    return draft
