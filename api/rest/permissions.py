"""The permissions that operations on systems require (docs/decisions/0020), besides the roles in `routes`.

The owner of a system has all permissions, an admin all but reserve, its borrower view and reserve. A user
may also return a system that the user has reserved or borrowed. The scheduler checks `submit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from domain.access import policy

PathOperation: TypeAlias = tuple[str, str]
"""A method and a path."""

_SYSTEM: Final = "/systems/{fqdn}"
_LOAN: Final = f"{_SYSTEM}/loan"
_EXTENSION: Final = f"{_SYSTEM}/extension"
_POWER: Final = f"{_SYSTEM}/power"
_NOTES: Final = f"{_SYSTEM}/notes"
_IN_POOL: Final = "/pools/{name}/systems/{fqdn}"

OPERATIONS: Final[Mapping[str, tuple[PathOperation, ...]]] = {
    # Without `view` the system is hidden: answers are 404, and lists omit the system.
    policy.VIEW: (
        *(("GET", _SYSTEM), ("GET", f"{_SYSTEM}/usage"), ("GET", f"{_SYSTEM}/history")),
        *(("GET", f"{_SYSTEM}/access-policy"), ("GET", _NOTES), ("GET", _POWER)),
    ),
    # The policies of a pool apply to its systems, so adding a system changes who may use it. Adding also
    # requires the right to change the pool; for removal, either right suffices.
    policy.EDIT_POLICY: (("PUT", f"{_SYSTEM}/access-policy"), ("PUT", _IN_POOL), ("DELETE", _IN_POOL)),
    # Only the owner and admins may give the system to another user.
    policy.EDIT_SYSTEM: (
        *(("PATCH", _SYSTEM), ("DELETE", _SYSTEM), ("POST", "/system-changes")),
        *(("POST", _NOTES), ("DELETE", f"{_NOTES}/{{note_id}}")),
        *(("PUT", _POWER), ("DELETE", _POWER)),
        ("POST", "/maintenance-windows"),
    ),
    policy.LOAN_ANY: (("PUT", _LOAN), ("DELETE", _LOAN), ("POST", _EXTENSION)),
    # Only for a loan to the caller.
    policy.LOAN_SELF: (("PUT", _LOAN), ("POST", _EXTENSION)),
    # A reservation: only that of another user.
    policy.CONTROL_SYSTEM: (
        *(("DELETE", f"{_SYSTEM}/reservation"), ("POST", _EXTENSION)),
        *(("PUT", _POWER), ("DELETE", _POWER)),
    ),
    policy.RESERVE: (("PUT", f"{_SYSTEM}/reservation"),),
}


def required_permissions(method: str, path: str) -> list[str]:
    """Return the alternative permissions, empty if none is required."""
    return [permission for permission, opened in OPERATIONS.items() if (method, path) in opened]
