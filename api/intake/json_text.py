"""Strict parsing of JSON, with the position of every part."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NoReturn

from api.intake.bodies import check_body, unreadable
from api.intake.limits import MAX_DEPTH, MAX_FAULTS, MAX_PARTS
from api.intake.words import refusal
from domain.characters import CONTROL_CHARACTERS
from domain.errors import Fault, FaultyInput
from domain.requirements.findings import Path, dotted

# Halves of a surrogate pair cannot be encoded; XML excludes these and the other two.
_NO_CHARACTER: Final = re.compile("[\ud800-\udfff\ufffe\uffff]")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|\n|[^\s\[\]{},:"]+')


# An element of a requirement takes two levels in JSON: an object and its list.
_MAX_LEVELS: Final = 3 * MAX_DEPTH
# A stored document has defaults that XML leaves out.
_MAX_PARTS: Final = 3 * MAX_PARTS

# What opens a container -> the key its first part has until it is named.
_OPENS: Final[dict[str, str | int]] = {"{": "", "[": 0}
_CLOSES: Final = ("}", "]")


class EqualKeys(Exception):
    """An object has two equal keys. Most parsers silently drop the first one."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(key)

    def fault(self, text: str) -> Fault:
        """Return the fault at the line of the second key."""
        where = f"line {_second(text, self.key)}"
        return Fault(where, f"{json.dumps(self.key[:100])} occurs twice in one object")


def refuse_equal_keys(text: str) -> None:
    """Raise FaultyInput if an object of a JSON text has two equal keys. The text must parse."""
    try:
        json.loads(text, object_pairs_hook=_object)
    except EqualKeys as equal:
        raise FaultyInput([equal.fault(text)]) from None
    except RecursionError:
        unreadable("body", "is nested too deeply")


def parse_json(body: bytes) -> dict[str, Any]:
    """Return the object. Raises `Unreadable` for malformed or hostile text, else `FaultyInput`."""
    text = check_body(body)
    try:
        document = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as wrong:
        unreadable(f"line {wrong.lineno}, column {wrong.colno}", f"is not JSON: {wrong.msg}")
    except EqualKeys as equal:
        raise FaultyInput([equal.fault(text)]) from None
    except (ValueError, RecursionError) as wrong:
        unreadable("body", "is nested too deeply" if isinstance(wrong, RecursionError) else str(wrong)[:200])
    if not isinstance(document, dict):
        raise FaultyInput([Fault("line 1", "must be an object")])
    _check_size(document)
    unescaped = json.dumps(document, ensure_ascii=False) if "\\u" in text else text
    if strange := _NO_CHARACTER.search(unescaped):
        unreadable("body", f"contains U+{ord(strange.group()):04X}, which is not a character")
    if CONTROL_CHARACTERS.search(unescaped):
        positions = positions_of(text)
        found = islice(_steering((), document), MAX_FAULTS)
        raise FaultyInput(Fault(place_of(path, positions)[2], message) for path, message in found)
    return document


def _steering(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """Yield the paths of characters that steer a terminal, with the message. The depth is bounded."""
    if isinstance(value, str):
        if found := CONTROL_CHARACTERS.search(value):
            yield path, refusal(found)
        return
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        if isinstance(name, str) and (found := CONTROL_CHARACTERS.search(name)):
            yield path, f"a key {refusal(found)}"
        else:
            yield from _steering((*path, name), part)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise EqualKeys(next(name for name, count in counts.items() if count > 1))
    return found


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number in JSON")


def _check_size(document: dict[str, Any]) -> None:
    """Check size and depth, breadth first: recursion could exhaust the stack."""
    layer: list[Any] = [document]
    seen = 0
    for _ in range(_MAX_LEVELS):
        seen += len(layer)
        if not layer or seen > _MAX_PARTS:
            break
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    if seen > _MAX_PARTS:
        unreadable("body", f"has more than {_MAX_PARTS} objects and lists")
    if layer:
        unreadable("body", f"is nested deeper than {_MAX_LEVELS} levels")


def place_of(path: Path, positions: Mapping[Path, tuple[int, int]]) -> tuple[int, int, str]:
    """Return line and column of the nearest part, and a text with both and the path."""
    ends = range(len(path), 0, -1)
    found = (positions[path[:end]] for end in ends if path[:end] in positions)
    line, column = next(found, (1, 1))
    where = f"line {line}, column {column}"
    return line, column, f"{where}: {dotted(path)}" if path else where


def positions_of(text: str) -> dict[Path, tuple[int, int]]:
    """Return line and column of each part, of a member those of its name. The text must parse."""
    return {path: (line, column) for path, line, column, _ in _parts(text)}


def _second(text: str, name: str) -> int:
    """Return the line of the second occurrence of a name in one object."""
    seen: set[Path] = set()
    for path, line, _, is_member in _parts(text):
        if is_member and path in seen and path[-1] == name:
            return line
        seen.add(path)
    return 1


def _parts(text: str) -> Iterator[tuple[Path, int, int, bool]]:
    """Yield path, line and column of each part in the order of the text, and whether it is a member."""
    line, line_begins = 1, 0
    path: list[str | int] = []
    # The next token begins a name, an item of a list, or nothing with its own path.
    awaited = ""
    for match in _TOKEN.finditer(text):
        token, column = match.group(), match.start() - line_begins + 1
        if token == "\n":
            line, line_begins = line + 1, match.end()
            continue
        if awaited == "name" and token != "}":
            path[-1] = json.loads(token)
            yield tuple(path), line, column, True
        elif awaited == "item" and token != "]":
            yield tuple(path), line, column, False
        awaited = ""
        if token in _OPENS:
            path.append(_OPENS[token])
            awaited = "name" if token == "{" else "item"
        elif token in _CLOSES:
            path.pop()
        elif token == ",":
            last = path[-1]
            path[-1], awaited = (last, "name") if isinstance(last, str) else (last + 1, "item")
