"""One read of the people and groups of the LDAP directory: complete, or an error. Blocking."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Final

from ldap3.core.exceptions import LDAPException

from api.ldap.dn import Dn, parsed_dn
from api.ldap.errors import LdapFault
from api.ldap.options import LdapOptions, LdapServer
from api.ldap.searches import LdapEntry, Search, bound_searches
from domain.directory.actors import is_user_name
from domain.directory.ldap_people import LdapPeople

# Of all pages and servers; less than the time after which another process may sync. A server has its share of
# the time that those before it have left.
READ_SECONDS: Final = 300.0


def read_people(options: LdapOptions) -> LdapPeople:
    """Return the people and groups as the first server that answers has them.

    Raises LdapFault with the fault of each server, if none gives a complete answer.
    """
    faults = []
    end = time.monotonic() + READ_SECONDS
    for number, server in enumerate(options.servers):
        now = time.monotonic()
        deadline = now + (end - now) / (len(options.servers) - number)
        try:
            return _read(options, server, deadline)
        except LdapFault as fault:
            faults.append(f"{server.name}: {fault}")
        except (LDAPException, OSError) as error:
            faults.append(f"{server.name}: {_message(error)}")
    raise LdapFault("; ".join(faults))


def _read(options: LdapOptions, server: LdapServer, deadline: float) -> LdapPeople:
    with bound_searches(options, server, deadline) as searches:
        of_users = Search(options.user_base, options.user_filter, (options.user_name,))
        users = list(searches.entries(of_users))
        named = (options.group_name, *options.member_attributes)
        of_groups = Search(options.group_base, options.group_filter, named)
        return people(options, users, list(searches.entries(of_groups)))


def people(options: LdapOptions, users: Sequence[LdapEntry], groups: Sequence[LdapEntry]) -> LdapPeople:
    """Return the names of people, and of the members of each group in the group table.

    A member that is a group of this answer stands for its members. Raises LdapFault without people, and if
    several groups have a name of the table: a group of another branch must not give rights.
    """
    # Groups of the table may have the same members, and those of each group in it are read anew.
    parsed = cache(parsed_dn)
    by_dn = {_dn_of(user): _name_of(user, options) for user in users if _values(user, options.user_name)}
    names = frozenset(name for user in users for name in _values(user, options.user_name))
    if not names:
        raise LdapFault(
            f"no entry below {options.user_base} matches {options.user_filter} and has {options.user_name}"
        )
    groups_by_dn = {_dn_of(group): group for group in groups}

    def members(group: LdapEntry) -> tuple[frozenset[str], bool]:
        """Return the people of a group, and whether it has no values but groups without any."""
        found, is_hollow = set[str](), True
        # Each group once: a group may be in many others, and in itself.
        seen, waiting = {group.dn}, [group]
        while waiting:
            each = waiting.pop()
            for value in _members(each, options):
                dn = parsed(value)
                if dn is not None and (nested := groups_by_dn.get(dn)) is not None:
                    if nested.dn not in seen:
                        seen.add(nested.dn)
                        waiting.append(nested)
                    continue
                is_hollow = False
                if dn is not None and dn in by_dn:
                    found.add(by_dn[dn])
                elif value in names:
                    found.add(value)
        return frozenset(found), is_hollow

    of_table = _groups_of_table(options, groups)
    walked = {name: members(group) for name, group in of_table.items()}
    members_of = {name: found for name, (found, _) in walked.items()}
    hollow = frozenset(name for name, (_, is_hollow) in walked.items() if is_hollow)
    found = frozenset().union(*members_of.values())
    invalid = frozenset(name for name in found if not is_user_name(name))
    valid = {name: each - invalid for name, each in members_of.items()}
    return LdapPeople(names, valid, invalid, hollow)


def _groups_of_table(options: LdapOptions, groups: Sequence[LdapEntry]) -> dict[str, LdapEntry]:
    """Return the groups by their names in the group table. Raises LdapFault for a name of several groups."""
    found: dict[str, LdapEntry] = {}
    wanted = {name.casefold(): name for name in options.group_map}
    for group in groups:
        names = {each.casefold() for each in _values(group, options.group_name)}
        for name in (wanted[each] for each in names if each in wanted):
            if name in found:
                raise LdapFault(f"several groups below {options.group_base} are named {name}")
            found[name] = group
    return found


def _members(group: LdapEntry, options: LdapOptions) -> list[str]:
    return [value for name in options.member_attributes for value in _values(group, name)]


def _name_of(user: LdapEntry, options: LdapOptions) -> str:
    """Return the name of a person: of several ones that in the DN, because the server gives no order."""
    values = sorted(_values(user, options.user_name))
    rdn = _dn_of(user)[:1]
    of_dn = [each for each in values if rdn == ((options.user_name.casefold(), each.casefold(), False),)]
    return (of_dn or values)[0]


def _values(entry: LdapEntry, attribute: str) -> Sequence[str]:
    return entry.values.get(attribute.lower(), ())


def _dn_of(entry: LdapEntry) -> Dn:
    """Return the DN of an entry in one form. Raises LdapFault for one that cannot be read."""
    dn = parsed_dn(entry.dn)
    if dn is None:
        raise LdapFault(f"{entry.dn}: the DN of the entry cannot be read")
    return dn


def _message(error: Exception) -> str:
    """Return the message of an error; some of ldap3 are a tuple with one text."""
    first = error.args[0] if error.args else None
    return str(first[0] if isinstance(first, tuple) and first else error) or type(error).__name__
