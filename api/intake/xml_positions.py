"""Positions of the elements in an XML text; lxml's tree has only their lines."""

from __future__ import annotations

from typing import NamedTuple
from xml.parsers import expat


class Position(NamedTuple):
    """A line and a column. Both count from 1; a column counts characters."""

    line: int
    column: int


def positions_of(body: bytes) -> list[Position]:
    """Return the position of each start tag, in document order. The body must be XML without a DTD."""
    positions: list[Position] = []
    parser = expat.ParserCreate("utf-8")

    def on_start(tag: str, attributes: dict[str, str]) -> None:
        positions.append(Position(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1))

    parser.StartElementHandler = on_start
    parser.Parse(body, True)
    return positions
