"""Conversion of paths in a document to places in its XML or JSON text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol

from lxml import etree

from api.intake.json_text import place_of
from api.intake.json_text import positions_of as positions_of_json
from api.intake.near_names import suggestion
from api.intake.xml_positions import Position, positions_of
from domain.requirements.findings import Finding, Path, dotted


class TextPlace(NamedTuple):
    """`rest` is the end of the path that `where` does not show, for the message to name."""

    line: int
    column: int
    where: str
    rest: str = ""


class TextPlaces(Protocol):
    def find(self, path: Path) -> TextPlace:
        """Return the nearest place for a path, at least that of the whole document."""

    def word(self, field: str) -> str:
        """Return the name of a missing field in the language of the text."""

    def message(self, finding: Finding) -> str:
        """Return the message of a finding in the language of the text."""


class XmlPlaces:
    """The XML element of each part of a document.

    A part is identified by its container and its key in it, so that a valid document costs one entry for each
    element, and no paths.
    """

    def __init__(self, words: Mapping[str, str], body: bytes) -> None:
        self._words = words
        self._body = body
        self._root: etree._Element | None = None
        self._document: Any = None
        self._elements: dict[tuple[int, str | int], etree._Element] = {}
        self._steps_below: dict[etree._Element, dict[etree._Element, str]] = {}

    def whole(self, document: Any, root: etree._Element) -> None:
        self._document, self._root = document, root

    def put(self, container: Any, key: str | int, element: etree._Element) -> None:
        self._elements[id(container), key] = element

    def find(self, path: Path) -> TextPlace:
        element, shown = self._nearest(path)
        rest = path[shown:]
        first = SHOWN.get(rest[0], rest[0]) if rest else ""
        return self.of(element)._replace(rest=dotted((first, *rest[1:])) if rest else "")

    def of(self, element: etree._Element) -> TextPlace:
        line, column = self._positions[element]
        return TextPlace(line, column, f"line {line}, column {column}: {self._path(element)}")

    def _path(self, element: etree._Element) -> str:
        """Return `recipeSet[2]/recipe[1]/task[3]`, the path below the root, or the name of the root."""
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
        """Return the nearest element to a path, and the length of the path to it."""
        element, shown, part = self._root, 0, self._document
        for depth, step in enumerate(path, 1):
            found = self._elements.get((id(part), step))
            if found is not None:
                element, shown = found, depth
            try:
                part = part[step]
            except (KeyError, IndexError, TypeError):
                break
        assert element is not None, "places are asked for once the document is read"
        return element, shown

    @cached_property
    def _positions(self) -> Mapping[etree._Element, Position]:
        assert self._root is not None, "places are asked for once the document is read"
        return dict(zip(self._root.iter("*"), positions_of(self._body), strict=True))


_LOGIC: Final = ("and", "or", "not")
_GROUPS: Final = ("system", "cpu")

# Always numbered in paths; other elements only if there are several.
_NUMBERED: Final = ("recipeSet", "recipe", "guestrecipe", "task")
# Fields with another name in XML.
SHOWN: Final[Mapping[str | int, str]] = {
    "size_gb": "size",
    "duration_seconds": "duration",
    "recipe_sets": "<recipeSet>",
    "recipes": "<recipe>",
    "guests": "<guestrecipe>",
    "tasks": "<task>",
    "pools": "<pool>",
}


def _steps(parent: etree._Element) -> dict[etree._Element, str]:
    """Return the step to each child in a path, numbered if there are several of the name."""
    counts = Counter(child.tag for child in parent)
    seen: Counter[str] = Counter()
    steps = {}
    for child in parent:
        seen[child.tag] += 1
        name = local_name(child)
        numbered = counts[child.tag] > 1 or name in _NUMBERED
        steps[child] = f"{name}[{seen[child.tag]}]" if numbered else name
    return steps


def unknown_element(element: etree._Element, allowed: Iterable[str]) -> str:
    """Return the message for an element that its parent does not allow."""
    name, parent = local_name(element), element.getparent()
    inside = "" if parent is None else f" in <{local_name(parent)}>"
    return f"unknown element <{name}>{inside}{suggestion(name, allowed, shown='<{}>')}"


def _names_beside(element: etree._Element, spellings: Iterable[str]) -> list[str]:
    """Return the elements that a requirement allows at the place of one."""
    parent = element.getparent()
    while parent is not None and parent.tag in _LOGIC:
        parent = parent.getparent()
    group = str(parent.tag) if parent is not None and parent.tag in _GROUPS else ""
    split = (spelling.rpartition("/") for spelling in spellings)
    return [*_LOGIC, *(() if group else _GROUPS), *(name for around, _, name in split if around == group)]


def local_name(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]


class JsonPlaces:
    """The positions in a JSON text, computed at the first use."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    @cached_property
    def _positions(self) -> Mapping[Path, tuple[int, int]]:
        return positions_of_json(self._body.decode("utf-8"))

    def find(self, path: Path) -> TextPlace:
        return TextPlace(*place_of(path, self._positions))

    def word(self, field: str) -> str:
        return f'"{field}"'

    def message(self, finding: Finding) -> str:
        if finding.unknown is None:
            return finding.message.replace("unknown attribute", "unknown field", 1)
        return f'unknown element "{finding.unknown}"{suggestion(finding.unknown, finding.spellings)}'


class Grafted:
    """The places of a document with embedded texts, by the path of each embedded part."""

    def __init__(self, trunk: TextPlaces, grafts: Mapping[Path, tuple[Path, TextPlaces]]) -> None:
        self._trunk = trunk
        self._grafts = grafts

    def find(self, path: Path) -> TextPlace:
        for end in range(len(path), 0, -1):
            graft = self._grafts.get(path[:end])
            if graft is not None:
                written_at, places = graft
                outer, inner = self._trunk.find(written_at), places.find(path[end:])
                return TextPlace(outer.line, outer.column, f"{outer.where}, {inner.where}", inner.rest)
        return self._trunk.find(path)

    def word(self, field: str) -> str:
        return self._trunk.word(field)

    def message(self, finding: Finding) -> str:
        for end in range(len(finding.path), 0, -1):
            graft = self._grafts.get(finding.path[:end])
            if graft is not None:
                return graft[1].message(finding._replace(path=finding.path[end:]))
        return self._trunk.message(finding)
