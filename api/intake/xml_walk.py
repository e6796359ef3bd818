"""What every shape needs on its way through a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from lxml import etree

from api.intake.not_yet import NOT_YET
from api.intake.places import XmlPlaces, local_name, place_of

OWN_NAMESPACE: Final = "urn:labledger:job"


class Walk:
    """One reading of one tree: where its parts come from, and what is wrong with them."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self.places = XmlPlaces(words)
        self.faults: list[tuple[int, str, str]] = []

    def fault(self, element: etree._Element, message: str) -> None:
        self.faults.append((*place_of(element), message))


def attributes_of(element: etree._Element) -> list[tuple[str, str]]:
    return cast("list[tuple[str, str]]", element.items())


def no_attributes(element: etree._Element, walk: Walk) -> None:
    for name, _ in attributes_of(element):
        walk.fault(element, f'unknown attribute "{name}"')


def no_text(element: etree._Element, walk: Walk) -> None:
    """Text belongs only where a shape asks for it; it is told once, at the element that holds it."""
    blank = element.text is None or element.text.isspace()
    for child in element:
        blank = blank and (child.tail is None or child.tail.isspace())
    if not blank:
        walk.fault(element, "unexpected text")


def no_children(element: etree._Element, walk: Walk) -> None:
    for child in element:
        no_stranger(child, element, walk)


def no_stranger(child: etree._Element, parent: etree._Element, walk: Walk) -> None:
    """Tell that the child does not belong in the parent, which does not know it."""
    name = local_name(child)
    if is_foreign(child):
        walk.fault(child, "foreign elements belong directly in <job>")
    elif child.tag == f"{{{OWN_NAMESPACE}}}{name}" and name in NOT_YET:
        walk.fault(child, f"<{name}> is not supported yet")
    else:
        walk.fault(child, f"unknown element <{name}> in <{local_name(parent)}>")


def is_foreign(element: etree._Element) -> bool:
    return has_namespace(element) and etree.QName(element).namespace != OWN_NAMESPACE


def has_namespace(element: etree._Element) -> bool:
    return str(element.tag).startswith("{")
