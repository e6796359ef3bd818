"""Values as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

# Largest unit first; a duration is told in two of them at most.
UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def plain(value: Any) -> str:
    """Any value as text on one line: what others wrote must not steer the terminal."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={plain(item)}" for name, item in value.items())
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(plain, value))
    return "".join(letter if letter.isprintable() else " " for letter in str(value))


def duration(seconds: float) -> str:
    """`75` -> `1m 15s`."""
    rest, parts = max(0, int(seconds)), list[str]()
    for unit, length in UNITS:
        count, rest = divmod(rest, length)
        if count or parts or unit == "s":
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])


def elapsed(since: str | None, until: str | None = None, *, now: datetime | None = None) -> str:
    """How long an interval has lasted; an open one lasts until now."""
    if since is None:
        return ""
    end = datetime.fromisoformat(until) if until else now or datetime.now(UTC)
    return duration((end - datetime.fromisoformat(since)).total_seconds())


def clock(moment: str | None) -> str:
    """A time of the API to the second, as UTC."""
    if moment is None:
        return ""
    return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
