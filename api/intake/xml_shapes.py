"""How elements become the parts of a document: a few shapes, out of which `xml_job` builds its tables.

A shape is a function from an element to what stands for it in the document. Shapes report what is wrong
with the structure (elements, attributes and text that do not belong, or twice); values are left to the checks
of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from lxml import etree

from api.intake.places import local_name
from api.intake.xml_walk import Walk, attributes_of, no_attributes, no_text

OWN_NAMESPACE: Final = "urn:labledger:job"


Shape: TypeAlias = Callable[[etree._Element, Walk], Any]


@dataclass(frozen=True)
class Child:
    """The field of the parent that a child element fills; with `many`, one member of it."""

    field: str
    shape: Shape
    many: bool = False


def text(element: etree._Element, walk: Walk) -> str:
    """Nothing but text."""
    no_attributes(element, walk)
    for child in element:
        walk.fault(child, _stranger(child, element))
    return (element.text or "").strip()


def attribute(name: str) -> Shape:
    """An empty element that is no more than its one attribute; None, and told, when that is missing."""

    def shape(element: etree._Element, walk: Walk) -> Any:
        found = record({name: name})(element, walk)
        if name not in found:
            walk.fault(element, f'has no attribute "{name}"')
        return found.get(name)

    return shape


def listing(tag: str, member: Shape) -> Shape:
    """An element that holds any number of one other."""

    def shape(element: etree._Element, walk: Walk) -> list[Any]:
        no_attributes(element, walk)
        no_text(element, walk)
        members: list[Any] = []
        for child in element:
            if child.tag != tag:
                walk.fault(child, _stranger(child, element))
                continue
            walk.places.put(members, len(members), child)
            found = member(child, walk)
            if found is not None:
                members.append(found)
        return members

    return shape


def mapping(tag: str, key: str, value: str) -> Shape:
    """An element that holds pairs, each written as the two attributes of a child."""
    pairs = listing(tag, record({key: key, value: value}))

    def shape(element: etree._Element, walk: Walk) -> dict[str, Any]:
        gathered: dict[str, Any] = {}
        for child, pair in zip(element.iterchildren(tag), pairs(element, walk), strict=True):
            missing = [name for name in (key, value) if name not in pair]
            if missing:
                walk.fault(child, f'has no attribute "{missing[0]}"')
            elif pair[key] in gathered:
                walk.fault(child, f'"{pair[key]}" is given twice')
            else:
                walk.places.put(gathered, pair[key], child)
                gathered[pair[key]] = pair[value]
        return gathered

    return shape


def record(
    attributes: Mapping[str, str],
    children: Mapping[str, Child] | None = None,
    *,
    values: Mapping[str, Mapping[str, Any]] | None = None,
    foreign: str | None = None,
) -> Shape:
    """An element as an object: its attributes and children fill fields, in whatever order they stand.

    `values` says what the words of an attribute mean; others are left for the document's checks to refuse.
    `foreign` is the field that keeps elements of other namespaces as they are written.
    """
    table = children or {}
    meanings = values or {}

    def shape(element: etree._Element, walk: Walk) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in attributes_of(element):
            field = attributes.get(name)
            if field is None:
                walk.fault(element, f'unknown attribute "{name}"')
            else:
                found[field] = meanings.get(field, {}).get(value, value)
        no_text(element, walk)
        for child in element:
            row = table.get(str(child.tag))
            if row is not None:
                _take(row, child, found, walk)
            elif foreign and _is_foreign(child):
                walk.places.put(found, foreign, child)
                found.setdefault(foreign, []).append(
                    etree.tostring(child, encoding="unicode", with_tail=False)
                )
            else:
                walk.fault(child, _stranger(child, element))
        return found

    return shape


def not_yet(_element: etree._Element, _walk: Walk) -> dict[str, Any]:
    """An element whose time has not come: the document's checks refuse it where it stands."""
    return {}


def _take(row: Child, child: etree._Element, found: dict[str, Any], walk: Walk) -> None:
    if row.many:
        members = found.setdefault(row.field, [])
        walk.places.put(members, len(members), child)
        members.append(row.shape(child, walk))
    elif row.field in found:
        walk.fault(child, f"<{local_name(child)}> may stand here only once")
    else:
        walk.places.put(found, row.field, child)
        found[row.field] = row.shape(child, walk)


def _is_foreign(element: etree._Element) -> bool:
    return str(element.tag).startswith("{") and etree.QName(element).namespace != OWN_NAMESPACE


def _stranger(child: etree._Element, parent: etree._Element) -> str:
    name = local_name(child)
    if str(child.tag).startswith("{"):
        own = not _is_foreign(child)
        return f"<{name}> is not supported yet" if own else "foreign elements belong directly in <job>"
    return f"unknown element <{name}> in <{local_name(parent)}>"
