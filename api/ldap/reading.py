"""One read of the people and groups of the LDAP directory: complete, or an error. Blocking."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ldap3 import ANONYMOUS, NONE, SIMPLE, SUBTREE, Connection, Server, Tls
from ldap3.core.exceptions import LDAPException
from ldap3.utils.dn import parse_dn

from api.ldap.options import LdapOptions, LdapServer
from domain.directory.actors import is_user_name
from domain.directory.ldap_sync import LdapFault, LdapPeople
from runtime.tls import tls_context

PAGE_SIZE: Final = 500
# Of all pages and servers; less than the time after which another process may sync.
READ_SECONDS: Final = 300.0
# The control of RFC 2696.
PAGES: Final = "1.2.840.113556.1.4.319"
ENTRY, REFERENCE = "searchResEntry", "searchResRef"

ESCAPE: Final = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)

Dn = tuple[tuple[str, str, bool], ...]
"""A DN in one form, so that equal ones are equal: attributes and values without regard to case.

The third is whether the next attribute belongs to the same level.
"""


class LdapEntry(NamedTuple):
    """An entry: its DN, and the values of attributes by name in lower case."""

    dn: str
    values: Mapping[str, Sequence[str]]


class _VerifyingTls(Tls):
    """TLS with all checks of the standard library; ldap3 has its own copy of the check of the host."""

    def __init__(self, options: LdapOptions) -> None:
        super().__init__(validate=ssl.CERT_REQUIRED)
        self._context = tls_context(options.ca_file)

    def wrap_socket(self, connection: Connection, do_handshake: bool = False) -> None:
        host = connection.server.host
        connection.socket = self._context.wrap_socket(connection.socket, server_hostname=host)


class Search(NamedTuple):
    base: str
    filter: str
    attributes: tuple[str, ...]


def read_people(options: LdapOptions) -> LdapPeople:
    """Return the people and groups as the first server that answers has them.

    Raises LdapFault with the fault of each server, if none gives a complete answer.
    """
    faults = []
    deadline = time.monotonic() + READ_SECONDS
    for server in options.servers:
        try:
            return _read(options, server, deadline)
        except LdapFault as fault:
            faults.append(f"{server.name}: {fault}")
        except (LDAPException, OSError) as error:
            faults.append(f"{server.name}: {_message(error)}")
    raise LdapFault("; ".join(faults))


def _read(options: LdapOptions, server: LdapServer, deadline: float) -> LdapPeople:
    connection = _connection(options, server)
    try:
        connection.open()
        if server.starts_tls:
            connection.start_tls()
        if not connection.bind():
            raise LdapFault(f"bind as {options.bind_dn or 'anonymous'}: {_result(connection)}")
        of_users = Search(options.user_base, options.user_filter, (options.user_name,))
        users = _search(connection, of_users, options, deadline)
        named = (options.group_name, *options.member_attributes)
        of_groups = Search(options.group_base, options.group_filter, named)
        groups = _search(connection, of_groups, options, deadline)
        return people(options, list(users), list(groups))
    finally:
        # Not `unbind`, which would send on a failed connection. ldap3 does not close a socket that it
        # could not connect.
        connection.strategy.close()
        if connection.socket is not None:
            connection.socket.close()


def _connection(options: LdapOptions, server: LdapServer) -> Connection:
    return Connection(
        Server(
            server.host,
            port=server.port,
            use_ssl=server.has_tls,
            tls=_VerifyingTls(options),
            get_info=NONE,
            connect_timeout=options.timeout_seconds,
        ),
        user=options.bind_dn,
        password=options.password,
        authentication=ANONYMOUS if options.bind_dn is None else SIMPLE,
        receive_timeout=options.timeout_seconds,
        read_only=True,
        # A referral names a server that the operator did not.
        auto_referrals=False,
        check_names=False,
    )


def _search(
    connection: Connection, search: Search, options: LdapOptions, deadline: float
) -> Iterator[LdapEntry]:
    """Yield the entries of a search, page by page.

    Raises LdapFault unless the answer is complete by the deadline, a time of `time.monotonic`.
    """
    cookie: bytes | None = None
    while cookie != b"":
        # The limits of connection and search are for each page; a server may send pages without an end.
        if time.monotonic() > deadline:
            raise LdapFault(f"search below {search.base}: not complete after {READ_SECONDS:.0f} seconds")
        connection.search(
            search.base,
            search.filter,
            SUBTREE,
            attributes=list(search.attributes),
            time_limit=options.timeout_seconds,
            paged_size=PAGE_SIZE,
            paged_cookie=cookie,
        )
        if connection.result["result"] != 0:
            raise LdapFault(f"search below {search.base}: {_result(connection)}")
        for item in connection.response or ():
            if item["type"] == REFERENCE:
                raise LdapFault(
                    f"search below {search.base}: the server refers to {', '.join(item['uri'])}; name a base "
                    "that this server has whole"
                )
            if item["type"] == ENTRY:
                yield _entry(item)
        control = connection.result.get("controls", {}).get(PAGES)
        # A server without pages sends everything at once.
        cookie = control["value"]["cookie"] if control else b""


def _entry(item: Mapping[str, Any]) -> LdapEntry:
    values = {
        name.lower(): [value.decode("utf-8", errors="replace") for value in raw]
        for name, raw in item["raw_attributes"].items()
    }
    if parts := [name for name in values if ";range=" in name]:
        raise LdapFault(f"{item['dn']}: the server sent only a part of {parts[0]}")
    return LdapEntry(item["dn"], values)


def people(options: LdapOptions, users: Sequence[LdapEntry], groups: Sequence[LdapEntry]) -> LdapPeople:
    """Return the names of people, and of the members of each group in the group table.

    A member that is a group of this answer stands for its members. Raises LdapFault without people, and if
    several groups have a name of the table: a group of another branch must not give rights.
    """
    by_dn = {_dn_of(user): _name_of(user, options) for user in users if _values(user, options.user_name)}
    names = frozenset(name for user in users for name in _values(user, options.user_name))
    if not names:
        raise LdapFault(
            f"no entry below {options.user_base} matches {options.user_filter} and has {options.user_name}"
        )
    groups_by_dn = {_dn_of(group): group for group in groups}

    def members(group: LdapEntry) -> frozenset[str]:
        found: set[str] = set()
        # Each group once: a group may be in many others, and in itself.
        seen, waiting = {group.dn}, [group]
        while waiting:
            each = waiting.pop()
            for value in (value for name in options.member_attributes for value in _values(each, name)):
                dn = _dn(value)
                if dn is not None and (nested := groups_by_dn.get(dn)) is not None:
                    if nested.dn not in seen:
                        seen.add(nested.dn)
                        waiting.append(nested)
                elif dn is not None and dn in by_dn:
                    found.add(by_dn[dn])
                elif value in names:
                    found.add(value)
        return frozenset(found)

    members_of: dict[str, frozenset[str]] = {}
    wanted = {name.casefold(): name for name in options.group_map}
    for group in groups:
        for name in {
            wanted[each.casefold()]
            for each in _values(group, options.group_name)
            if each.casefold() in wanted
        }:
            if name in members_of:
                raise LdapFault(f"several groups below {options.group_base} are named {name}")
            members_of[name] = members(group)
    found = frozenset().union(*members_of.values())
    invalid = frozenset(name for name in found if not is_user_name(name))
    return LdapPeople(names, {name: each - invalid for name, each in members_of.items()}, invalid)


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
    dn = _dn(entry.dn)
    if dn is None:
        raise LdapFault(f"{entry.dn}: the DN of the entry cannot be read")
    return dn


def _dn(text: str) -> Dn | None:
    """Return a DN in one form, None for a text that is none, such as a user name."""
    try:
        parts = parse_dn(text, strip=True)
    except LDAPException:
        return None
    return tuple(
        (name.casefold(), _unescaped(value).casefold(), separator == "+") for name, value, separator in parts
    )


def _unescaped(value: str) -> str:
    """Return a value of a DN without escapes: the same one may be written in several ways (RFC 4514)."""
    plain = ESCAPE.sub(lambda found: _escaped_byte(found[1]), value.encode())
    return plain.decode(errors="replace")


def _escaped_byte(escaped: bytes) -> bytes:
    return bytes.fromhex(escaped.decode()) if len(escaped) > 1 else escaped


def _result(connection: Connection) -> str:
    """Return the code of the last answer in words, and the message of the server."""
    result = connection.result
    return f"{result['description']} {result['message'] or ''}".strip()


def _message(error: Exception) -> str:
    """Return the message of an error; some of ldap3 are a tuple with one text."""
    first = error.args[0] if error.args else None
    return str(first[0] if isinstance(first, tuple) and first else error) or type(error).__name__
