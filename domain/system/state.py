"""The state of a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from domain.access.policy import Policy, policy_of
from domain.events import Event, Moment
from domain.fast_dataclasses import changed, changer
from domain.system import events as system_events
from domain.system.failures import NO_FAILURES, Failures
from domain.system.lifecycle import AUTOMATED


@dataclass(frozen=True, slots=True)
class Reservation:
    """A person's reservation since a position, `until` None without end; a tree is provisioned first.

    `extended_seconds`: by how much people have moved its end.
    """

    user: str
    until: datetime | None
    distro_tree_id: int | None
    since: int = field(default=0, compare=False)
    extended_seconds: float = field(default=0.0, compare=False)


@dataclass(frozen=True, slots=True)
class Loan:
    """A loan to a person; `until` is None if it has no end, `since` the log position of its begin.

    `extended_seconds`: by how much people have moved its end.
    """

    user: str
    until: datetime | None
    since: int = field(default=0, compare=False)
    extended_seconds: float = field(default=0.0, compare=False)


Lending = TypeVar("Lending", Reservation, Loan)


@dataclass(frozen=True, slots=True)
class Occupation:
    """The process on an occupied system, as the lab controller reported it, since a log position."""

    reason: str
    recipe_id: int | None
    attempt: int | None
    since: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class System:
    """A system; `recipe_id` is the recipe that has the system.

    `since` is the log position of the last event of usage, `owned_since` that of the last change of owner.
    `access_policy` is the system's own policy, None if it never got one. The policy of the `active_pool`, if
    any, applies instead for all permissions except `submit`. Nobody can have a system that is `occupied` by
    something that does not have it in the log. While it is `draining`, a person has drained it, or
    the maintenance windows with the numbers in `windows`, or both. A person has ended the draining by the
    windows in `overridden_windows`, which are not over either. `ticket` is the URL of a report about why the
    system is not Automated; it is None for an Automated system. `notes` are the ids of the notes, ascending.
    `failures` are the provisioning failures since the system was last running, or since its condition last
    changed.
    """

    fqdn: str
    version: int
    lab_controller: str
    owner: str
    condition: str
    inventory: Mapping[str, Any]
    usage: str = "idle"
    recipe_id: int | None = None
    since: int = 0
    draining: bool = False
    reservation: Reservation | None = None
    owned_since: int = 0
    access_policy: Policy | None = None
    active_pool: str | None = None
    loan: Loan | None = None
    failures: Failures = NO_FAILURES
    occupied: Occupation | None = None
    ticket: str | None = None
    notes: tuple[int, ...] = ()
    drained_by_person: bool = False
    windows: tuple[int, ...] = ()
    overridden_windows: tuple[int, ...] = ()

    @property
    def subject(self) -> str:
        return f"system/{self.fqdn}"


def evolve(system: System | None, fqdn: str, event: Event, moment: Moment) -> System:
    """Return the system after an event."""
    if isinstance(event, system_events.SystemRegistered):
        return System(
            fqdn=fqdn,
            version=moment.version,
            lab_controller=event.lab_controller,
            owner=event.owner,
            condition=event.condition,
            inventory=event.inventory,
            since=moment.position,
            owned_since=moment.position,
        )
    assert system is not None, f"{fqdn} has events before it was registered"
    usage = getattr(event, "USAGE", None)
    if usage is not None:
        failures = NO_FAILURES if usage == "running" else system.failures
        recipe_id = getattr(event, "recipe_id", None)
        return _with_usage(system, moment.version, usage, recipe_id, moment.position, failures)
    return changed(system, version=moment.version, **_change(system, event, moment))


_with_usage = changer(System, "version", "usage", "recipe_id", "since", "failures")


def _change(system: System, event: Event, moment: Moment) -> dict[str, Any]:
    """Return the fields that an event changes, except for `version` and the fields of usage."""
    if isinstance(event, _OF_DRAINING):
        return _draining_after(system, event)
    change = _CHANGES.get(type(event))
    return change(system, event, moment) if change else {}


_OF_DRAINING = (
    system_events.SystemDrained,
    system_events.SystemUndrained,
    system_events.SystemMaintenanceEnded,
)


def _draining_after(system: System, event: Event) -> dict[str, Any]:
    """Return the fields about draining. The end of a window is followed by an event if draining ends too."""
    if isinstance(event, system_events.SystemUndrained):
        overridden = (*system.overridden_windows, *system.windows)
        return {
            "draining": False,
            "drained_by_person": False,
            "windows": (),
            "overridden_windows": overridden,
        }
    if isinstance(event, system_events.SystemMaintenanceEnded):
        left, overridden = (
            tuple(number for number in numbers if number != event.window)
            for numbers in (system.windows, system.overridden_windows)
        )
        return {"windows": left, "overridden_windows": overridden}
    assert isinstance(event, system_events.SystemDrained)
    if event.window is None:
        return {"draining": True, "drained_by_person": True}
    return {"draining": True, "windows": (*system.windows, event.window)}


def _extended(lending: Lending | None, until: str) -> Lending:
    """Return a reservation or loan with a later end."""
    assert lending is not None and lending.until is not None, "only one with an end is extended"
    moved = datetime.fromisoformat(until)
    seconds = lending.extended_seconds + (moved - lending.until).total_seconds()
    return replace(lending, until=moved, extended_seconds=seconds)


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _condition_after(system: System, condition: str) -> dict[str, Any]:
    ticket = None if condition == AUTOMATED else system.ticket
    return {"condition": condition, "failures": NO_FAILURES, "ticket": ticket}


_CHANGES: dict[type[Event], Callable[[System, Any, Moment], dict[str, Any]]] = {
    system_events.SystemConditionChanged: lambda system, event, _: _condition_after(system, event.condition),
    system_events.SystemTicketChanged: lambda _, event, __: {"ticket": event.ticket},
    system_events.SystemNoteAdded: lambda system, _, moment: {"notes": (*system.notes, moment.position)},
    system_events.SystemNoteRemoved: lambda system, event, _: {
        "notes": tuple(note for note in system.notes if note != event.note)
    },
    system_events.SystemProvisioningFailed: lambda _, event, __: {
        "failures": Failures(tuple(event.jobs), tuple(event.distros))
    },
    system_events.SystemInventoryChanged: lambda _, event, __: {"inventory": event.inventory},
    system_events.SystemLabControllerChanged: lambda _, event, __: {"lab_controller": event.lab_controller},
    system_events.SystemOwnerChanged: lambda _, event, moment: {
        "owner": event.owner,
        "owned_since": moment.position,
    },
    system_events.SystemAccessPolicyChanged: lambda _, event, __: {
        "access_policy": policy_of(event.entries),
        "active_pool": event.active_pool,
    },
    system_events.SystemOccupied: lambda _, event, moment: {
        "occupied": Occupation(event.reason, event.recipe_id, event.attempt, moment.position)
    },
    system_events.SystemVacated: lambda _, __, ___: {"occupied": None},
    system_events.SystemReservationBegun: lambda _, event, moment: {
        "reservation": Reservation(event.user, _time(event.until), event.distro_tree_id, moment.position)
    },
    system_events.SystemReservationExtended: lambda system, event, _: {
        "reservation": _extended(system.reservation, event.until)
    },
    system_events.SystemReservationEnded: lambda _, __, ___: {"reservation": None},
    system_events.SystemLoaned: lambda _, event, moment: {
        "loan": Loan(event.user, _time(event.until), moment.position)
    },
    system_events.SystemLoanExtended: lambda system, event, _: {"loan": _extended(system.loan, event.until)},
    system_events.SystemLoanEnded: lambda _, __, ___: {"loan": None},
}
