"""What the audit cannot read is a finding, and the only one about it."""

from __future__ import annotations

from functools import lru_cache

from replay.audit.invariant import Found, Invariant
from replay.audit.record import Record
from replay.audit.requirement import unreadable
from replay.audit.world import World

_unreadable = lru_cache(10_000)(unreadable)


class Understood(Invariant):
    """Every requirement asks what is known here."""

    name = "understood"
    topics = ("recipe.new",)

    def event(self, world: World, record: Record) -> Found:
        wrong = _unreadable(record.data["host_requires"])
        if wrong is not None:
            what = f"it cannot be said what it asks of a system, {wrong}"
            yield self.broken([record.position], [record.subject], what)
