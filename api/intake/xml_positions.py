"""The positions of the elements in an XML text. The tree itself has lines only."""

from __future__ import annotations

from typing import NamedTuple
from xml.parsers import expat


class Position(NamedTuple):
    """A line and a column. Both count from 1; a column counts characters."""

    line: int
    column: int


def positions_of(body: bytes) -> list[Position]:
    """Return the position of each start tag, in document order. The body must be XML without a DTD."""
    found: list[Position] = []
    parser = expat.ParserCreate("utf-8")

    def began(tag: str, attributes: dict[str, str]) -> None:
        found.append(Position(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1))

    parser.StartElementHandler = began
    parser.Parse(body, True)
    return found
