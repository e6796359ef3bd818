"""Access policies: permissions of users and groups on a system, or on the systems of a pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from domain.priority import Priority

VIEW: Final = "view"
EDIT_POLICY: Final = "edit_policy"
EDIT_SYSTEM: Final = "edit_system"
LOAN_ANY: Final = "loan_any"
LOAN_SELF: Final = "loan_self"
CONTROL_SYSTEM: Final = "control_system"
RESERVE: Final = "reserve"
SUBMIT: Final = "submit"

PERMISSIONS: Final = (
    *(VIEW, EDIT_POLICY, EDIT_SYSTEM, LOAN_ANY, LOAN_SELF),
    *(CONTROL_SYSTEM, RESERVE, SUBMIT),
)

Form: TypeAlias = Mapping[str, Any]
"""A policy entry in documents and events: `{"permission": …}` with one of `"user": …`, `"group": …` and
`"everybody": true`; for `submit` also `"maximum_effective_priority": "Medium"`.
"""


class PolicyEntry(NamedTuple):
    """One permission for a user, for the members of a group, or, if both are None, for everybody.

    `maximum` is the maximum effective priority of jobs (design 5.2), None unless the permission is `submit`.
    """

    permission: str
    user: str | None = None
    group: str | None = None
    maximum: Priority | None = None


Policy: TypeAlias = tuple[PolicyEntry, ...]

INITIAL_POLICY: Final[Policy] = (
    PolicyEntry(VIEW),
    PolicyEntry(RESERVE),
    PolicyEntry(SUBMIT, maximum=Priority.Urgent),
)
"""The policy of a system that never got its own; with it, everybody may view, reserve and submit."""


def own_policy(given: Policy | None) -> Policy:
    """Return a system's own policy, or the initial one if it never got its own."""
    return INITIAL_POLICY if given is None else given


def policy_of(entries: Iterable[Form]) -> Policy:
    """Return the policy of valid entries, sorted and without duplicates."""
    return tuple(sorted(set(map(_entry, entries)), key=sort_key))


def _entry(form: Form) -> PolicyEntry:
    permission = form["permission"]
    maximum = Priority[form["maximum_effective_priority"]] if permission == SUBMIT else None
    return PolicyEntry(permission, form.get("user"), form.get("group"), maximum)


def policy_form(policy: Policy) -> list[dict[str, Any]]:
    return [_entry_form(entry) for entry in policy]


def sort_key(entry: PolicyEntry) -> tuple[int, str, str, int]:
    """Return the sort key: permission, then everybody, users and groups by name, then the highest maximum."""
    order = PERMISSIONS.index(entry.permission)
    return order, entry.group or "", entry.user or "", -(entry.maximum or 0)


def _entry_form(entry: PolicyEntry) -> dict[str, Any]:
    form: dict[str, Any] = {"permission": entry.permission}
    if entry.user is not None:
        form["user"] = entry.user
    elif entry.group is not None:
        form["group"] = entry.group
    else:
        form["everybody"] = True
    if entry.maximum is not None:
        form["maximum_effective_priority"] = entry.maximum.name
    return form
