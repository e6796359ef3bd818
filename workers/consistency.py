"""The turns of the consistency loop: when they run, and what they may do (design section 4.5)."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from domain.scheduling.decisions.draft import Decision
from domain.scheduling.decisions.timers import Findings, LoopInput, correct, hear, is_waiting_for_a_lab
from domain.scheduling.world.partition import Partition
from store.contacts import Contacts, Heard
from workers.clocks import MAX_DIFFERENCE_SECONDS, Clocks, Reading

logger = logging.getLogger(__name__)


# A lab that is heard at last gets its recipes this much later.
LISTEN_SECONDS: Final = 1.0


class ConsistencyLoop:
    """Run a turn every `every_seconds`, also while triggers are unanswered.

    While a lab is silent, additional turns in between look at contacts only. `withheld` counts the turns that
    ended nothing because the clocks were in doubt, by the kind of doubt.
    """

    def __init__(self, contacts: Contacts, every_seconds: float) -> None:
        self.findings = Findings()
        self.withheld: Counter[str] = Counter()
        self._contacts = contacts
        self._every_seconds = every_seconds
        self._due_at: float | None = None
        self._listen_at = 0.0
        self._is_whole = True
        self._clocks = Clocks()
        self._doubt: str | None = None

    def is_due(self, partition: Partition, monotonic_seconds: float) -> bool:
        """Return whether a turn is due now, and schedule the next one if it is."""
        self._is_whole = self._due_at is None or monotonic_seconds >= self._due_at
        if self._is_whole:
            self._due_at = monotonic_seconds + self._every_seconds
        elif monotonic_seconds < self._listen_at or not is_waiting_for_a_lab(partition):
            return False
        self._listen_at = monotonic_seconds + LISTEN_SECONDS
        return True

    def correct(self, partition: Partition, now: datetime, monotonic_seconds: float) -> list[Decision]:
        """Return the decisions of the turn that is due, for one commit. Blocking; raises DatabaseAway."""
        heard = self._contacts.heard_by_clock()
        if not self._is_whole:
            return hear(partition, LoopInput(now, _last_heard(heard, now), may_end=False), self.findings)
        may_end = self._may_end(Reading(now, heard.now, monotonic_seconds))
        before = self.findings.never_happen
        decisions = correct(partition, LoopInput(now, _last_heard(heard, now), may_end), self.findings)
        if self.findings.never_happen > before:
            logger.error("consistency: something that never happens was found: %s", self.findings)
        return decisions

    def _may_end(self, reading: Reading) -> bool:
        doubt = self._clocks.doubt(reading)
        if doubt is not None:
            self.withheld[doubt] += 1
        if doubt != self._doubt:
            self._doubt = doubt
            _log_doubt(doubt, reading)
        return doubt is None


def _log_doubt(doubt: str | None, reading: Reading) -> None:
    if doubt is None:
        logger.warning("consistency: the clocks are trusted again, deadlines count")
        return
    logger.error(
        "consistency: the clocks %s (scheduler %s, database %s): "
        "no watchdog, reservation or loan ends, no set is given up, no lab is declared silent",
        doubt,
        reading.scheduler.isoformat(),
        reading.database.isoformat(),
    )


def _last_heard(heard: Heard, now: datetime) -> dict[str, datetime]:
    """Return the last contacts by the scheduler's clock: the database measured their age.

    A contact from the future was stamped before the database's clock was set back, so its age is unknown.
    """
    ages = {name: heard.now - last for name, last in heard.last.items()}
    return {name: now - age for name, age in ages.items() if age > -timedelta(seconds=MAX_DIFFERENCE_SECONDS)}
