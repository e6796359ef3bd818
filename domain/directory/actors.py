"""Names of the parts of the service that append events. No user can have one."""

from __future__ import annotations

from typing import Final

from domain.characters import is_name

SCHEDULER: Final = "scheduler"
RETENTION: Final = "retention"
SIGN_IN: Final = "sign-in"
"""The actor of changes that follow from a sign-in at the identity provider."""
LDAP_SYNC: Final = "ldap-sync"
"""The actor of changes that follow from the LDAP directory."""
ACTORS: Final = (SCHEDULER, RETENTION, SIGN_IN, LDAP_SYNC)


def is_user_name(text: str) -> bool:
    """Return whether a new user can have this name."""
    return is_name(text) and text.casefold() not in ACTORS
