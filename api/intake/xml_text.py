"""Parsing of XML bytes to an element tree, without external files, entities or other encodings than UTF-8.

Comments are removed, except for those in elements of foreign namespaces, which are stored unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from lxml import etree

from api.intake.limits import MAX_ATTRIBUTES, MAX_DEPTH, MAX_FAULTS, MAX_PARTS, check_body, raise_unreadable
from api.intake.locations import XmlLocations
from api.intake.words import refusal
from api.intake.xml_walk import is_foreign
from domain.characters import CONTROL_CHARACTERS
from domain.errors import Fault, FaultyInput

# The encoding overrides the declaration of the document, because `check_body` has refused all but UTF-8.
_PARSER: Final = etree.XMLParser(
    encoding="utf-8",
    resolve_entities=False,
    no_network=True,
    load_dtd=False,
    huge_tree=False,
    remove_pis=True,
)
_TOO_DEEP: Final = etree.XPath("boolean(" + "/*" * (MAX_DEPTH + 1) + ")")
# lxml lists the attributes of one element in time that grows with the square of their number.
_TOO_MANY_ATTRIBUTES: Final = etree.XPath(f"boolean(//*[count(@*) > {MAX_ATTRIBUTES}])")
_TOO_MANY_ELEMENTS: Final = etree.XPath(f"count(//*) > {MAX_PARTS}")


def parse_xml(body: bytes) -> etree._Element:
    """Return the root. Raises Unreadable for malformed or hostile XML, FaultyInput for control characters."""
    text = check_body(body)
    try:
        root = etree.fromstring(body, _PARSER)
    except etree.XMLSyntaxError as error:
        raise_unreadable(f"line {error.lineno or 1}", f"is not XML: {_message_without_position(error)}")
    if root.getroottree().docinfo.internalDTD is not None:
        raise_unreadable("line 1", "document types and entities are not allowed")
    _check_size(root, body)
    if b"<!--" in body:
        _drop_comments(root)
    if "&#" in text or CONTROL_CHARACTERS.search(text):
        _check_characters(root, body)
    return root


def _drop_comments(root: etree._Element) -> None:
    if is_foreign(root):
        return
    for child in list(root):
        if isinstance(child, etree._Comment):
            _drop(child, root)
        elif not is_foreign(child):
            etree.strip_tags(child, etree.Comment)


def _drop(comment: etree._Element, root: etree._Element) -> None:
    """Remove a comment, but not the text after it."""
    before, text = comment.getprevious(), comment.tail or ""
    if before is None:
        root.text = (root.text or "") + text or None
    else:
        before.tail = (before.tail or "") + text or None
    root.remove(comment)


def _check_characters(root: etree._Element, body: bytes) -> None:
    """Raise FaultyInput with the location of each text with a control character, at most MAX_FAULTS."""
    faults = list(islice(_control_characters(root), MAX_FAULTS))
    if not faults:
        return
    locations = XmlLocations({}, body)
    locations.set_root(None, root)
    where = ((locations.location_of(element).where, message) for element, message in faults)
    raise FaultyInput(dict.fromkeys(Fault(*fault) for fault in where))


def _control_characters(root: etree._Element) -> Iterator[tuple[etree._Element, str]]:
    """Yield element and message of each text with a control character. A comment counts to its parent."""
    for node in root.iter():
        parent = node.getparent()
        element = parent if isinstance(node, etree._Comment) else node
        texts = [(element, "", node.text), (parent, "", node.tail)]
        texts += [(element, f"{_local(str(name))}: ", str(value)) for name, value in node.attrib.items()]
        for owner, field, text in texts:
            if owner is not None and text and (match := CONTROL_CHARACTERS.search(text)):
                yield owner, field + refusal(match)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _check_size(root: etree._Element, body: bytes) -> None:
    """Raise Unreadable for a tree that is too large. A body with few `<` and `=` needs no search."""
    elements, attributes = body.count(b"<") - body.count(b"</"), body.count(b"=")
    if elements > MAX_DEPTH and _TOO_DEEP(root):
        raise_unreadable("document", f"is nested deeper than {MAX_DEPTH} elements")
    if attributes > MAX_ATTRIBUTES and _TOO_MANY_ATTRIBUTES(root):
        raise_unreadable("document", f"has an element with more than {MAX_ATTRIBUTES} attributes")
    if elements > MAX_PARTS and _TOO_MANY_ELEMENTS(root):
        raise_unreadable("document", f"has more than {MAX_PARTS} elements")


def _message_without_position(error: etree.XMLSyntaxError) -> str:
    return (error.msg or "syntax error").split(", line ")[0][:200]
