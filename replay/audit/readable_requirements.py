"""The invariant of readable requirements: the audit judges no grant by a requirement that it cannot read."""

from __future__ import annotations

from functools import lru_cache

from replay.audit.invariant import Found, Invariant
from replay.audit.record import EventRecord
from replay.audit.requirement import unreadable
from replay.audit.world import World

_unreadable = lru_cache(10_000)(unreadable)


class ReadableRequirements(Invariant):
    """The audit can read every host requirement."""

    name = "understood"
    topics = ("recipe.new",)

    def event(self, world: World, record: EventRecord) -> Found:
        wrong = _unreadable(record.data["host_requires"])
        if wrong is not None:
            what = f"its host requirement cannot be read: {wrong}"
            yield self.broken([record.position], [record.subject], what)
