"""The permission that each operation on a system requires (docs/decisions/0020), after the role in `routes`.

The owner of a system has all permissions, an admin all but reserve, its borrower view and reserve. A user
may return a system that they reserved, and end a loan to themselves. The scheduler checks `submit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from domain.access import policy

Opened: TypeAlias = tuple[str, str]
"""Method and path."""

_SYSTEM: Final = "/systems/{fqdn}"
_LOAN: Final = f"{_SYSTEM}/loan"
_IN_POOL: Final = "/pools/{name}/systems/{fqdn}"

OPENED: Final[Mapping[str, tuple[Opened, ...]]] = {
    # Without it the system is hidden: answers are 404, and lists omit the system.
    policy.VIEW: (
        *(("GET", _SYSTEM), ("GET", f"{_SYSTEM}/usage"), ("GET", f"{_SYSTEM}/history")),
        ("GET", f"{_SYSTEM}/access-policy"),
    ),
    # The policies of a pool apply to its systems, so adding a system changes who may use it. Adding also
    # requires the right to change the pool; for removing, one of both is enough.
    policy.EDIT_POLICY: (
        ("PUT", f"{_SYSTEM}/access-policy"),
        ("PUT", _IN_POOL),
        ("DELETE", _IN_POOL),
    ),
    # Only the owner may give it to another user.
    policy.EDIT_SYSTEM: (("PATCH", _SYSTEM), ("DELETE", _SYSTEM)),
    policy.LOAN_ANY: (("PUT", _LOAN), ("DELETE", _LOAN)),
    # loan_self: for a loan to the caller.
    policy.LOAN_SELF: (("PUT", _LOAN),),
    # For a system that another user has reserved.
    policy.CONTROL_SYSTEM: (("DELETE", f"{_SYSTEM}/reservation"),),
    policy.RESERVE: (("PUT", f"{_SYSTEM}/reservation"),),
}


def needed(method: str, path: str) -> list[str]:
    """Return the permissions; any one suffices. The list is empty if none is required."""
    return [permission for permission, opened in OPENED.items() if (method, path) in opened]
