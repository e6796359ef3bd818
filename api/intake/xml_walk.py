"""What every shape needs on its way through a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from lxml import etree

from api.intake.places import XmlPlaces, place_of


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
