"""distroRequires and hostRequires: from elements to the JSON form, which the domain then judges."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from api.intake.places import local_name
from api.intake.xml_shapes import Shape
from api.intake.xml_walk import Walk, attributes_of, no_attributes, no_text
from domain.requirements.vocabulary import DISTRO_TREE, SYSTEM, Vocabulary

_LOGIC: Final = frozenset({"and", "or", "not"})

# They only say what their children are about: <cpu><cores/></cpu> is the element cpu/cores.
_GROUPS: Final = frozenset({"system", "cpu"})


def requirement(vocabulary: Vocabulary, attributes: frozenset[str] = frozenset()) -> Shape:
    """The root of a requirement: all its children must hold."""

    def shape(element: etree._Element, walk: Walk) -> dict[str, Any]:
        form: dict[str, Any] = {}
        for name, value in attributes_of(element):
            if name in attributes:
                form[name] = value
            else:
                walk.fault(element, f'unknown attribute "{name}"')
        if len(element) or not form:
            form["and"] = _forms(element, "", vocabulary, walk)
        return form

    return shape


def _forms(element: etree._Element, group: str, vocabulary: Vocabulary, walk: Walk) -> list[dict[str, Any]]:
    no_text(element, walk)
    forms: list[dict[str, Any]] = []
    for child in element:
        walk.places.put(forms, len(forms), child)
        forms.append(_form(child, group, vocabulary, walk))
    return forms


def _form(element: etree._Element, group: str, vocabulary: Vocabulary, walk: Walk) -> dict[str, Any]:
    tag = str(element.tag)
    if tag in _LOGIC:
        return {tag: _inner(element, group, vocabulary, walk)}
    if not group and vocabulary is SYSTEM and tag in _GROUPS:
        return {"and": _inner(element, f"{tag}/", vocabulary, walk)}
    nested = None if group else vocabulary.nested.get(tag)
    if nested is not None:
        return {tag: _inner(element, "", nested, walk)}
    return _leaf(element, group + tag, vocabulary, walk)


def _inner(element: etree._Element, group: str, vocabulary: Vocabulary, walk: Walk) -> list[dict[str, Any]]:
    no_attributes(element, walk)
    return _forms(element, group, vocabulary, walk)


def _leaf(element: etree._Element, name: str, vocabulary: Vocabulary, walk: Walk) -> dict[str, Any]:
    """Of an element that nobody knows, only that is told, and nothing about what it holds."""
    if vocabulary.knows(name):
        no_text(element, walk)
        for child in element:
            walk.fault(child, f"<{local_name(child)}> does not belong in <{local_name(element)}>")
    if element.get("element") is not None:
        walk.fault(element, 'unknown attribute "element"')
    return {**dict(attributes_of(element)), "element": name}


DISTRO_REQUIRES: Final = requirement(DISTRO_TREE)
HOST_REQUIRES: Final = requirement(SYSTEM, frozenset({"force"}))
