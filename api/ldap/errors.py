"""The error of reading LDAP."""

from __future__ import annotations

from domain.errors import LabledgerError


class LdapFault(LabledgerError):
    """LDAP cannot be read."""
