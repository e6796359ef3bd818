"""How the value of a leaf is read: one function per kind, from what was written to what is compared.

Each takes the attributes of the leaf and raises `ValueError` with the words for the person who wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final, TypeAlias

Operand: TypeAlias = Callable[[Mapping[str, Any]], str | int]

TEXT_LENGTH: Final = 255
WHOLE_LIMIT: Final = 2**31
SIZE_LIMIT_BYTES: Final = 2**63

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,19}")
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

# The job language writes both KB and kB for 1000; only the `i` makes it 1024.
UNITS: Final = {
    "bytes": 1,
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "KiB": 2**10,
    "MB": 10**6,
    "MiB": 2**20,
    "GB": 10**9,
    "GiB": 2**30,
    "TB": 10**12,
    "TiB": 2**40,
}

SYSTEM_TYPES: Final = ("Machine", "Prototype", "Laptop", "Resource")


def plain(raw: Any) -> str:
    """Text of bearable length without control characters; a number is taken as it is written."""
    if isinstance(raw, int) and not isinstance(raw, bool) and abs(raw) < SIZE_LIMIT_BYTES:
        raw = str(raw)
    if not isinstance(raw, str):
        raise ValueError("must be text")
    if len(raw) > TEXT_LENGTH:
        raise ValueError(f"must not be longer than {TEXT_LENGTH} characters")
    if _CONTROL.search(raw):
        raise ValueError("must not hold control characters")
    return raw


def text(leaf: Mapping[str, Any]) -> str:
    return plain(leaf["value"])


def whole(leaf: Mapping[str, Any]) -> int:
    number = _integer(leaf["value"])
    if not -WHOLE_LIMIT <= number < WHOLE_LIMIT:
        raise ValueError(f"must lie between -{WHOLE_LIMIT} and {WHOLE_LIMIT - 1}")
    return number


def size_bytes(leaf: Mapping[str, Any]) -> int:
    units = leaf.get("units", "bytes")
    if not isinstance(units, str) or units not in UNITS:
        raise ValueError(f"units must be one of {', '.join(UNITS)}")
    number = _integer(leaf["value"]) * UNITS[units]
    if not 0 <= number < SIZE_LIMIT_BYTES:
        raise ValueError(f"must lie between 0 and {SIZE_LIMIT_BYTES - 1} bytes")
    return number


def day(leaf: Mapping[str, Any]) -> str:
    """A day as text: ISO days order like the days they name. Empty stands for never."""
    written = plain(leaf["value"])
    if written == "":
        return ""
    try:
        return date.fromisoformat(written if _DAY.fullmatch(written) else "").isoformat()
    except ValueError:
        raise ValueError("must be a day, YYYY-MM-DD, or empty for never") from None


def system_type(leaf: Mapping[str, Any]) -> str:
    written = plain(leaf["value"])
    if written.casefold() not in {name.casefold() for name in SYSTEM_TYPES}:
        raise ValueError(f"must be one of {', '.join(SYSTEM_TYPES)}")
    return written


def _integer(raw: Any) -> int:
    if isinstance(raw, str) and _WHOLE.fullmatch(raw.strip()):
        return int(raw)
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    raise ValueError("must be a whole number")
