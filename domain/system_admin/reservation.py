"""Reservations of systems by people, with or without provisioning (design section 2)."""

from __future__ import annotations

from dataclasses import replace

from domain.directory.partitions import number_of_lab
from domain.directory.state import Directory
from domain.errors import Refused
from domain.events import Decided, Event
from domain.partition_numbers import EVERYBODY
from domain.system.events import (
    SystemInstalling,
    SystemReservationBegun,
    SystemReservationEnded,
    SystemRunning,
    SystemWaiting,
)
from domain.system.lifecycle import FOR_PEOPLE
from domain.system.state import System
from domain.system.usage import freed

# The prefix of the reason for which a reservation ends if provisioning fails.
NOT_PROVISIONED = "it could not be provisioned"


def require_lab(system: System, distro_tree_id: int | None, directory: Directory) -> None:
    """Raise Refused if the lab is in no partition, is disabled or cannot install the tree.

    Architectures of the system count only if they are registered.
    """
    if number_of_lab(directory, system.lab_controller) == EVERYBODY:
        raise Refused(
            f"system {system.fqdn} cannot be reserved: its lab {system.lab_controller} is in no partition "
            "until a configuration names it"
        )
    if not directory.is_enabled(system.lab_controller):
        raise Refused(f"system {system.fqdn} is in a disabled lab: {system.lab_controller}")
    entry = None if distro_tree_id is None else directory.get("distro-tree", str(distro_tree_id))
    if entry is None:
        return
    tree, arches = f"distro tree {distro_tree_id}", system.inventory.get("arches")
    if not entry.document["urls"].get(system.lab_controller):
        raise Refused(f"{tree} is not available in the lab of {system.lab_controller}")
    if arches and entry.document["arch"] not in arches:
        has = ", ".join(arches)
        raise Refused(f"{tree} is for {entry.document['arch']}, but system {system.fqdn} has {has}")


def reserve(system: System, user: str, until: str | None, distro_tree_id: int | None) -> Decided:
    """Return the events of a reservation. Raises Refused if the system is in use, lent or not reservable.

    `until` is an RFC 3339 time, None without an end. With a distro tree the system is provisioned first.
    """
    if system.reservation is not None:
        raise Refused(f"system {system.fqdn} is reserved by {system.reservation.user}")
    if system.recipe_id is not None:
        raise Refused(f"system {system.fqdn} is {system.usage} with recipe {system.recipe_id}")
    if system.loan is not None and system.loan.user != user:
        raise Refused(f"system {system.fqdn} is on loan to {system.loan.user}")
    if system.condition == "Removed" or (system.condition != FOR_PEOPLE and system.loan is None):
        rule = f"a person can reserve only a {FOR_PEOPLE} system, or one on loan to them"
        raise Refused(f"system {system.fqdn} is {system.condition}; {rule}")
    if system.draining:
        raise Refused(f"system {system.fqdn} is draining")
    if system.occupied is not None:
        raise Refused(f"system {system.fqdn} is occupied: {system.occupied.reason}")
    if system.usage != "idle":
        raise Refused(f"system {system.fqdn} is {system.usage}; the scheduler checks the queue for it first")
    begun = SystemReservationBegun(user=user, until=until, distro_tree_id=distro_tree_id)
    first = SystemRunning(recipe_id=None) if distro_tree_id is None else SystemWaiting(recipe_id=None)
    return [(system.subject, begun), (system.subject, first)]


def provisioning(system: System, state: str, reason: str) -> Decided:
    """Return the events for a reported state of provisioning: `running`, `completed` or `failed`.

    Returns none if the reservation has ended, or if the report is repeated or late.
    """
    if system.reservation is None or system.usage not in ("waiting", "installing"):
        return []
    if state == "failed":
        return end(system, f"{NOT_PROVISIONED}: {reason}")
    event: Event = SystemRunning(recipe_id=None)
    if state == "running":
        if system.usage == "installing":
            return []
        event = SystemInstalling(recipe_id=None)
    elif system.usage == "waiting":
        # The report of the start was lost, so its event is added here.
        return [(system.subject, SystemInstalling(recipe_id=None)), (system.subject, event)]
    return [(system.subject, event)]


def end(system: System, reason: str) -> Decided:
    """Return the events that end the reservation of a system, none without a reservation."""
    if system.reservation is None:
        return []
    ended = SystemReservationEnded(reason=reason)
    return [(system.subject, ended), freed(replace(system, reservation=None))]
