"""The conversion of bytes to an element tree, without fetching, expanding or guessing anything.

Comments are dropped, except for those in elements of foreign namespaces, which are kept as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from lxml import etree

from api.intake.bodies import check_body, unreadable
from api.intake.limits import MAX_ATTRIBUTES, MAX_DEPTH, MAX_FAULTS, MAX_PARTS
from api.intake.places import XmlPlaces
from api.intake.words import refusal
from api.intake.xml_walk import is_foreign
from domain.characters import CONTROL_CHARACTERS
from domain.errors import Fault, FaultyInput

# The encoding overrules what the document declares: anything but UTF-8 was refused already.
_PARSER: Final = etree.XMLParser(
    encoding="utf-8",
    resolve_entities=False,
    no_network=True,
    load_dtd=False,
    huge_tree=False,
    remove_pis=True,
)
_TOO_DEEP: Final = etree.XPath("boolean(" + "/*" * (MAX_DEPTH + 1) + ")")
# The parser lists the attributes of one element in time that grows with the square of their number.
_TOO_LOADED: Final = etree.XPath(f"boolean(//*[count(@*) > {MAX_ATTRIBUTES}])")
_TOO_MANY: Final = etree.XPath(f"count(//*) > {MAX_PARTS}")


def parse_xml(body: bytes) -> etree._Element:
    """Return the root element. Raises `Unreadable` for malformed or hostile XML."""
    text = check_body(body)
    try:
        root = etree.fromstring(body, _PARSER)
    except etree.XMLSyntaxError as wrong:
        unreadable(f"line {wrong.lineno or 1}", f"is not XML: {_plain(wrong)}")
    if root.getroottree().docinfo.internalDTD is not None:
        unreadable("line 1", "document types and entities are not allowed")
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
    """Raise FaultyInput with the place of each character that steers a terminal."""
    found = list(islice(_steering(root), MAX_FAULTS))
    if not found:
        return
    places = XmlPlaces({}, body)
    places.whole(None, root)
    raise FaultyInput(dict.fromkeys(Fault(places.of(element).where, message) for element, message in found))


def _steering(root: etree._Element) -> Iterator[tuple[etree._Element, str]]:
    """Yield each element with such a character, and the message. A comment belongs to its parent."""
    for node in root.iter():
        parent = node.getparent()
        element = parent if isinstance(node, etree._Comment) else node
        texts = [(element, "", node.text), (parent, "", node.tail)]
        texts += [(element, f"{_local(str(name))}: ", str(value)) for name, value in node.attrib.items()]
        for holder, field, text in texts:
            if holder is not None and text and (found := CONTROL_CHARACTERS.search(text)):
                yield holder, field + refusal(found)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _check_size(root: etree._Element, body: bytes) -> None:
    """Raise `Unreadable` for a tree that is too large; a body with few signs needs no search."""
    elements, attributes = body.count(b"<") - body.count(b"</"), body.count(b"=")
    if elements > MAX_DEPTH and _TOO_DEEP(root):
        unreadable("document", f"is nested deeper than {MAX_DEPTH} elements")
    if attributes > MAX_ATTRIBUTES and _TOO_LOADED(root):
        unreadable("document", f"has an element with more than {MAX_ATTRIBUTES} attributes")
    if elements > MAX_PARTS and _TOO_MANY(root):
        unreadable("document", f"has more than {MAX_PARTS} elements")


def _plain(wrong: etree.XMLSyntaxError) -> str:
    """Return the message of the parser without the place."""
    return (wrong.msg or "syntax error").split(", line ")[0][:200]
