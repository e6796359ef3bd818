"""From one written element to its leaf, as its row of the vocabulary says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from domain.requirements.findings import Finding, Path
from domain.requirements.nodes import Device, KeyValue, Leaf, Node
from domain.requirements.operands import plain
from domain.requirements.operators import EQUALITY, SPELLINGS
from domain.requirements.vocabulary import Element


class Mention(NamedTuple):
    """A name the requirement uses; others say whether it is known. `kind` is a field of `KnownNames`."""

    path: Path
    kind: str
    name: str


@dataclass
class Notes:
    """What a reading found out beside the tree."""

    findings: list[Finding] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    elements: list[str] = field(default_factory=list)

    def report(self, path: Path, message: str) -> None:
        self.findings.append(Finding(path, message))


Build = Callable[[Element, Mapping[str, Any], str], Node | None]


def read_leaf(element: Element, form: Mapping[str, Any], path: Path, notes: Notes) -> Node | None:
    """The leaf, or None when it asks nothing or is wrong."""
    name = element.spellings[0]
    notes.elements.append(name)
    if not _known_attributes(element, form, path, notes) or element.ignored:
        return None
    written = form.get("op", "==")
    op = SPELLINGS.get(written) if isinstance(written, str) else None
    if op not in element.operators:
        notes.report((*path, "op"), f"must be one of = {' '.join(element.operators)}")
        return None
    if any(
        required in element.attributes and form.get(required) is None
        for required in _REQUIRED.get(name, _VALUE)
    ):
        notes.report(path, f"<{_word(form)}> needs {' and '.join(_REQUIRED.get(name, _VALUE))}")
        return None
    try:
        leaf = _BUILD.get(name, _leaf)(element, form, op)
    except ValueError as wrong:
        notes.report((*path, "value"), str(wrong))
        return None
    if leaf is not None:
        _mention(element, leaf, path, notes)
    return leaf


def _known_attributes(element: Element, form: Mapping[str, Any], path: Path, notes: Notes) -> bool:
    unknown = [name for name in form if name not in ("element", "op") and name not in element.attributes]
    for name in unknown:
        notes.report(path, f'unknown attribute "{name}"')
    return not unknown


def _leaf(element: Element, form: Mapping[str, Any], op: str) -> Leaf:
    # A pattern is text whatever it is laid against.
    value = plain(form["value"]) if op == "like" else element.operand(form)
    if value == "" and element.empty_means_none and op not in EQUALITY:
        raise ValueError("empty can only be asked for with = or !=")
    return Leaf(element.spellings[0], op, value)


def _key_value(element: Element, form: Mapping[str, Any], op: str) -> KeyValue:
    value = form.get("value")
    if value is None and op not in EQUALITY:
        raise ValueError(f"{op} needs a value")
    return KeyValue(plain(form["key"]), op, None if value is None else plain(value))


def _device(element: Element, form: Mapping[str, Any], op: str) -> Device | None:
    """Without attributes it asks nothing."""
    attributes = tuple((name, plain(form[name])) for name in element.attributes if form.get(name) is not None)
    return Device(op, attributes) if attributes else None


def _mention(element: Element, leaf: Node, path: Path, notes: Notes) -> None:
    if element.names is None:
        return
    attribute = element.attributes[0]
    name = leaf.key if isinstance(leaf, KeyValue) else leaf.value if isinstance(leaf, Leaf) else ""
    if name:
        notes.mentions.append(Mention((*path, attribute), element.names, str(name)))


def _word(form: Mapping[str, Any]) -> str:
    return str(form["element"]).rsplit("/", 1)[-1]


_VALUE: Final = ("value",)
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {"key_value": ("key",), "device": ()}
_BUILD: Final[Mapping[str, Build]] = {"key_value": _key_value, "device": _device}
