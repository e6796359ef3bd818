"""Parsing of element values by kind, from attributes; a ValueError has the message for the submitter."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final, TypeAlias

Value: TypeAlias = str | int | float
Operand: TypeAlias = Callable[[Mapping[str, Any]], Value]

MAX_TEXT_LENGTH: Final = 255
MAX_WHOLE: Final = 2**31 - 1
MAX_SIZE_BYTES: Final = 2**63 - 1

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,19}")
# At most 4 decimal places, so that the canonical text of a number is short.
_DECIMAL: Final = re.compile(r"[+-]?[0-9]{1,10}(\.[0-9]{1,4})?")
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

_TRUTH: Final = {"true": True, "1": True, "false": False, "0": False}


def plain(raw: Any) -> str:
    """Return text of bounded length without control characters; a number is converted to text."""
    if isinstance(raw, int) and not isinstance(raw, bool) and abs(raw) <= MAX_SIZE_BYTES:
        raw = str(raw)
    if not isinstance(raw, str):
        raise ValueError("must be text")
    if len(raw) > MAX_TEXT_LENGTH:
        raise ValueError(f"must not be longer than {MAX_TEXT_LENGTH} characters")
    if _CONTROL.search(raw):
        raise ValueError("must not contain control characters")
    return raw


def pattern(leaf: Mapping[str, Any]) -> str:
    """Return the pattern of `like`, which is text also for a numeric property."""
    if "units" in leaf:
        raise ValueError("a pattern cannot have units: it is matched against the number of bytes")
    return plain(leaf["value"])


def text(leaf: Mapping[str, Any]) -> str:
    return plain(leaf["value"])


def whole(leaf: Mapping[str, Any]) -> int:
    number = _integer(leaf["value"])
    if not -MAX_WHOLE - 1 <= number <= MAX_WHOLE:
        raise ValueError(f"must be between {-MAX_WHOLE - 1} and {MAX_WHOLE}")
    return number


def decimal(leaf: Mapping[str, Any]) -> float:
    raw = leaf["value"]
    written = str(raw).strip() if isinstance(raw, str | int | float) and not isinstance(raw, bool) else ""
    if not _DECIMAL.fullmatch(written):
        raise ValueError("must be a number with at most 4 decimal places")
    if not -MAX_WHOLE - 1 <= float(written) < MAX_WHOLE + 1:
        raise ValueError(f"must be between {-MAX_WHOLE - 1} and {MAX_WHOLE}")
    return float(written)


def truth(leaf: Mapping[str, Any]) -> bool:
    raw = leaf["value"]
    value = _TRUTH.get(raw.strip().casefold()) if isinstance(raw, str) else raw
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def anything_but_no(leaf: Mapping[str, Any]) -> bool:
    """Return True for any value except false, 0, no and empty text, which are refused."""
    raw = leaf["value"]
    if raw is False or (raw is not True and plain(raw).strip().casefold() in ("", "false", "0", "no")):
        raise ValueError("must be true; the opposite cannot be required")
    return True


def size_bytes(leaf: Mapping[str, Any]) -> int:
    units = leaf.get("units", "bytes")
    if not isinstance(units, str) or units not in UNITS:
        raise ValueError(f"units must be one of {', '.join(UNITS)}")
    number = _integer(leaf["value"]) * UNITS[units]
    if not 0 <= number <= MAX_SIZE_BYTES:
        raise ValueError(f"must be between 0 and {MAX_SIZE_BYTES} bytes")
    return number


def day(leaf: Mapping[str, Any]) -> str:
    """Return a day as ISO text, which sorts chronologically."""
    try:
        return _day(plain(leaf["value"]))
    except ValueError:
        raise ValueError("must be a day, YYYY-MM-DD") from None


def day_or_never(leaf: Mapping[str, Any]) -> str:
    """Return a day as ISO text, or an empty text for never."""
    written = plain(leaf["value"])
    try:
        return written and _day(written)
    except ValueError:
        raise ValueError("must be a day, YYYY-MM-DD, or empty for never") from None


def one_of(names: tuple[str, ...]) -> Operand:
    """Return a parser that accepts these names in any case and returns the canonical spelling."""
    spellings = {name.casefold(): name for name in names}

    def read(leaf: Mapping[str, Any]) -> str:
        written = spellings.get(plain(leaf["value"]).casefold())
        if written is None:
            raise ValueError(f"must be one of {', '.join(names)}")
        return written

    return read


def _day(written: str) -> str:
    return date.fromisoformat(written if _DAY.fullmatch(written) else "").isoformat()


def _integer(raw: Any) -> int:
    if isinstance(raw, str) and _WHOLE.fullmatch(raw.strip()):
        return int(raw)
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    raise ValueError("must be a whole number")
