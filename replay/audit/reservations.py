"""The invariant of reservations: systems that persons have for themselves (design section 2)."""

from __future__ import annotations

from replay.audit.invariant import Found, Invariant
from replay.audit.record import EventRecord
from replay.audit.values import System
from replay.audit.world import World


class RightfulReservation(Invariant):
    """A person reserves only a system on loan to that person, or a Manual one on loan to nobody."""

    name = "rightful_reservation"
    topics = ("system.reservation-begun",)

    def event(self, world: World, record: EventRecord) -> Found:
        system = world.systems.get(record.name)
        wrong = None if system is None else _wrong(system, record.data["user"])
        if wrong is not None:
            yield self.broken([record.position], [record.subject], wrong)


def _wrong(system: System, user: str) -> str | None:
    if system.borrower is not None and system.borrower != user:
        return f"{user} reserves a system on loan to {system.borrower}"
    may_be = system.condition == "Manual" or (system.borrower == user and system.condition != "Removed")
    return None if may_be else f"{user} reserves a system that is {system.condition} and not on loan to them"
