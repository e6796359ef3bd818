"""Parsing of the JSON form of a requirement to a tree, which reports all faults.

A form is `{"and": [...]}`, `{"or": [...]}`, `{"not": [...]}`, `{"disk": [...]}`, or one element with its
attributes: `{"element": "memory", "op": ">=", "value": 8192}`. Parts without effect are left out and needless
nesting is removed, so that equivalent requirements share one text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from domain.requirements.findings import Finding, Path
from domain.requirements.leaves import Notes, read_leaf
from domain.requirements.nodes import All, Disk, Either, Node, Not
from domain.requirements.vocabulary import Vocabulary

MAX_DEPTH: Final = 50
MAX_ELEMENTS: Final = 1000


def both(children: Iterable[Node]) -> Node | None:
    """Return the conjunction of the children, flattened; None if there are none."""
    flat: list[Node] = []
    for child in children:
        flat.extend(child.children if isinstance(child, All) else (child,))
    return _joined(All, flat)


def either(children: Iterable[Node]) -> Node | None:
    flat: list[Node] = []
    for child in children:
        flat.extend(child.children if isinstance(child, Either) else (child,))
    return _joined(Either, flat)


def _joined(join: type[All] | type[Either], children: list[Node]) -> Node | None:
    if len(children) < 2:
        return children[0] if children else None
    return join(tuple(children))


def _negated(children: Iterable[Node]) -> Node | None:
    inner = both(children)
    if inner is None:
        return None
    return Not(inner.children if isinstance(inner, All) else (inner,))


def _on_one_disk(children: Iterable[Node]) -> Node:
    """Return the requirement of a disk; without children, the system must have any disk."""
    return Disk(both(children) or All(()))


JOINS: Final[Mapping[str, Callable[[Iterable[Node]], Node | None]]] = {
    "and": both,
    "or": either,
    "not": _negated,
}


def read_node(form: Any, vocabulary: Vocabulary, path: Path, notes: Notes) -> Node | None:
    """Return the tree of a form, None if the form has no effect; report faulty parts and leave them out."""
    if not isinstance(form, Mapping):
        notes.report(path, "must be an object")
        return None
    if len(path) > 2 * MAX_DEPTH:
        notes.report(path, f"is nested deeper than {MAX_DEPTH} levels")
        return None
    if "element" in form:
        return _element(form, vocabulary, path, notes)
    if not form:
        return None
    word = next(iter(form))
    if len(form) > 1 or (word not in JOINS and word not in vocabulary.nested):
        words = [*JOINS, *vocabulary.nested, "element"]
        notes.report(path, f"must be an object with one of {', '.join(words)}")
        return None
    nested = vocabulary.nested.get(word)
    children = _children(form[word], nested or vocabulary, (*path, word), notes)
    return _on_one_disk(children) if nested else JOINS[word](children)


def _children(forms: Any, vocabulary: Vocabulary, path: Path, notes: Notes) -> list[Node]:
    if not isinstance(forms, list):
        notes.report(path, "must be a list")
        return []
    read = (read_node(form, vocabulary, (*path, index), notes) for index, form in enumerate(forms))
    return [node for node in read if node is not None]


def _element(form: Mapping[str, Any], vocabulary: Vocabulary, path: Path, notes: Notes) -> Node | None:
    spelling = form["element"]
    if len(notes.elements) >= MAX_ELEMENTS:
        if len(notes.elements) == MAX_ELEMENTS:
            notes.elements.append("")
            notes.report(path, f"there are more than {MAX_ELEMENTS} elements")
        return None
    element = vocabulary.elements.get(spelling) if isinstance(spelling, str) else None
    if element is not None:
        return read_leaf(element, form, path, notes)
    notes.elements.append("")
    unknown = str(spelling)[:100]
    message = f"unknown element <{unknown.rsplit('/', 1)[-1]}>"
    notes.findings.append(Finding(path, message, unknown, vocabulary.elements.keys()))
    return None
