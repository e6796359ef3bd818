"""What each permission on a system opens (docs/decisions/0020); the roles that come so far stand in `routes`.

Beside these, the owner of a system may do all of it, an admin all but reserve, its borrower view and reserve
it; who has reserved it returns it, and who has it on loan ends the loan. `submit` is judged by the scheduler.
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
    # Who may not is told that there is no such system; lists leave it out.
    policy.VIEW: (("GET", _SYSTEM), ("GET", f"{_SYSTEM}/usage"), ("GET", f"{_SYSTEM}/access-policy")),
    # With a pool a system gets the policies of the pool: who puts it there changes who may use it. The pool
    # has to be theirs as well; to take it out one of both is enough.
    policy.EDIT_POLICY: (
        ("PUT", f"{_SYSTEM}/access-policy"),
        ("PUT", _IN_POOL),
        ("DELETE", _IN_POOL),
    ),
    # To give it to another owner it has to be theirs.
    policy.EDIT_SYSTEM: (("PATCH", _SYSTEM), ("DELETE", _SYSTEM)),
    policy.LOAN_ANY: (("PUT", _LOAN), ("DELETE", _LOAN)),
    # To themselves.
    policy.LOAN_SELF: (("PUT", _LOAN),),
    # What others have reserved.
    policy.CONTROL_SYSTEM: (("DELETE", f"{_SYSTEM}/reservation"),),
    policy.RESERVE: (("PUT", f"{_SYSTEM}/reservation"),),
}


def needed(method: str, path: str) -> list[str]:
    """The permissions of which one is needed."""
    return [permission for permission, opened in OPENED.items() if (method, path) in opened]
