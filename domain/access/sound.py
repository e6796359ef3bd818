"""What is wrong with a policy that somebody gives; and one without what names who is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from domain.access.policy import SUBMIT, Form, Policy, policy_of, told
from domain.errors import Fault
from domain.names import unknown_name

Knows = Callable[[str, str], bool]
"""Whether there is a thing of this kind and name."""

NAMED = ("user", "group")
WHO = (*NAMED, "everybody")


def faults_of(entries: Iterable[Form], knows: Knows) -> list[Fault]:
    """All of them. The entries have the fields of `Form`, what is not said may be None."""
    return [
        fault for number, entry in enumerate(entries) for fault in _faults(f"entries[{number}]", entry, knows)
    ]


def _faults(where: str, entry: Form, knows: Knows) -> Iterator[Fault]:
    named = [name for name in WHO if entry.get(name)]
    if len(named) != 1:
        said = f"names {' and '.join(named)}" if named else "names nobody"
        yield Fault(where, f'{said}: an entry has one of "user", "group" and "everybody": true')
    for kind in NAMED:
        name = entry.get(kind)
        if name and not knows(kind, name):
            yield Fault(f"{where}.{kind}", unknown_name(kind, name))
    if entry["permission"] != SUBMIT and entry.get("maximum_effective_priority") is not None:
        yield Fault(f"{where}.maximum_effective_priority", f"is for the permission {SUBMIT} alone")


def given(entries: Iterable[Form]) -> list[dict[str, Any]]:
    """Sound entries as events have them: each once, of several maxima the highest, in one order."""
    return told(merged(policy_of(map(_completed, entries))))


def _completed(entry: Form) -> Form:
    """Who may submit and is told no maximum has none below the highest."""
    said = {name: value for name, value in entry.items() if value is not None}
    if said["permission"] == SUBMIT:
        return {"maximum_effective_priority": "Urgent", **said}
    return said


def merged(policy: Policy) -> Policy:
    """Of the maxima of one and the same the highest, which is the one that counts: it is the first."""
    return tuple({entry._replace(maximum=None): entry for entry in reversed(policy)}.values())[::-1]


def without(policy: Policy, kind: str, name: str) -> Policy:
    """The policy without what names a user or a group."""
    return tuple(entry for entry in policy if getattr(entry, kind) != name)


def names(policy: Policy, kind: str, name: str) -> bool:
    """Whether any entry names it: only users and groups are named."""
    return kind in NAMED and any(getattr(entry, kind) == name for entry in policy)
