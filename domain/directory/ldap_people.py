"""The people and groups of LDAP, by the names of users here."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class LdapPeople:
    """The content of LDAP: the names of all people, and the members of the groups in the group table.

    `invalid` are names in these groups that no user can have; they are no members here. `hollow` are groups
    without a value in any attribute of members, also in the groups that they contain.
    """

    users: frozenset[str]
    members: Mapping[str, frozenset[str]]
    invalid: frozenset[str] = frozenset()
    hollow: frozenset[str] = frozenset()


def with_user_names(people: LdapPeople, users: Collection[str]) -> LdapPeople:
    """Return the people by the names of the present users, if these differ in upper and lower case only.

    LDAP does not distinguish names by case, so after a change of case it is the same person. A name does not
    change that a user has exactly, or to which several users, or several names in LDAP, are equal.
    """
    equal = _by_casefold(users)
    several = twins(people.users)

    def user_name(name: str) -> str:
        found = equal.get(name.casefold(), ())
        return found[0] if len(found) == 1 and name not in several else name

    def user_names(names: frozenset[str]) -> frozenset[str]:
        return frozenset(map(user_name, sorted(names)))

    members = {group: user_names(names) for group, names in people.members.items()}
    return replace(people, users=user_names(people.users), members=members)


def twins(names: Collection[str]) -> frozenset[str]:
    """Return the names that differ from another one of them in upper and lower case only."""
    return frozenset(name for each in _by_casefold(names).values() if len(each) > 1 for name in each)


def _by_casefold(names: Collection[str]) -> Mapping[str, list[str]]:
    equal: dict[str, list[str]] = {}
    for name in sorted(names):
        equal.setdefault(name.casefold(), []).append(name)
    return equal
