"""DNs in one form, so that equal ones are equal."""

from __future__ import annotations

import re
from typing import Final

from ldap3.core.exceptions import LDAPException
from ldap3.utils.dn import parse_dn

ESCAPE: Final = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)

Dn = tuple[tuple[str, str, bool], ...]
"""The levels of a DN: attributes and values without regard to case.

The third is whether the next attribute belongs to the same level.
"""


def parsed_dn(text: str) -> Dn | None:
    """Return a DN in one form, None for a text that is none, such as a user name.

    ldap3 refuses some valid DNs, such as those with OIDs. They are equal only if they are written equally.
    """
    if "=" not in text:
        return None
    try:
        parts = parse_dn(text, strip=True)
    except LDAPException:
        return (("", text.casefold(), False),)
    return tuple(
        (name.casefold(), _unescaped(value).casefold(), separator == "+") for name, value, separator in parts
    )


def _unescaped(value: str) -> str:
    """Return a value of a DN without escapes: the same one may be written in several ways (RFC 4514)."""
    plain = ESCAPE.sub(lambda found: _escaped_byte(found[1]), value.encode())
    return plain.decode(errors="replace")


def _escaped_byte(escaped: bytes) -> bytes:
    return bytes.fromhex(escaped.decode()) if len(escaped) > 1 else escaped
