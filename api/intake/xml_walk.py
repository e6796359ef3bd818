"""The state of a walk through an XML tree, and checks that all elements share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple, cast

from lxml import etree

from api.intake.locations import XmlLocations, local_name, unknown_element
from api.intake.near_names import suggestion

# Element in Labledger's namespace -> field of the JSON form. Both are refused.
OWN_NAMESPACE: Final = "urn:labledger:job"


class ElementFault(NamedTuple):
    """A fault. With `allowed`, `message` is an unknown attribute, or empty if the element is unknown."""

    element: etree._Element
    message: str
    allowed: Collection[str] | None = None

    def words(self) -> str:
        """Return the message. The suggestion takes time, so only reported faults get one."""
        if self.allowed is None:
            return self.message
        if not self.message:
            return unknown_element(self.element, [tag.rpartition("}")[2] for tag in self.allowed])
        return f'unknown attribute "{self.message}"{suggestion(self.message, self.allowed)}'


class Walk:
    """The locations and faults of a tree while it is read."""

    def __init__(self, words: Mapping[str, str], body: bytes) -> None:
        self.locations = XmlLocations(words, body)
        self.faults: list[ElementFault] = []

    def fault(self, element: etree._Element, message: str) -> None:
        self.faults.append(ElementFault(element, message))

    def unknown_attribute(self, element: etree._Element, name: str, allowed: Collection[str] = ()) -> None:
        self.faults.append(ElementFault(element, name, allowed))

    def unknown_element(self, element: etree._Element, allowed: Collection[str] = ()) -> None:
        self.faults.append(ElementFault(element, "", allowed))


def attributes_of(element: etree._Element) -> list[tuple[str, str]]:
    return cast("list[tuple[str, str]]", element.items())


def refuse_attributes(element: etree._Element, walk: Walk) -> None:
    for name, _ in attributes_of(element):
        walk.unknown_attribute(element, name)


def refuse_text(element: etree._Element, walk: Walk) -> None:
    is_blank = element.text is None or element.text.isspace()
    for child in element:
        is_blank = is_blank and (child.tail is None or child.tail.isspace())
    if not is_blank:
        walk.fault(element, "unexpected text")


def refuse_children(element: etree._Element, walk: Walk) -> None:
    for child in element:
        refuse_child(child, element, walk)


def refuse_child(
    child: etree._Element, parent: etree._Element, walk: Walk, allowed: Collection[str] = ()
) -> None:
    name = local_name(child)
    if is_foreign(child):
        walk.fault(child, "foreign elements belong directly in <job>")
    elif child.tag == name and f"{{{OWN_NAMESPACE}}}{name}" in allowed:
        walk.fault(child, f'<{name}> needs the namespace: write <{name} xmlns="{OWN_NAMESPACE}">')
    else:
        walk.unknown_element(child, allowed)


def is_foreign(element: etree._Element) -> bool:
    return has_namespace(element) and etree.QName(element).namespace != OWN_NAMESPACE


def has_namespace(element: etree._Element) -> bool:
    return str(element.tag).startswith("{")
