"""Evaluation of a host requirement (its JSON form) for one system.

Conditions are three-valued: neither a condition on an unrecorded fact nor its negation holds. An empty `and`,
`or` or `not` is ignored wherever it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from replay.audit.elements import OF_A_DISK, OF_A_SYSTEM, Elements, read_leaf
from replay.audit.facts import Facts, facts_of_disk
from replay.audit.leaves import Answer, Ask, Form, Question, UnknownLeaf

# Raised for a malformed form, or one with an element that the audit does not support.
UNREADABLE = (UnknownLeaf, LookupError, TypeError, ValueError, AttributeError)


def unreadable(host_requires: str) -> str | None:
    """Return why a requirement cannot be read, None if it can."""
    try:
        parts(json.loads(host_requires))
    except UNREADABLE as error:
        return f"{type(error).__name__}: {error}"
    return None


def judge(form: Form, facts: Facts) -> Answer:
    """Evaluate a requirement for a system. Raise UnknownLeaf."""
    return _every(parts(form))(facts)


def parts(form: Form) -> list[Question]:
    """Return the conditions that must all hold for a requirement to hold. Raise UnknownLeaf."""
    return [part for each in conditions(form) if (part := read(each)) is not None]


def conditions(form: Form) -> Iterator[Form]:
    """Yield the forms that a requirement joins by `and`."""
    if set(form) == {"and"}:
        for each in form["and"]:
            yield from conditions(each)
    else:
        yield form


def read(form: Form) -> Question | None:
    """Return the condition of a form, None if it is empty. Raise UnknownLeaf."""
    return _read(form, OF_A_SYSTEM)


def _read(form: Form, elements: Elements) -> Question | None:
    """Return the condition of a form, None if it is empty. Within a disk the elements are those of disks."""
    if "element" in form:
        return read_leaf(form, elements)
    if len(form) != 1:
        raise UnknownLeaf(f"{dict(form)}")
    ((word, inner),) = form.items()
    if word == "force" and elements is OF_A_SYSTEM:
        return _forced(inner.casefold())
    if word == "disk" and elements is OF_A_SYSTEM:
        return _one_disk(_every(_asked(inner, OF_A_DISK)))
    if word not in ("and", "or", "not"):
        raise UnknownLeaf(f"{dict(form)}")
    asked = _asked(inner, elements)
    if not asked:
        return None
    about = frozenset[str]().union(*(each.about for each in asked))
    return Question(about, {"and": _every, "or": _any, "not": _not_every}[word](asked))


def _asked(forms: Iterable[Form], elements: Elements) -> list[Question]:
    return [asked for form in forms if (asked := _read(form, elements)) is not None]


def _forced(fqdn: str) -> Question:
    return Question(frozenset({"fqdn"}), lambda facts: bool(facts["fqdn"] == fqdn))


def _every(questions: list[Question]) -> Ask:
    def ask(facts: Facts) -> Answer:
        answers = [question.ask(facts) for question in questions]
        return False if False in answers else None if None in answers else True

    return ask


def _any(questions: list[Question]) -> Ask:
    def ask(facts: Facts) -> Answer:
        answers = [question.ask(facts) for question in questions]
        return True if True in answers else None if None in answers else False

    return ask


def _not_every(questions: list[Question]) -> Ask:
    every = _every(questions)

    def ask(facts: Facts) -> Answer:
        said = every(facts)
        return None if said is None else not said

    return ask


def _one_disk(inner: Ask) -> Question:
    """Require that a single disk satisfies the inner test."""

    def ask(facts: Facts) -> Answer:
        if facts["disks"] is None:
            return None
        answers = [inner(facts_of_disk(disk)) for disk in facts["disks"]]
        return True if True in answers else None if None in answers else False

    return Question(frozenset({"disks"}), ask)
