"""Events of systems. Each usage has its own event class; `recipe_id` is null during a reservation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from domain.endings import EndingEvent
from domain.events import Event, event


@event("system.registered")
class SystemRegistered(Event):
    """`inventory` is the system document of the API without `fqdn`, `pools` and the fields of this event."""

    lab_controller: str
    owner: str
    condition: str
    inventory: Mapping[str, Any]


@event("system.idle")
class SystemIdle(Event):
    USAGE: ClassVar[str] = "idle"


@event("system.pending")
class SystemPending(Event):
    USAGE: ClassVar[str] = "pending"


@event("system.scheduled")
class SystemScheduled(Event):
    USAGE: ClassVar[str] = "scheduled"
    recipe_id: int


@event("system.waiting")
class SystemWaiting(Event):
    USAGE: ClassVar[str] = "waiting"
    recipe_id: int | None


@event("system.installing")
class SystemInstalling(Event):
    USAGE: ClassVar[str] = "installing"
    recipe_id: int | None


@event("system.running")
class SystemRunning(Event):
    USAGE: ClassVar[str] = "running"
    recipe_id: int | None


@event("system.condition-changed")
class SystemConditionChanged(Event):
    condition: str
    reason: str


@event("system.ticket-changed")
class SystemTicketChanged(Event):
    """`ticket` is a URL, null if it was removed; `reason` is null if nobody gave one."""

    ticket: str | None
    reason: str | None


@event("system.note-added")
class SystemNoteAdded(Event):
    """A person has added a note, whose id is the position of this event."""

    text: str


@event("system.note-removed")
class SystemNoteRemoved(Event):
    """`note` is the id of the note; `reason` is null if nobody gave one."""

    note: int
    reason: str | None


@event("system.power-changed")
class SystemPowerChanged(Event):
    """The power settings, which lie beside the log, were set or, without `is_set`, removed.

    `reason` is null if nobody gave one.
    """

    is_set: bool
    reason: str | None


@event("system.provisioning-failed")
class SystemProvisioningFailed(Event):
    """Provisioning failed; `jobs` and `distros` are of all failures in a row (`domain.system.failures`)."""

    recipe_id: int
    reason: str
    jobs: Sequence[int]
    distros: Sequence[str]


@event("system.inventory-changed")
class SystemInventoryChanged(Event):
    """`inventory` is the whole new inventory."""

    inventory: Mapping[str, Any]


@event("system.lab-controller-changed")
class SystemLabControllerChanged(Event):
    lab_controller: str


@event("system.owner-changed")
class SystemOwnerChanged(Event):
    owner: str


@event("system.drained")
class SystemDrained(Event):
    """A person has drained the system, or the maintenance window of this number if `window` is not null.

    Each has an event of its own, also while the other drains the system already.
    """

    reason: str
    window: int | None = None


@event("system.undrained", version=2)
class SystemUndrained(EndingEvent):
    """The system drains no longer: a person has ended all draining, or its last cause has ended."""


@event("system.maintenance-ended")
class SystemMaintenanceEnded(Event):
    """The maintenance window of this number, which drained the system, has ended or was moved."""

    window: int


@event("system.occupied")
class SystemOccupied(Event):
    """The system runs something that does not have it in the log, so that nobody can have it.

    `recipe_id` and `attempt` are those of the lab controller's report, null if it named none.
    """

    reason: str
    recipe_id: int | None
    attempt: int | None


@event("system.vacated")
class SystemVacated(Event):
    """The system is no longer occupied."""

    reason: str


@event("system.reservation-begun")
class SystemReservationBegun(Event):
    """A person has the system `until` a time (null: no end); `distro_tree_id`, if any, is installed first."""

    user: str
    until: str | None
    distro_tree_id: int | None


@event("system.reservation-ended")
class SystemReservationEnded(Event):
    reason: str


@event("system.reservation-extended")
class SystemReservationExtended(Event):
    """A person has moved the end of the reservation to `until`; `reason` is null if nobody gave one."""

    until: str
    reason: str | None


@event("system.access-policy-changed")
class SystemAccessPolicyChanged(Event):
    """`entries` are the whole new policy of the system, in the form of `domain.access.policy`.

    The policy of `active_pool`, if not null, applies instead for all permissions except `submit`.
    """

    entries: Sequence[Mapping[str, Any]]
    active_pool: str | None


@event("system.loaned")
class SystemLoaned(Event):
    """The system was lent to a person, who alone may use it; `until` (RFC 3339) is null if it has no end."""

    user: str
    until: str | None


@event("system.loan-extended")
class SystemLoanExtended(Event):
    """A person has moved the end of the loan to `until`; `reason` is null if nobody gave one."""

    until: str
    reason: str | None


@event("system.loan-ended")
class SystemLoanEnded(Event):
    reason: str
