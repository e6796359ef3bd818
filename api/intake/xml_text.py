"""The conversion of bytes to an element tree, without fetching, expanding or guessing anything.

Comments are dropped, except for those in elements of foreign namespaces, which are kept as they are written.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from lxml import etree

from api.intake.bodies import check_body, unreadable
from api.intake.limits import ATTRIBUTE_LIMIT, DEPTH_LIMIT, FAULT_LIMIT, PART_LIMIT
from api.intake.words import refusal
from api.intake.xml_walk import is_foreign
from domain.characters import STEERING
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
_TOO_DEEP: Final = etree.XPath("boolean(" + "/*" * (DEPTH_LIMIT + 1) + ")")
# The parser lists the attributes of one element in time that grows with the square of their number.
_TOO_LOADED: Final = etree.XPath(f"boolean(//*[count(@*) > {ATTRIBUTE_LIMIT}])")
_TOO_MANY: Final = etree.XPath(f"count(//*) > {PART_LIMIT}")


def parse_xml(body: bytes) -> etree._Element:
    """The root element. Raises `Unreadable` for what is broken or hostile."""
    text = check_body(body)
    try:
        root = etree.fromstring(body, _PARSER)
    except etree.XMLSyntaxError as wrong:
        unreadable(f"line {wrong.lineno or 1}", f"is not XML: {_plain(wrong)}")
    if root.getroottree().docinfo.internalDTD is not None:
        unreadable("line 1", "document types and entities are refused")
    _check_size(root, body)
    if b"<!--" in body:
        _drop_comments(root)
    if "&#" in text or STEERING.search(text):
        _check_characters(root)
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
    """Remove a comment, but not the text behind it."""
    before, text = comment.getprevious(), comment.tail or ""
    if before is None:
        root.text = (root.text or "") + text or None
    else:
        before.tail = (before.tail or "") + text or None
    root.remove(comment)


def _check_characters(root: etree._Element) -> None:
    """Raise FaultyInput with the line of each element that holds a character which steers a terminal."""
    faults = (
        Fault(f"line {element.sourceline}", refusal(found))
        for element in root.iter()
        for held in (element.text, element.tail, *element.attrib.values())
        if held and (found := STEERING.search(held))
    )
    if first := list(dict.fromkeys(islice(faults, FAULT_LIMIT))):
        raise FaultyInput(first)


def _check_size(root: etree._Element, body: bytes) -> None:
    """Where there are few signs, no tree can be too large: most are not looked through."""
    elements, attributes = body.count(b"<") - body.count(b"</"), body.count(b"=")
    if elements > DEPTH_LIMIT and _TOO_DEEP(root):
        unreadable("document", f"is nested deeper than {DEPTH_LIMIT} elements")
    if attributes > ATTRIBUTE_LIMIT and _TOO_LOADED(root):
        unreadable("document", f"has an element with more than {ATTRIBUTE_LIMIT} attributes")
    if elements > PART_LIMIT and _TOO_MANY(root):
        unreadable("document", f"has more than {PART_LIMIT} elements")


def _plain(wrong: etree.XMLSyntaxError) -> str:
    """The words of the parser without the place, which stands elsewhere."""
    return (wrong.msg or "syntax error").split(", line ")[0][:200]
