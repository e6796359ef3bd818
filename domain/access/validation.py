"""Validation of access policies, and policies without a removed user or group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from domain.access.policy import SUBMIT, Form, Policy, policy_form, policy_of
from domain.errors import Fault, unknown_name

Exists = Callable[[str, str], bool]
"""A function of a kind (user or group) and a name that returns whether such a user or group exists."""

PRINCIPALS = ("user", "group")
GRANTEES = (*PRINCIPALS, "everybody")


def faults_of(entries: Iterable[Form], exists: Exists) -> list[Fault]:
    """Return all faults of entries with the fields of `Form`; an optional field may be absent or None."""
    return [
        fault
        for number, entry in enumerate(entries)
        for fault in _faults(f"entries[{number}]", entry, exists)
    ]


def _faults(where: str, entry: Form, exists: Exists) -> Iterator[Fault]:
    named = [name for name in GRANTEES if entry.get(name)]
    if len(named) != 1:
        problem = f"names {' and '.join(named)}" if named else "names nobody"
        yield Fault(where, f'{problem}; an entry must have one of "user", "group" and "everybody": true')
    for kind in PRINCIPALS:
        name = entry.get(kind)
        if name and not exists(kind, name):
            yield Fault(f"{where}.{kind}", unknown_name(kind, name))
    if entry["permission"] != SUBMIT and entry.get("maximum_effective_priority") is not None:
        yield Fault(f"{where}.maximum_effective_priority", f"is only for the permission {SUBMIT}")


def normalised(entries: Iterable[Form]) -> list[dict[str, Any]]:
    """Return valid entries for an event, sorted; of entries that differ in the maximum, the highest."""
    return policy_form(merged(policy_of(map(_with_default_maximum, entries))))


def _with_default_maximum(entry: Form) -> Form:
    """Return the entry without nulls; a submit entry without a maximum gets Urgent."""
    form = {name: value for name, value in entry.items() if value is not None}
    if form["permission"] == SUBMIT:
        return {"maximum_effective_priority": "Urgent", **form}
    return form


def merged(policy: Policy) -> Policy:
    """Return a sorted policy without entries that differ from another one only by a lower maximum."""
    return tuple({entry._replace(maximum=None): entry for entry in reversed(policy)}.values())[::-1]


def without(policy: Policy, kind: str, *names: str) -> Policy:
    """Return the policy without the entries for these users or groups."""
    return tuple(entry for entry in policy if getattr(entry, kind) not in names)


def mentions(policy: Policy, kind: str, *names: str) -> bool:
    return kind in PRINCIPALS and any(getattr(entry, kind) in names for entry in policy)
