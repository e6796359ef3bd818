"""The consistency loop: the times of its runs, and the decisions of each (design section 4.5)."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from domain.scheduling.decisions.draft import Decision
from domain.scheduling.decisions.timers import Findings, LoopInput, check_contacts, correct, has_silent_lab
from domain.scheduling.world.partition import Partition
from store.contacts import Contacts, LastContacts
from workers.clocks import MAX_DIFFERENCE_SECONDS, Clocks, Reading

logger = logging.getLogger(__name__)

# Interval of the runs that check contacts only. The systems of a silent lab get recipes at most this
# long after its lab controller reports again.
CONTACT_CHECK_SECONDS: Final = 1.0


class ConsistencyLoop:
    """The consistency loop: a full run every `every_seconds`, also while triggers are unanswered.

    While an enabled lab is silent, additional runs check contacts only. `withheld` counts the full runs that
    let no deadline expire because the clocks were not trusted, by reason: `DIFFER` or `MOVED`.
    """

    def __init__(self, contacts: Contacts, every_seconds: float) -> None:
        self.findings = Findings()
        self.withheld: Counter[str] = Counter()
        self._contacts = contacts
        self._every_seconds = every_seconds
        self._full_run_at: float | None = None
        self._contact_check_at = 0.0
        self._is_full_run = True
        self._clocks = Clocks()
        self._doubt: str | None = None

    def start_if_due(self, partition: Partition, monotonic_seconds: float) -> bool:
        """Return whether a run is due. If so, schedule the next one; the caller must call `correct`."""
        self._is_full_run = self._full_run_at is None or monotonic_seconds >= self._full_run_at
        if self._is_full_run:
            self._full_run_at = monotonic_seconds + self._every_seconds
        elif monotonic_seconds < self._contact_check_at or not has_silent_lab(partition):
            return False
        self._contact_check_at = monotonic_seconds + CONTACT_CHECK_SECONDS
        return True

    def correct(self, partition: Partition, now: datetime, monotonic_seconds: float) -> list[Decision]:
        """Return the decisions of the due run, for one commit. Blocking. Raises DatabaseAway."""
        contacts = self._contacts.last_contacts()
        last_heard = _by_scheduler_clock(contacts, now)
        if not self._is_full_run:
            return check_contacts(partition, LoopInput(now, last_heard, may_expire=False), self.findings)
        may_expire = self._may_expire(Reading(now, contacts.now, monotonic_seconds))
        before = self.findings.never_happen
        decisions = correct(partition, LoopInput(now, last_heard, may_expire), self.findings)
        if self.findings.never_happen > before:
            logger.error("consistency: found a fault of Labledger (report this): %s", self.findings)
        return decisions

    def _may_expire(self, reading: Reading) -> bool:
        doubt = self._clocks.doubt(reading)
        if doubt is not None:
            self.withheld[doubt] += 1
        if doubt != self._doubt:
            self._doubt = doubt
            _log_doubt(doubt, reading)
        return doubt is None


def _log_doubt(doubt: str | None, reading: Reading) -> None:
    if doubt is None:
        logger.warning("consistency: the clocks are trusted again, deadlines expire")
        return
    logger.error(
        "consistency: the clocks %s (scheduler %s, database %s): "
        "no watchdog, reservation or loan ends, no set is given up, no lab is declared silent",
        doubt,
        reading.scheduler.isoformat(),
        reading.database.isoformat(),
    )


def _by_scheduler_clock(contacts: LastContacts, now: datetime) -> dict[str, datetime]:
    """Return the last contacts by the scheduler's clock, from their ages by the database's clock.

    A contact in the future was stored before the database's clock was set back. Its age is unknown, so it is
    omitted.
    """
    ages = {name: contacts.now - last for name, last in contacts.last.items()}
    return {name: now - age for name, age in ages.items() if age > -timedelta(seconds=MAX_DIFFERENCE_SECONDS)}
