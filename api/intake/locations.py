"""Conversion of paths in a document to locations in its XML or JSON text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol
from xml.parsers import expat

from lxml import etree

from api.intake.json_text import location_of
from api.intake.json_text import positions_of as positions_of_json
from api.intake.near_names import suggestion
from domain.requirements.findings import Finding, Path, dotted


class Location(NamedTuple):
    """A location in a text. `rest` is the end of the path, if `where` does not contain it."""

    line: int
    column: int
    where: str
    rest: str = ""


class Locations(Protocol):
    def find(self, path: Path) -> Location:
        """Return the location of a path, or of its deepest ancestor in the text."""

    def word(self, field: str) -> str:
        """Return the name of a missing field, as it is written in XML or JSON."""

    def message(self, finding: Finding) -> str:
        """Return the message of a finding, with names as they are written in XML or JSON."""


class XmlLocations:
    """The XML element of each part of a document, by container and key, because paths would cost memory."""

    def __init__(self, words: Mapping[str, str], body: bytes) -> None:
        self._words = words
        self._body = body
        self._root: etree._Element | None = None
        self._document: Any = None
        self._elements: dict[tuple[int, str | int], etree._Element] = {}
        self._steps_below: dict[etree._Element, dict[etree._Element, str]] = {}

    def set_root(self, document: Any, root: etree._Element) -> None:
        self._document, self._root = document, root

    def register(self, container: Any, key: str | int, element: etree._Element) -> None:
        self._elements[id(container), key] = element

    def find(self, path: Path) -> Location:
        element, length = self._nearest(path)
        rest = path[length:]
        first = XML_NAMES.get(rest[0], rest[0]) if rest else ""
        return self.location_of(element)._replace(rest=dotted((first, *rest[1:])) if rest else "")

    def location_of(self, element: etree._Element) -> Location:
        line, column = self._positions[element]
        return Location(line, column, f"line {line}, column {column}: {self._path(element)}")

    def _path(self, element: etree._Element) -> str:
        """Return the path below the root, as in `recipeSet[2]/recipe[1]/task[3]`, or the name of the root."""
        steps: list[str] = []
        parent = element.getparent()
        while parent is not None:
            if parent not in self._steps_below:
                self._steps_below[parent] = _steps(parent)
            steps.append(self._steps_below[parent][element])
            element, parent = parent, parent.getparent()
        return "/".join(reversed(steps)) or local_name(element)

    def word(self, field: str) -> str:
        return self._words.get(field, field)

    def message(self, finding: Finding) -> str:
        if finding.unknown is None:
            return finding.message
        element, _ = self._nearest(finding.path)
        return unknown_element(element, _names_beside(element, finding.spellings))

    def _nearest(self, path: Path) -> tuple[etree._Element, int]:
        """Return the element of a path or of its deepest ancestor, and the length of the path to it."""
        element, length, part = self._root, 0, self._document
        for depth, step in enumerate(path, 1):
            child = self._elements.get((id(part), step))
            if child is not None:
                element, length = child, depth
            try:
                part = part[step]
            except (KeyError, IndexError, TypeError):
                break
        assert element is not None, "locations are available after set_root"
        return element, length

    @cached_property
    def _positions(self) -> Mapping[etree._Element, Position]:
        assert self._root is not None, "locations are available after set_root"
        return dict(zip(self._root.iter("*"), positions_of(self._body), strict=True))


_LOGIC: Final = ("and", "or", "not")
_GROUPS: Final = ("system", "cpu")

# Always numbered in paths; other elements only if the parent has several of the name.
_NUMBERED: Final = ("recipeSet", "recipe", "guestrecipe", "task")
# Fields with another name in XML.
XML_NAMES: Final[Mapping[str | int, str]] = {
    "size_gb": "size",
    "duration_seconds": "duration",
    "recipe_sets": "<recipeSet>",
    "recipes": "<recipe>",
    "guests": "<guestrecipe>",
    "tasks": "<task>",
    "pools": "<pool>",
    "depends_on": "<depends-on>",
    "reasons": "<reason>",
}


def _steps(parent: etree._Element) -> dict[etree._Element, str]:
    """Return the step to each child in a path: its name, numbered if the parent has several of it."""
    counts = Counter(child.tag for child in parent)
    seen: Counter[str] = Counter()
    steps = {}
    for child in parent:
        seen[child.tag] += 1
        name = local_name(child)
        is_numbered = counts[child.tag] > 1 or name in _NUMBERED
        steps[child] = f"{name}[{seen[child.tag]}]" if is_numbered else name
    return steps


def unknown_element(element: etree._Element, allowed: Iterable[str]) -> str:
    """Return the message for an element that its parent does not allow."""
    name, parent = local_name(element), element.getparent()
    inside = "" if parent is None else f" in <{local_name(parent)}>"
    return f"unknown element <{name}>{inside}{suggestion(name, allowed, template='<{}>')}"


def _names_beside(element: etree._Element, spellings: Iterable[str]) -> list[str]:
    """Return the names of the elements that a requirement allows instead of this one."""
    parent = element.getparent()
    while parent is not None and parent.tag in _LOGIC:
        parent = parent.getparent()
    group = str(parent.tag) if parent is not None and parent.tag in _GROUPS else ""
    split = (spelling.rpartition("/") for spelling in spellings)
    return [*_LOGIC, *(() if group else _GROUPS), *(name for prefix, _, name in split if prefix == group)]


def local_name(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]


class JsonLocations:
    """The positions in a JSON text, computed at the first use."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    @cached_property
    def _positions(self) -> Mapping[Path, tuple[int, int]]:
        return positions_of_json(self._body.decode("utf-8"))

    def find(self, path: Path) -> Location:
        return Location(*location_of(path, self._positions))

    def word(self, field: str) -> str:
        return f'"{field}"'

    def message(self, finding: Finding) -> str:
        if finding.unknown is None:
            return finding.message.replace("unknown attribute", "unknown field", 1)
        return f'unknown element "{finding.unknown}"{suggestion(finding.unknown, finding.spellings)}'


class LocationsBelow:
    """The locations of a part of a JSON document, by paths that begin at that part."""

    def __init__(self, outer: JsonLocations, path: Path) -> None:
        self._outer = outer
        self._path = path

    def find(self, path: Path) -> Location:
        return self._outer.find((*self._path, *path))

    def word(self, field: str) -> str:
        return self._outer.word(field)

    def message(self, finding: Finding) -> str:
        return self._outer.message(finding)


class EmbeddedLocations:
    """Locations with embedded texts. `embedded`: path of a part -> path of its text, locations in it."""

    def __init__(self, outer: Locations, embedded: Mapping[Path, tuple[Path, Locations]]) -> None:
        self._outer = outer
        self._embedded = embedded

    def find(self, path: Path) -> Location:
        for end in range(len(path), 0, -1):
            embedded = self._embedded.get(path[:end])
            if embedded is not None:
                text_path, locations = embedded
                outer, inner = self._outer.find(text_path), locations.find(path[end:])
                return Location(outer.line, outer.column, f"{outer.where}, {inner.where}", inner.rest)
        return self._outer.find(path)

    def word(self, field: str) -> str:
        return self._outer.word(field)

    def message(self, finding: Finding) -> str:
        for end in range(len(finding.path), 0, -1):
            embedded = self._embedded.get(finding.path[:end])
            if embedded is not None:
                return embedded[1].message(finding._replace(path=finding.path[end:]))
        return self._outer.message(finding)


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
