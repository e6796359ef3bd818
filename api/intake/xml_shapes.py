"""Conversion between XML elements and parts of a document, by the shapes in the tables of `xml_job`.

Shapes report faults of the structure: unknown or repeated elements and attributes, and unexpected text. The
checks of the document validate the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from lxml import etree

from api.intake.xml_walk import (
    Walk,
    attributes_of,
    refuse_attributes,
    refuse_child,
    refuse_children,
    refuse_text,
)


class Shape(Protocol):
    def read(self, element: etree._Element, walk: Walk) -> Any:
        """Return the part of the document for the element."""

    def write(self, part: Any, element: etree._Element) -> None:
        """Fill an empty element so that `read` returns this part, which is valid."""


@dataclass(frozen=True)
class Text:
    """An element with text only; surrounding blanks are removed unless `verbatim`."""

    verbatim: bool = False

    def read(self, element: etree._Element, walk: Walk) -> str:
        refuse_attributes(element, walk)
        refuse_children(element, walk)
        text = element.text or ""
        return text if self.verbatim else text.strip()

    def write(self, part: Any, element: etree._Element) -> None:
        element.text = part


@dataclass(frozen=True)
class Flag:
    """An empty element without attributes, which stands for a field that is true."""

    def read(self, element: etree._Element, walk: Walk) -> bool:
        refuse_attributes(element, walk)
        refuse_children(element, walk)
        refuse_text(element, walk)
        return True

    def write(self, part: Any, element: etree._Element) -> None:
        pass


@dataclass(frozen=True)
class Attribute:
    """An empty element with one required attribute. Without it, `read` reports a fault and returns None."""

    name: str

    def read(self, element: etree._Element, walk: Walk) -> str | None:
        values = _values(element, (self.name,), walk)
        return values[0] if values else None

    def write(self, part: Any, element: etree._Element) -> None:
        element.set(self.name, part)


@dataclass(frozen=True)
class ListOf:
    """An element with any number of children of one kind."""

    tag: str
    member: Shape

    def read(self, element: etree._Element, walk: Walk) -> list[Any]:
        members: list[Any] = []
        for child in _children(element, self.tag, walk):
            walk.locations.register(members, len(members), child)
            member = self.member.read(child, walk)
            if member is not None:
                members.append(member)
        return members

    def write(self, part: Any, element: etree._Element) -> None:
        for member in part:
            self.member.write(member, etree.SubElement(element, self.tag))


@dataclass(frozen=True)
class Pairs:
    """Names with values, each pair as the two attributes of a child; of equal names the last pair counts."""

    tag: str
    name: str
    value: str

    def read(self, element: etree._Element, walk: Walk) -> dict[str, str]:
        pairs: dict[str, str] = {}
        for child in _children(element, self.tag, walk):
            pair = _values(child, (self.name, self.value), walk)
            if pair:
                walk.locations.register(pairs, pair[0], child)
                pairs[pair[0]] = pair[1]
        return pairs

    def write(self, part: Any, element: etree._Element) -> None:
        for name, value in part.items():
            etree.SubElement(element, self.tag, {self.name: name, self.value: value})


def _values(element: etree._Element, names: tuple[str, ...], walk: Walk) -> tuple[str, ...] | None:
    """Return the values of the required attributes; report a fault and return None if one is missing."""
    attributes = dict(attributes_of(element))
    for name in attributes.keys() - set(names):
        walk.unknown_attribute(element, name, names)
    refuse_text(element, walk)
    refuse_children(element, walk)
    missing = [name for name in names if name not in attributes]
    if missing:
        walk.fault(element, f'has no attribute "{missing[0]}"')
        return None
    return tuple(attributes[name] for name in names)


def _children(element: etree._Element, tag: str, walk: Walk) -> Iterator[etree._Element]:
    """Yield the children with this tag; report faults for all other contents."""
    refuse_attributes(element, walk)
    refuse_text(element, walk)
    for child in element:
        if child.tag == tag:
            yield child
        else:
            refuse_child(child, element, walk, (tag,))
