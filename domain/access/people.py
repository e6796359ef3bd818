"""Permissions of a person on a system (docs/decisions/0020).

The policy of the system's active pool applies, otherwise that of the system itself. The scheduler checks
`submit` separately, by the policies of all pools of the system (`domain.access.submit_rights`).
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Final, NamedTuple

from domain.access.policy import PERMISSIONS, RESERVE, SUBMIT, VIEW, Policy, PolicyEntry

OF_PEOPLE: Final = tuple(permission for permission in PERMISSIONS if permission != SUBMIT)
# An admin runs the lab, but may use its systems only as the policies allow.
OF_ADMINS: Final = frozenset(OF_PEOPLE) - {RESERVE}
OF_BORROWERS: Final = frozenset({VIEW, RESERVE})


@dataclass(frozen=True)
class Person:
    """A user with their groups, and whether they act as an admin."""

    user: str
    groups: Container[str] = ()
    is_admin: bool = False


class Access(NamedTuple):
    """The policy that applies to a system, and its users; None for a missing or removed user."""

    policy: Policy
    owner: str | None = None
    borrower: str | None = None
    reserved_by: str | None = None


def may(person: Person, access: Access, permission: str) -> bool:
    """Return whether a person has this permission, one of `OF_PEOPLE`, on a system."""
    if person.user == access.owner or (person.is_admin and permission in OF_ADMINS):
        return True
    if person.user == access.borrower and permission in OF_BORROWERS:
        return True
    if permission != VIEW:
        return any(entry.permission == permission and _names(entry, person) for entry in access.policy)
    # Any other permission except `submit` implies view, and so does a reservation.
    return person.user == access.reserved_by or any(
        _names(entry, person) for entry in access.policy if entry.permission != SUBMIT
    )


def may_submit(person: Person, entries: Policy) -> bool:
    return any(entry.permission == SUBMIT and _names(entry, person) for entry in entries)


def is_open_to_all(policy: Policy) -> bool:
    return may(Person(""), Access(policy), VIEW)


def _names(entry: PolicyEntry, person: Person) -> bool:
    if entry.user is not None:
        return entry.user == person.user
    return entry.group is None or entry.group in person.groups
