"""Evaluation of a host requirement (its JSON form) for one system.

Conditions are three-valued: neither a condition on an unrecorded fact nor its negation holds. An empty `and`,
`or` or `not` is ignored wherever it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from replay.audit.elements import DISK_ELEMENTS, SYSTEM_ELEMENTS, Elements, read_leaf
from replay.audit.facts import Facts, facts_of_disk
from replay.audit.leaves import Condition, Form, Predicate, Ternary, UnknownLeaf

# Raised for a malformed form, or one with an element that the audit does not support.
UNREADABLE = (UnknownLeaf, LookupError, TypeError, ValueError, AttributeError)


def unreadable(host_requires: str) -> str | None:
    """Return the error of a requirement that cannot be read, None if it can be read."""
    try:
        parts(json.loads(host_requires))
    except UNREADABLE as error:
        return f"{type(error).__name__}: {error}"
    return None


def judge(form: Form, facts: Facts) -> Ternary:
    """Evaluate a requirement for a system. Raises UnknownLeaf."""
    return _every(parts(form))(facts)


def parts(form: Form) -> list[Condition]:
    """Return the conditions that a requirement joins by `and`. Raises UnknownLeaf."""
    return [part for each in conditions(form) if (part := read(each)) is not None]


def conditions(form: Form) -> Iterator[Form]:
    if set(form) == {"and"}:
        for each in form["and"]:
            yield from conditions(each)
    else:
        yield form


def read(form: Form) -> Condition | None:
    """Return the condition of a form, None if it is empty. Raises UnknownLeaf."""
    return _read(form, SYSTEM_ELEMENTS)


def _read(form: Form, elements: Elements) -> Condition | None:
    """Return the condition of a form, None if it is empty. Within `disk`, use the elements of disks."""
    if "element" in form:
        return read_leaf(form, elements)
    if len(form) != 1:
        raise UnknownLeaf(f"{dict(form)}")
    ((word, inner),) = form.items()
    if word == "force" and elements is SYSTEM_ELEMENTS:
        return _forced(inner.casefold())
    if word == "disk" and elements is SYSTEM_ELEMENTS:
        return _one_disk(_every(_read_all(inner, DISK_ELEMENTS)))
    if word not in ("and", "or", "not"):
        raise UnknownLeaf(f"{dict(form)}")
    read_conditions = _read_all(inner, elements)
    if not read_conditions:
        return None
    about = frozenset[str]().union(*(each.about for each in read_conditions))
    return Condition(about, {"and": _every, "or": _any, "not": _not_every}[word](read_conditions))


def _read_all(forms: Iterable[Form], elements: Elements) -> list[Condition]:
    return [condition for form in forms if (condition := _read(form, elements)) is not None]


def _forced(fqdn: str) -> Condition:
    return Condition(frozenset({"fqdn"}), lambda facts: bool(facts["fqdn"] == fqdn))


def _every(tests: list[Condition]) -> Predicate:
    def holds(facts: Facts) -> Ternary:
        results = [test.holds(facts) for test in tests]
        return False if False in results else None if None in results else True

    return holds


def _any(tests: list[Condition]) -> Predicate:
    def holds(facts: Facts) -> Ternary:
        results = [test.holds(facts) for test in tests]
        return True if True in results else None if None in results else False

    return holds


def _not_every(tests: list[Condition]) -> Predicate:
    every = _every(tests)

    def holds(facts: Facts) -> Ternary:
        result = every(facts)
        return None if result is None else not result

    return holds


def _one_disk(inner: Predicate) -> Condition:
    def holds(facts: Facts) -> Ternary:
        if facts["disks"] is None:
            return None
        results = [inner(facts_of_disk(disk)) for disk in facts["disks"]]
        return True if True in results else None if None in results else False

    return Condition(frozenset({"disks"}), holds)
