"""Checks that all JSON documents share: fields, whole numbers and texts.

Every check reports a fault with its path and goes on, so that a caller gets all faults of a document at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, TypeVar

from domain.characters import CONTROL_CLASS
from domain.requirements.findings import Finding, Path, Report

T = TypeVar("T")

MAX_ID: Final = 2**31 - 1
"""Ids of jobs and recipe sets are below 2^31."""

# PostgreSQL cannot store NUL and lone surrogates; terminals interpret the other characters.
_UNSTORABLE: Final = re.compile(rf"[\x00-\x1f\ud800-\udfff{CONTROL_CLASS}]")
# The part of an unknown name that a message quotes.
_MAX_QUOTED_LENGTH: Final = 100


def without_faults(read: Callable[[Report], T], report: Report) -> T | None:
    """Return the result of `read`, None if it reported a fault; the faults are passed on to `report`."""
    found: list[Finding] = []
    result = read(lambda path, message: found.append(Finding(path, message)))
    for finding in found:
        report(finding.path, finding.message)
    return None if found else result


def fields_of(document: Any, names: Collection[str], path: Path, report: Report) -> Mapping[str, Any]:
    """Return the given fields of an object; report unknown fields, and a value that is not an object."""
    if not isinstance(document, Mapping):
        report(path, "must be an object")
        return {}
    for name in document:
        if name not in names:
            report((*path, quoted(name)), f"is unknown; the fields are {', '.join(names)}")
    return {name: document[name] for name in names if name in document}


def items_of(document: Any, path: Path, report: Report) -> Iterator[tuple[Path, Any]]:
    """Yield the items of a list with their paths; report a value that is not a list."""
    if not isinstance(document, list):
        report(path, "must be a list")
        return
    yield from (((*path, index), item) for index, item in enumerate(document))


def is_whole(raw: Any) -> bool:
    """Return whether a JSON value is a whole number; true, false and 1.0 are not."""
    return isinstance(raw, int) and not isinstance(raw, bool)


def whole(raw: Any, least: int, greatest: int) -> int:
    """Return a whole number. Raises ValueError for any other value, and outside the bounds."""
    if not is_whole(raw) or not least <= raw <= greatest:
        raise ValueError(f"must be a whole number from {least} to {greatest}")
    return int(raw)


def text(raw: Any) -> str:
    """Return a text without control characters, which may be empty. Raises ValueError for any other value."""
    if not isinstance(raw, str):
        raise ValueError("must be text")
    if _UNSTORABLE.search(raw):
        raise ValueError("must not contain control characters")
    return raw


def name(raw: Any) -> str:
    """Return a text that is neither empty nor blank. Raises ValueError for any other value."""
    if not text(raw).strip():
        raise ValueError("must not be empty")
    return text(raw)


def truth(raw: Any) -> bool:
    if not isinstance(raw, bool):
        raise ValueError("must be true or false")
    return raw


def one_of(*words: str) -> Callable[[Any], str]:
    """Return a reader that accepts exactly these words."""

    def read(raw: Any) -> str:
        if not isinstance(raw, str) or raw not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return raw

    return read


def read_value(read: Callable[[Any], T], raw: Any, path: Path, report: Report) -> T | None:
    """Return the value that `read` returns; report its ValueError, and return None."""
    try:
        return read(raw)
    except ValueError as error:
        report(path, str(error))
        return None


def quoted(raw: Any) -> str:
    """Return the beginning of a value from a document, for a message."""
    return str(raw)[:_MAX_QUOTED_LENGTH]
