"""From a path in a document to the place where a person finds it, whichever door it came through."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol, cast

from lxml import etree

from api.intake.json_text import lines_of
from domain.requirements.findings import Path, dotted


class Place(NamedTuple):
    """`rest` is the end of the path that `where` does not show, for the message to name."""

    line: int
    where: str
    rest: str = ""


class Places(Protocol):
    def find(self, path: Path) -> Place:
        """The nearest place for a path; the whole document if nothing is nearer."""

    def word(self, field: str) -> str:
        """What a field that is missing is called by those who write such documents."""


class XmlPlaces:
    """Which element each part of a document was read from.

    A part is known by the container it lies in and its key there, so that reading a sound document costs one
    entry for each element, and no paths.
    """

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words
        self._root: etree._Element | None = None
        self._document: Any = None
        self._elements: dict[tuple[int, str | int], etree._Element] = {}

    def whole(self, document: Any, root: etree._Element) -> None:
        self._document, self._root = document, root

    def put(self, container: Any, key: str | int, element: etree._Element) -> None:
        self._elements[id(container), key] = element

    def find(self, path: Path) -> Place:
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
        return Place(*place_of(element), dotted(path[shown:]))

    def word(self, field: str) -> str:
        return self._words.get(field, field)


def place_of(element: etree._Element) -> tuple[int, str]:
    line = line_of(element)
    return line, f"line {line}, <{local_name(element)}>"


def line_of(element: etree._Element) -> int:
    return cast(int, element.sourceline)


def local_name(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2]


class JsonPlaces:
    """The lines of a JSON text, counted only when somebody asks."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    @cached_property
    def _lines(self) -> Mapping[Path, int]:
        return lines_of(self._body.decode("utf-8"))

    def find(self, path: Path) -> Place:
        ends = range(len(path), 0, -1)
        line = next((self._lines[path[:end]] for end in ends if path[:end] in self._lines), 1)
        return Place(line, f"line {line}: {dotted(path)}" if path else f"line {line}")

    def word(self, field: str) -> str:
        return f'"{field}"'


class Grafted:
    """The places of a document into which parts were read from other texts, by the path where each begins."""

    def __init__(self, trunk: Places, grafts: Mapping[Path, tuple[Path, Places]]) -> None:
        self._trunk = trunk
        self._grafts = grafts

    def find(self, path: Path) -> Place:
        for end in range(len(path), 0, -1):
            graft = self._grafts.get(path[:end])
            if graft is not None:
                written_at, places = graft
                outer, inner = self._trunk.find(written_at), places.find(path[end:])
                return Place(outer.line, f"{outer.where}, {inner.where}", inner.rest)
        return self._trunk.find(path)

    def word(self, field: str) -> str:
        return self._trunk.word(field)
