"""Searches on one LDAP server, whose answers are complete, or an error. Blocking."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from ldap3 import ANONYMOUS, BASE, NONE, SIMPLE, SUBTREE, Connection, Server, Tls

from api.ldap.errors import LdapFault
from api.ldap.options import LdapOptions, LdapServer
from runtime.tls import tls_context

PAGE_SIZE: Final = 500
# The control of RFC 2696.
PAGES: Final = "1.2.840.113556.1.4.319"
ENTRY, REFERENCE = "searchResEntry", "searchResRef"
ANY: Final = "(objectClass=*)"

# Active Directory sends at most some 1500 values of an attribute at a time (MS-ADTS 3.1.1.3.1.3.3).
RANGE: Final = re.compile(r"([^;]+);range=([0-9]+)-([0-9]+|\*)")
LAST: Final = "*"

Scope = Literal["BASE", "SUBTREE"]


class LdapEntry(NamedTuple):
    """An entry: its DN, and the values of attributes by name in lower case."""

    dn: str
    values: Mapping[str, Sequence[str]]


class Search(NamedTuple):
    base: str
    filter: str
    attributes: tuple[str, ...]


class _VerifyingTls(Tls):
    """TLS with all checks of the standard library; ldap3 has its own copy of the check of the host."""

    def __init__(self, options: LdapOptions) -> None:
        super().__init__(validate=ssl.CERT_REQUIRED)
        self._context = tls_context(options.ca_file)

    def wrap_socket(self, connection: Connection, do_handshake: bool = False) -> None:
        host = connection.server.host
        connection.socket = self._context.wrap_socket(connection.socket, server_hostname=host)


@dataclass(frozen=True)
class LdapSearches:
    """Searches by a bound connection.

    `deadline` is a time of `time.monotonic`, because the limits of connection and search are for each page; a
    server may send pages without an end. `timeout_seconds` is the limit of a page.
    """

    connection: Connection
    timeout_seconds: int
    deadline: float

    def entries(self, search: Search) -> Iterator[LdapEntry]:
        """Yield the entries of a search, page by page. Raises LdapFault unless all of them have come."""
        cookie: bytes | None = None
        while cookie != b"":
            pages = {"paged_size": PAGE_SIZE, "paged_cookie": cookie}
            for item in self._answer(search, SUBTREE, **pages):
                yield self._entry(item)
            control = self.connection.result.get("controls", {}).get(PAGES)
            # A server without pages sends everything at once.
            cookie = control["value"]["cookie"] if control else b""

    def _answer(self, search: Search, scope: Scope, **pages: Any) -> list[Mapping[str, Any]]:
        """Return the entries of one request. Raises LdapFault for an error, a referral, and if it is late."""
        if time.monotonic() > self.deadline:
            raise LdapFault(f"search below {search.base}: not complete in time")
        connection = self.connection
        connection.search(
            search.base,
            search.filter,
            scope,
            attributes=list(search.attributes),
            time_limit=self.timeout_seconds,
            **pages,
        )
        if connection.result["result"] != 0:
            raise LdapFault(f"search below {search.base}: {result_of(connection)}")
        items = connection.response or ()
        if referred := [item for item in items if item["type"] == REFERENCE]:
            other = ", ".join(referred[0]["uri"])
            raise LdapFault(
                f"search below {search.base}: the server refers to {other}; name a base that it has whole"
            )
        return [item for item in items if item["type"] == ENTRY]

    def _entry(self, item: Mapping[str, Any]) -> LdapEntry:
        """Return an entry with all values of its attributes, including those sent in ranges."""
        values = _values(item)
        ranges = dict.fromkeys(name.partition(";")[0] for name in values if ";range=" in name)
        whole = {name: self._all_values(item["dn"], name, values) for name in ranges}
        return LdapEntry(item["dn"], {**values, **whole})

    def _all_values(self, dn: str, attribute: str, values: Mapping[str, Sequence[str]]) -> Sequence[str]:
        """Return all values of an attribute, range by range from the first one, which is in `values`.

        Raises LdapFault unless each range follows the one before, up to the last.
        """
        found: list[str] = []
        while True:
            part, last = _range_from(len(found), dn, attribute, values)
            found += part
            if last == LAST:
                return found
            search = Search(dn, ANY, (f"{attribute};range={len(found)}-{LAST}",))
            answer = self._answer(search, BASE)
            if len(answer) != 1:
                raise _incomplete(dn, attribute)
            values = _values(answer[0])


def _range_from(
    first: int, dn: str, attribute: str, values: Mapping[str, Sequence[str]]
) -> tuple[Sequence[str], str]:
    """Return the values of the range from `first` on, and the end of the range, LAST for the last one."""
    ranges = [
        (int(found[2]), found[3], each)
        for name, each in values.items()
        if (found := RANGE.fullmatch(name)) and found[1] == attribute
    ]
    # The range that was asked for may be there, too, without a value.
    for start, last, each in sorted(ranges, key=lambda found: not found[2]):
        is_whole = last == LAST or (each and int(last) == first + len(each) - 1)
        if start == first and is_whole:
            return each, last
        break
    raise _incomplete(dn, attribute)


def _incomplete(dn: str, attribute: str) -> LdapFault:
    return LdapFault(f"{dn}: the server sent only a part of {attribute}")


def _values(item: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    return {
        name.lower(): [value.decode("utf-8", errors="replace") for value in raw]
        for name, raw in item["raw_attributes"].items()
    }


@contextmanager
def bound_searches(options: LdapOptions, server: LdapServer, deadline: float) -> Iterator[LdapSearches]:
    """Connect to a server, bind, and disconnect afterwards. Raises LdapFault, LDAPException and OSError."""
    connection = _connection(options, server)
    try:
        connection.open()
        if server.starts_tls:
            connection.start_tls()
        if not connection.bind():
            raise LdapFault(f"bind as {options.bind_dn or 'anonymous'}: {result_of(connection)}")
        yield LdapSearches(connection, options.timeout_seconds, deadline)
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
        # ldap3 would take what it has for complete if it cannot fetch the next range.
        auto_range=False,
        return_empty_attributes=False,
        check_names=False,
    )


def result_of(connection: Connection) -> str:
    """Return the code of the last answer in words, and the message of the server."""
    result = connection.result
    return f"{result['description']} {result['message'] or ''}".strip()
