"""Which systems people have to themselves (design section 2)."""

from __future__ import annotations

from replay.audit.invariant import Found, Invariant
from replay.audit.record import Record
from replay.audit.values import System
from replay.audit.world import World


class RightfulReservation(Invariant):
    """A person reserves a system that is Manual or on loan to that person, and none on loan to another."""

    name = "rightful_reservation"
    topics = ("system.reservation-begun",)

    def event(self, world: World, record: Record) -> Found:
        system = world.systems.get(record.name)
        wrong = None if system is None else _wrong(system, record.data["user"])
        if wrong is not None:
            yield self.broken([record.position], [record.subject], wrong)


def _wrong(system: System, user: str) -> str | None:
    if system.borrower is not None and system.borrower != user:
        return f"{user} reserves a system on loan to {system.borrower}"
    may_be = system.condition == "Manual" or (system.borrower == user and system.condition != "Removed")
    return None if may_be else f"{user} reserves it, which is {system.condition} and not on loan to them"
