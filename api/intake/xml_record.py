"""Records: elements whose attributes and children fill an object of the document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lxml import etree

from api.intake.places import local_name
from api.intake.xml_shapes import Shape
from api.intake.xml_walk import Walk, attributes_of, is_foreign, refuse_child, refuse_children, refuse_text

_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")


@dataclass(frozen=True)
class ChildElement:
    """The field that a child element fills; with `many`, one item of it."""

    field: str
    shape: Shape
    many: bool = False

    def take(self, child: etree._Element, found: dict[str, Any], walk: Walk) -> None:
        if self.many:
            members = found.setdefault(self.field, [])
            walk.places.put(members, len(members), child)
            members.append(self.shape.read(child, walk))
        elif self.field in found:
            walk.fault(child, f"<{local_name(child)}> may occur here only once")
        else:
            walk.places.put(found, self.field, child)
            found[self.field] = self.shape.read(child, walk)

    def give(self, part: Mapping[str, Any], tag: str, element: etree._Element) -> None:
        if self.field in part:
            for one in part[self.field] if self.many else (part[self.field],):
                self.shape.write(one, etree.SubElement(element, tag))


@dataclass(frozen=True)
class Spread:
    """Fields of the parent that the attributes of an empty child element fill."""

    attributes: Mapping[str, str]

    def take(self, child: etree._Element, found: dict[str, Any], walk: Walk) -> None:
        if not found.keys().isdisjoint(self.attributes.values()):
            walk.fault(child, f"<{local_name(child)}> may occur here only once")
            return
        for name, value in attributes_of(child):
            if name in self.attributes:
                walk.places.put(found, self.attributes[name], child)
                found[self.attributes[name]] = value
            else:
                walk.unknown_attribute(child, name, self.attributes)
        refuse_text(child, walk)
        refuse_children(child, walk)

    def give(self, part: Mapping[str, Any], tag: str, element: etree._Element) -> None:
        written = {name: part[filled] for name, filled in self.attributes.items() if filled in part}
        if written:
            etree.SubElement(element, tag, written)


@dataclass(frozen=True)
class Record:
    """An element as an object; attributes and children may occur in any order.

    `values` maps the words of a field to values, and `numbers` are the fields that are whole numbers: XML has
    only text. Other words stay as they are, and the checks of the document refuse them. `foreign` is the
    field that keeps elements of other namespaces unchanged.
    """

    attributes: Mapping[str, str]
    children: Mapping[str, ChildElement | Spread] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    foreign: str | None = None

    def read(self, element: etree._Element, walk: Walk) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, written in attributes_of(element):
            filled = self.attributes.get(name)
            if filled is None:
                walk.unknown_attribute(element, name, self.attributes)
            else:
                found[filled] = self._meaning(filled, written)
        refuse_text(element, walk)
        for child in element:
            row = self.children.get(str(child.tag))
            if row is not None:
                row.take(child, found, walk)
            elif self.foreign and is_foreign(child):
                walk.places.put(found, self.foreign, child)
                found.setdefault(self.foreign, []).append(foreign_text(child))
            else:
                refuse_child(child, element, walk, self.children)
        return found

    def write(self, part: Any, element: etree._Element) -> None:
        """Write all but foreign elements, which must not be indented."""
        for name, filled in self.attributes.items():
            if filled in part:
                element.set(name, self._word(filled, part[filled]))
        for tag, row in self.children.items():
            row.give(part, tag, element)

    def _meaning(self, filled: str, written: str) -> Any:
        if filled in self.numbers and _WHOLE.fullmatch(written):
            return int(written)
        return self.values.get(filled, {}).get(written, written)

    def _word(self, filled: str, value: Any) -> str:
        words = (word for word, meaning in self.values.get(filled, {}).items() if meaning == value)
        return next(words, str(value))


def foreign_text(element: etree._Element) -> str:
    """Return the stored text of a foreign element."""
    return etree.tostring(element, encoding="unicode", with_tail=False)
