"""The settings of the LDAP directory, checked together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from ldap3.core.exceptions import LDAPExceptionError
from ldap3.operation.search import parse_filter
from ldap3.utils.dn import parse_dn

from domain.directory.external_groups import GroupMap
from domain.errors import Fault
from runtime.group_table import read_group_table
from runtime.setting_values import LDAP_STARTTLS, LDAP_TLS
from runtime.settings import BadSettings, Settings, variable

DNS = ("ldap_bind_dn", "ldap_user_base", "ldap_group_base")
FILTERS = ("ldap_user_filter", "ldap_group_filter")


@dataclass(frozen=True)
class LdapServer:
    """The address of a server. Without TLS of its own, a connection begins with STARTTLS if `starts_tls`."""

    host: str
    port: int | None
    has_tls: bool
    starts_tls: bool

    @property
    def name(self) -> str:
        return self.host if self.port is None else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class LdapOptions:
    """The servers of the directory, and the places of its people and groups.

    `max_removed_percent` is the share of the people of the directory that one sync may take rights from.
    """

    servers: tuple[LdapServer, ...]
    ca_file: Path | None
    bind_dn: str | None
    password: str | None = field(repr=False)
    user_base: str
    user_filter: str
    user_name: str
    group_base: str
    group_filter: str
    group_name: str
    member_attributes: tuple[str, ...]
    timeout_seconds: int
    sync_seconds: float
    max_removed_percent: int
    group_map: GroupMap


def ldap_options(settings: Settings) -> LdapOptions:
    """Return the options of a service with `ldap_urls`. Raises BadSettings with all faults, BadGroupTable."""
    if faults := list(_faults(settings)):
        raise BadSettings(faults)
    group_map = read_group_table(settings.group_table).ldap
    if not group_map:
        raise BadSettings(
            [Fault(variable("group_table"), f"{settings.group_table} must have rows in [ldap]")]
        )
    assert settings.ldap_user_base is not None and settings.ldap_group_base is not None
    return LdapOptions(
        servers=tuple(map(_server, settings.ldap_urls)),
        ca_file=settings.ca_file,
        bind_dn=settings.ldap_bind_dn,
        password=settings.ldap_password,
        user_base=settings.ldap_user_base,
        user_filter=settings.ldap_user_filter,
        user_name=settings.ldap_user_name,
        group_base=settings.ldap_group_base,
        group_filter=settings.ldap_group_filter,
        group_name=settings.ldap_group_name,
        member_attributes=settings.ldap_members,
        timeout_seconds=settings.ldap_timeout_seconds,
        sync_seconds=settings.ldap_sync_seconds,
        max_removed_percent=settings.ldap_max_removed_percent,
        group_map=group_map,
    )


def _server(url: str) -> LdapServer:
    found = urlsplit(url)
    return LdapServer(
        found.hostname or "", found.port, found.scheme == LDAP_TLS, found.scheme == LDAP_STARTTLS
    )


def _faults(settings: Settings) -> Iterator[Fault]:
    for name in ("ldap_user_base", "ldap_group_base", "group_table"):
        if getattr(settings, name) is None:
            yield Fault(variable(name), f"must be set with {variable('ldap_urls')}")
    for given, needed in (("ldap_bind_dn", "ldap_password"), ("ldap_password", "ldap_bind_dn")):
        if getattr(settings, given) is not None and getattr(settings, needed) is None:
            yield Fault(variable(needed), f"must be set with {variable(given)}")
    for name in DNS:
        if (dn := getattr(settings, name)) is not None and not _is_dn(dn):
            yield Fault(variable(name), f"must be a DN such as ou=people,dc=example,dc=com, not {dn!r}")
    for name in FILTERS:
        if not _is_filter(filter_text := getattr(settings, name)):
            yield Fault(variable(name), f"must be a filter such as (objectClass=person), not {filter_text!r}")


def _is_dn(text: str) -> bool:
    try:
        return bool(parse_dn(text))
    except LDAPExceptionError:
        return False


def _is_filter(text: str) -> bool:
    try:
        parse_filter(text, None, False, False, None, False)  # type: ignore[no-untyped-call]
    except LDAPExceptionError:
        return False
    return True
