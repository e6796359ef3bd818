"""Strict parsing of JSON, with the position of every part."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NoReturn

from api.intake.limits import MAX_DEPTH, MAX_FAULTS, MAX_PARTS, check_body, raise_unreadable
from api.intake.words import refusal
from domain.characters import CONTROL_CHARACTERS
from domain.errors import Fault, FaultyInput
from domain.requirements.findings import Path, dotted

# Not valid in XML. Surrogates can also not be encoded in UTF-8.
_INVALID_CHARACTER: Final = re.compile("[\ud800-\udfff\ufffe\uffff]")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|\n|[^\s\[\]{},:"]+')


# JSON is deeper than XML: a group of a requirement takes two levels, an object and its list.
_MAX_LEVELS: Final = 3 * MAX_DEPTH
# JSON has more parts than XML: a stored document contains defaults that XML leaves out.
_MAX_PARTS: Final = 3 * MAX_PARTS

# Opening token of a container -> the key of its first part, for an object until the name is read.
_OPENS: Final[dict[str, str | int]] = {"{": "", "[": 0}
_CLOSES: Final = ("}", "]")


class DuplicateKeys(Exception):
    """An object has two equal keys. Most parsers would silently ignore the first one."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(key)

    def fault(self, text: str) -> Fault:
        """Return the fault at the line of the second key."""
        where = f"line {_repeated_key_line(text, self.key)}"
        return Fault(where, f"{json.dumps(self.key[:100])} occurs twice in one object")


def refuse_duplicate_keys(text: str) -> None:
    """Raise FaultyInput if an object of a valid JSON text has two equal keys."""
    try:
        json.loads(text, object_pairs_hook=_object)
    except DuplicateKeys as error:
        raise FaultyInput([error.fault(text)]) from None
    except RecursionError:
        raise_unreadable("body", "is nested too deeply")


def parse_json(body: bytes) -> dict[str, Any]:
    """Return the object. Raises Unreadable for malformed or hostile text, FaultyInput for other faults."""
    text = check_body(body)
    try:
        document = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise_unreadable(f"line {error.lineno}, column {error.colno}", f"is not JSON: {error.msg}")
    except DuplicateKeys as error:
        raise FaultyInput([error.fault(text)]) from None
    except (ValueError, RecursionError) as error:
        is_deep = isinstance(error, RecursionError)
        raise_unreadable("body", "is nested too deeply" if is_deep else str(error)[:200])
    if not isinstance(document, dict):
        raise FaultyInput([Fault("line 1", "must be an object")])
    _check_size(document)
    unescaped = json.dumps(document, ensure_ascii=False) if "\\u" in text else text
    if match := _INVALID_CHARACTER.search(unescaped):
        raise_unreadable("body", f"contains U+{ord(match.group()):04X}, which is not a character")
    if CONTROL_CHARACTERS.search(unescaped):
        positions = positions_of(text)
        faults = islice(_control_characters((), document), MAX_FAULTS)
        raise FaultyInput(Fault(location_of(path, positions)[2], message) for path, message in faults)
    return document


def _control_characters(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    """Yield the path and the message of each text with a control character. The depth is bounded."""
    if isinstance(value, str):
        if match := CONTROL_CHARACTERS.search(value):
            yield path, refusal(match)
        return
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        if isinstance(name, str) and (match := CONTROL_CHARACTERS.search(name)):
            yield path, f"a key {refusal(match)}"
        else:
            yield from _control_characters((*path, name), part)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise DuplicateKeys(next(name for name, count in counts.items() if count > 1))
    return members


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number in JSON")


def _check_size(document: dict[str, Any]) -> None:
    """Check size and depth, breadth first, because recursion could exhaust the stack."""
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
        raise_unreadable("body", f"has more than {_MAX_PARTS} objects and lists")
    if layer:
        raise_unreadable("body", f"is nested deeper than {_MAX_LEVELS} levels")


def location_of(path: Path, positions: Mapping[Path, tuple[int, int]]) -> tuple[int, int, str]:
    """Return line and column of the part or its deepest ancestor, and a text with both and the path."""
    ends = range(len(path), 0, -1)
    existing = (positions[path[:end]] for end in ends if path[:end] in positions)
    line, column = next(existing, (1, 1))
    where = f"line {line}, column {column}"
    return line, column, f"{where}: {dotted(path)}" if path else where


def positions_of(text: str) -> dict[Path, tuple[int, int]]:
    """Return line and column of each part (of a member, those of its name). The text must be valid JSON."""
    return {path: (line, column) for path, line, column, _ in _parts(text)}


def _repeated_key_line(text: str, name: str) -> int:
    """Return the line of the second occurrence of a name within one object."""
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
    # The next token begins a member (name), an item of a list, or neither.
    expected = ""
    for match in _TOKEN.finditer(text):
        token, column = match.group(), match.start() - line_begins + 1
        if token == "\n":
            line, line_begins = line + 1, match.end()
            continue
        if expected == "name" and token != "}":
            path[-1] = json.loads(token)
            yield tuple(path), line, column, True
        elif expected == "item" and token != "]":
            yield tuple(path), line, column, False
        expected = ""
        if token in _OPENS:
            path.append(_OPENS[token])
            expected = "name" if token == "{" else "item"
        elif token in _CLOSES:
            path.pop()
        elif token == ",":
            last = path[-1]
            path[-1], expected = (last, "name") if isinstance(last, str) else (last + 1, "item")
