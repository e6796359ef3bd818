"""When the consistency loop runs, and what it is told (design section 4.5)."""

from __future__ import annotations

import logging
from datetime import datetime

from api.store.contacts import Contacts
from domain.scheduling.draft import Decision
from domain.scheduling.partition import Partition
from domain.scheduling.timers import Clock, Findings, correct

logger = logging.getLogger(__name__)


class ConsistencyLoop:
    """Due every so many seconds, also while triggers are unanswered."""

    def __init__(self, contacts: Contacts, every_seconds: float) -> None:
        self.findings = Findings()
        self._contacts = contacts
        self._every_seconds = every_seconds
        self._due_at: float | None = None

    def is_due(self, monotonic_seconds: float) -> bool:
        """Whether to run now; if so, the next time is that much later."""
        if self._due_at is not None and monotonic_seconds < self._due_at:
            return False
        self._due_at = monotonic_seconds + self._every_seconds
        return True

    def correct(self, partition: Partition, now: datetime) -> list[Decision]:
        """Decisions for one commit. Blocking; raises DatabaseAway."""
        before = self.findings.never_happen
        decisions = correct(partition, Clock(now, self._contacts.last_heard()), self.findings)
        if self.findings.never_happen > before:
            logger.error("consistency: something that never happens was found: %s", self.findings)
        return decisions
