"""What every shape needs on its way through a tree."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple, cast

from lxml import etree

from api.intake.near_names import meant
from api.intake.not_yet import NOT_YET
from api.intake.places import XmlPlaces, local_name, unknown_element

OWN_NAMESPACE: Final = "urn:labledger:job"


class Strange(NamedTuple):
    """Something wrong at an element.

    With `known` it is an unknown attribute, named by `message`, or without a message the element itself.
    """

    element: etree._Element
    message: str
    known: Collection[str] | None = None

    def words(self) -> str:
        """Return the message; its near name is looked up only now, since most of very many are cut."""
        if self.known is None:
            return self.message
        if not self.message:
            return unknown_element(self.element, self.known)
        return f'unknown attribute "{self.message}"{meant(self.message, self.known)}'


class Walk:
    """One reading of one tree: where its parts come from, and what is wrong with them."""

    def __init__(self, words: Mapping[str, str], body: bytes) -> None:
        self.places = XmlPlaces(words, body)
        self.faults: list[Strange] = []

    def fault(self, element: etree._Element, message: str) -> None:
        self.faults.append(Strange(element, message))

    def unknown_attribute(self, element: etree._Element, name: str, known: Collection[str] = ()) -> None:
        self.faults.append(Strange(element, name, known))

    def unknown_element(self, element: etree._Element, known: Collection[str] = ()) -> None:
        self.faults.append(Strange(element, "", known))


def attributes_of(element: etree._Element) -> list[tuple[str, str]]:
    return cast("list[tuple[str, str]]", element.items())


def no_attributes(element: etree._Element, walk: Walk) -> None:
    for name, _ in attributes_of(element):
        walk.unknown_attribute(element, name)


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


def no_stranger(
    child: etree._Element, parent: etree._Element, walk: Walk, known: Collection[str] = ()
) -> None:
    """Tell that the child does not belong in the parent, which does not know it."""
    name = local_name(child)
    if is_foreign(child):
        walk.fault(child, "foreign elements belong directly in <job>")
    elif child.tag == f"{{{OWN_NAMESPACE}}}{name}" and name in NOT_YET:
        walk.fault(child, f"<{name}> is not supported yet")
    else:
        walk.unknown_element(child, known)


def is_foreign(element: etree._Element) -> bool:
    return has_namespace(element) and etree.QName(element).namespace != OWN_NAMESPACE


def has_namespace(element: etree._Element) -> bool:
    return str(element.tag).startswith("{")
