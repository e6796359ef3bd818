"""Conversion of distroRequires and hostRequires between XML elements and the JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lxml import etree

from api.intake.locations import local_name
from api.intake.xml_walk import (
    Walk,
    attributes_of,
    has_namespace,
    refuse_attributes,
    refuse_child,
    refuse_text,
)
from domain.requirements.vocabulary import DISTRO_TREE, SYSTEM, Vocabulary

_LOGIC: Final = frozenset({"and", "or", "not"})

# Groups are prefixes of their children: <cpu><cores/></cpu> is the element cpu/cores.
_GROUPS: Final = frozenset({"system", "cpu"})


@dataclass(frozen=True)
class RequirementFormat:
    """The root element of a requirement, whose children must all hold."""

    vocabulary: Vocabulary
    attributes: tuple[str, ...] = ()

    def read(self, element: etree._Element, walk: Walk) -> dict[str, Any]:
        form: dict[str, Any] = {}
        for name, value in attributes_of(element):
            if name in self.attributes:
                form[name] = value
            else:
                walk.unknown_attribute(element, name, self.attributes)
        if len(element) or not form:
            form["and"] = _forms(element, "", self.vocabulary, walk)
        else:
            refuse_text(element, walk)
        return form

    def write(self, part: Any, element: etree._Element) -> None:
        """Write a canonical form of `domain.requirements.forms`."""
        word = next(iter(part))
        if word in self.attributes:
            element.set(word, part[word])
            return
        for form in part["and"] if word == "and" else (part,):
            _write(form, element)


def _forms(element: etree._Element, group: str, vocabulary: Vocabulary, walk: Walk) -> list[dict[str, Any]]:
    refuse_text(element, walk)
    forms: list[dict[str, Any]] = []
    for child in element:
        if has_namespace(child):
            refuse_child(child, element, walk)
            continue
        walk.locations.register(forms, len(forms), child)
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
    refuse_attributes(element, walk)
    return _forms(element, group, vocabulary, walk)


def _leaf(element: etree._Element, name: str, vocabulary: Vocabulary, walk: Walk) -> dict[str, Any]:
    """Return the form of a leaf. Text and children of an unknown element are not checked."""
    if name in vocabulary.elements:
        refuse_text(element, walk)
        for child in element:
            walk.fault(child, f"<{local_name(child)}> does not belong in <{local_name(element)}>")
    if element.get("element") is not None:
        walk.unknown_attribute(element, "element")
    return {**dict(attributes_of(element)), "element": name}


def _write(form: Mapping[str, Any], parent: etree._Element) -> None:
    if "element" not in form:
        ((word, inner),) = form.items()
        element = etree.SubElement(parent, word)
        for child in inner:
            _write(child, element)
        return
    *groups, name = form["element"].split("/")
    for group in groups:
        parent = etree.SubElement(parent, group)
    attributes = {attribute: _text(value) for attribute, value in form.items() if attribute != "element"}
    etree.SubElement(parent, name, attributes)


def _text(value: str | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


DISTRO_REQUIRES: Final = RequirementFormat(DISTRO_TREE)
HOST_REQUIRES: Final = RequirementFormat(SYSTEM, ("force",))
