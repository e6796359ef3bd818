"""Parsing of one element of a form to a leaf, by the vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from domain.requirements.findings import Finding, Path
from domain.requirements.nodes import Compatible, Device, KeyValue, Leaf, Node
from domain.requirements.operands import pattern, plain
from domain.requirements.operators import EQUALITY, NEGATIVE, OTHER, SPELLINGS
from domain.requirements.vocabulary import Element

_DEFAULT_OP: Final = "=="
# The maximum number of findings of one requirement.
MAX_FINDINGS: Final = 1_000


class Mention(NamedTuple):
    """A name of a kind (field of `NameIndex`) in a requirement; `excludes`: matches things without it."""

    path: Path
    kind: str
    name: str
    excludes: bool = False


@dataclass
class Notes:
    """The results of parsing besides the tree: findings, names, and the elements in order."""

    findings: list[Finding] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)

    def report(self, path: Path, message: str) -> None:
        if len(self.findings) >= MAX_FINDINGS:
            return
        self.findings.append(Finding(path, message))


Build = Callable[[Element, Mapping[str, Any], str], Node | None]


def read_leaf(element: Element, form: Mapping[str, Any], path: Path, notes: Notes) -> Node | None:
    """Return the leaf of an element, None if the element has no effect or is invalid; add to `notes`."""
    name = element.spellings[0]
    notes.elements.append(name)
    if not _has_valid_attributes(element, form, path, notes) or element.ignored:
        return None
    written = form.get("op", _DEFAULT_OP)
    op = SPELLINGS.get(written) if isinstance(written, str) else None
    if op is None or op not in (element.operators or (_DEFAULT_OP,)):
        notes.report((*path, "op"), f"must be one of = {' '.join(element.operators)}")
        return None
    if any(form.get(required) is None for required in element.required):
        notes.report(path, f"needs {' and '.join(element.required)}")
        return None
    try:
        leaf = _BUILD.get(name, _leaf)(element, form, op)
    except _Unreadable as wrong:
        notes.report((*path, wrong.attribute), str(wrong))
        return None
    except ValueError as wrong:
        notes.report((*path, "value"), str(wrong))
        return None
    if leaf is not None and element.names is not None:
        _mention(element, element.names, leaf, path, notes)
    return leaf


def _has_valid_attributes(element: Element, form: Mapping[str, Any], path: Path, notes: Notes) -> bool:
    allowed = {"element", *element.attributes, *(("op",) if element.operators else ())}
    unknown = [name for name in form if name not in allowed]
    for name in unknown:
        notes.report(path, f'unknown attribute "{name}"')
    return not unknown


def _leaf(element: Element, form: Mapping[str, Any], op: str) -> Leaf:
    value = pattern(form) if op == "like" else element.operand(form)
    if value == "" and element.empty_means_none and op not in EQUALITY:
        raise ValueError("an empty value requires the operator = or !=")
    return Leaf(element.spellings[0], op, value)


def _key_value(element: Element, form: Mapping[str, Any], op: str) -> KeyValue:
    value = form.get("value")
    if value is None and op not in (*EQUALITY, OTHER):
        raise ValueError(f"{op} needs a value")
    return KeyValue(_text(form, "key"), op, None if value is None else plain(value))


def _device(element: Element, form: Mapping[str, Any], op: str) -> Device | None:
    """Return the leaf, None without attributes, because such an element has no effect."""
    given = [name for name in element.attributes if form.get(name) is not None]
    attributes = tuple((name, _text(form, name)) for name in given)
    return Device(op, attributes) if attributes else None


def _compatible(element: Element, form: Mapping[str, Any], op: str) -> Compatible:
    version = None if form.get("osminor") is None else _text(form, "osminor")
    return Compatible(_text(form, "arch"), _text(form, "osmajor"), version)


def _text(form: Mapping[str, Any], attribute: str) -> str:
    try:
        return plain(form[attribute])
    except ValueError as wrong:
        raise _Unreadable(attribute, str(wrong)) from None


def _mention(element: Element, kind: str, leaf: Node, path: Path, notes: Notes) -> None:
    """Add the name in a leaf to `notes`, unless it is a pattern or is compared by order."""
    name = _NAMED[type(leaf)](leaf) if type(leaf) in _NAMED else None
    if name:
        excludes = getattr(leaf, "op", "==") in NEGATIVE
        notes.mentions.append(Mention((*path, element.required[0]), kind, name, excludes))


class _Unreadable(Exception):
    """An attribute other than the value is invalid."""

    def __init__(self, attribute: str, message: str) -> None:
        super().__init__(message)
        self.attribute = attribute


_BUILD: Final[Mapping[str, Build]] = {
    "key_value": _key_value,
    "device": _device,
    "system/compatible_with_distro": _compatible,
}
_NAMED: Final[Mapping[type[Node], Callable[[Any], str]]] = {
    Leaf: lambda leaf: str(leaf.value) if leaf.op in (*EQUALITY, OTHER) else "",
    KeyValue: lambda leaf: leaf.key,
    Compatible: lambda leaf: leaf.arch,
}
