"""Which permissions a person holds on a system (docs/decisions/0020).

One policy counts: that of the system's active pool, else its own. `submit` is no part of this: it is the
union over the pools of the system, and the scheduler judges it (`domain.access.submitting`).
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Final, NamedTuple

from domain.access.policy import PERMISSIONS, RESERVE, SUBMIT, VIEW, Entry, Policy

OF_PEOPLE: Final = tuple(permission for permission in PERMISSIONS if permission != SUBMIT)
# An admin runs the lab, and has the use of its systems as far as the policies say.
OF_ADMINS: Final = frozenset(OF_PEOPLE) - {RESERVE}
OF_BORROWERS: Final = frozenset({VIEW, RESERVE})


@dataclass(frozen=True)
class Person:
    """Who asks, with the groups they are a member of, and whether they do so as an admin."""

    user: str
    groups: Container[str] = ()
    is_admin: bool = False


class Access(NamedTuple):
    """What decides it on one system: the policy that counts, and who has a claim beside it.

    Each of the three is None where nobody is, or where nobody bears the name any more of who was.
    """

    policy: Policy
    owner: str | None = None
    borrower: str | None = None
    reserved_by: str | None = None


def may(person: Person, access: Access, permission: str) -> bool:
    """Whether a person holds one of the permissions `OF_PEOPLE`."""
    if person.user == access.owner or (person.is_admin and permission in OF_ADMINS):
        return True
    if person.user == access.borrower and permission in OF_BORROWERS:
        return True
    if permission != VIEW:
        return any(entry.permission == permission and _names(entry, person) for entry in access.policy)
    # Who may do anything with a system, or has it, must see it.
    return person.user == access.reserved_by or any(
        _names(entry, person) for entry in access.policy if entry.permission != SUBMIT
    )


def may_submit(person: Person, entries: Policy) -> bool:
    """Return whether some entry to submit is for a person, for themselves or for any of their groups."""
    return any(entry.permission == SUBMIT and _names(entry, person) for entry in entries)


def is_open_to_all(policy: Policy) -> bool:
    """Whether everybody may view what this policy counts for."""
    return may(Person(""), Access(policy), VIEW)


def _names(entry: Entry, person: Person) -> bool:
    if entry.user is not None:
        return entry.user == person.user
    return entry.group is None or entry.group in person.groups
