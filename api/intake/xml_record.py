"""Records: elements whose attributes and children fill an object of the document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lxml import etree

from api.intake.locations import local_name
from api.intake.xml_shapes import Shape
from api.intake.xml_walk import Walk, attributes_of, is_foreign, refuse_child, refuse_children, refuse_text

_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")


@dataclass(frozen=True)
class ChildElement:
    """A child element that fills a field of the parent, or with `many` one item of the field."""

    field: str
    shape: Shape
    many: bool = False

    def read_into(self, child: etree._Element, record: dict[str, Any], walk: Walk) -> None:
        if self.many:
            members = record.setdefault(self.field, [])
            walk.locations.register(members, len(members), child)
            members.append(self.shape.read(child, walk))
        elif self.field in record:
            walk.fault(child, f"<{local_name(child)}> may occur here only once")
        else:
            walk.locations.register(record, self.field, child)
            record[self.field] = self.shape.read(child, walk)

    def write_from(self, part: Mapping[str, Any], tag: str, element: etree._Element) -> None:
        if self.field in part:
            for value in part[self.field] if self.many else (part[self.field],):
                self.shape.write(value, sub_element(element, tag))


@dataclass(frozen=True)
class Spread:
    """An empty child element whose attributes fill fields of the parent."""

    attributes: Mapping[str, str]

    def read_into(self, child: etree._Element, record: dict[str, Any], walk: Walk) -> None:
        if not record.keys().isdisjoint(self.attributes.values()):
            walk.fault(child, f"<{local_name(child)}> may occur here only once")
            return
        for name, value in attributes_of(child):
            if name in self.attributes:
                walk.locations.register(record, self.attributes[name], child)
                record[self.attributes[name]] = value
            else:
                walk.unknown_attribute(child, name, self.attributes)
        refuse_text(child, walk)
        refuse_children(child, walk)

    def write_from(self, part: Mapping[str, Any], tag: str, element: etree._Element) -> None:
        values = {
            name: part[field_name] for name, field_name in self.attributes.items() if field_name in part
        }
        if values:
            etree.SubElement(element, tag, values)


@dataclass(frozen=True)
class Record:
    """An element as an object; attributes and children may occur in any order.

    XML has only text: `values` maps the texts of a field to its values, and `numbers` are the fields of whole
    numbers. Other texts stay unchanged, for the checks of the document to refuse. `foreign` is the field that
    stores elements of other namespaces as text.
    """

    attributes: Mapping[str, str]
    children: Mapping[str, ChildElement | Spread] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    foreign: str | None = None

    def read(self, element: etree._Element, walk: Walk) -> dict[str, Any]:
        record: dict[str, Any] = {}
        for name, text in attributes_of(element):
            field_name = self.attributes.get(name)
            if field_name is None:
                walk.unknown_attribute(element, name, self.attributes)
            else:
                record[field_name] = self._value(field_name, text)
        refuse_text(element, walk)
        for child in element:
            row = self.children.get(str(child.tag))
            if row is not None:
                row.read_into(child, record, walk)
            elif self.foreign and is_foreign(child):
                walk.locations.register(record, self.foreign, child)
                record.setdefault(self.foreign, []).append(foreign_text(child))
            else:
                refuse_child(child, element, walk, self.children)
        return record

    def write(self, part: Any, element: etree._Element) -> None:
        """Write all but foreign elements, which the caller adds after the indentation."""
        for name, field_name in self.attributes.items():
            if field_name in part:
                element.set(name, self._text(field_name, part[field_name]))
        for tag, row in self.children.items():
            row.write_from(part, tag, element)

    def _value(self, field_name: str, text: str) -> Any:
        if field_name in self.numbers and _WHOLE.fullmatch(text):
            return int(text)
        return self.values.get(field_name, {}).get(text, text)

    def _text(self, field_name: str, value: Any) -> str:
        texts = (text for text, meaning in self.values.get(field_name, {}).items() if meaning == value)
        return next(texts, str(value))


def sub_element(parent: etree._Element, tag: str) -> etree._Element:
    """Append an empty element, whose namespace is written without a prefix."""
    namespace = etree.QName(tag).namespace
    return etree.SubElement(parent, tag, nsmap={None: namespace} if namespace else None)  # type: ignore[dict-item]


def foreign_text(element: etree._Element) -> str:
    return etree.tostring(element, encoding="unicode", with_tail=False)
