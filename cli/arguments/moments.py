"""Parsing of times and durations in the forms that people write.

A time without a zone, as in `2026-11-20 14:00`, `yesterday 14:00` and `14:00`, is local time, as in tables.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
# The first letter identifies a unit.
UNIT = r"(s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?)(?![a-z])"
PART = re.compile(rf"\s*(\d{{1,9}})\s*{UNIT}\s*")
DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
ZONE = re.compile(r"\s+(UTC|Z|[+-]\d\d:?\d\d)$", re.IGNORECASE)


def span(text: str) -> timedelta | None:
    """Parse a duration such as `90s`, `2h`, `1d 12h`, `3 weeks`; return None for anything else."""
    rest, seconds = text.strip().lower(), 0
    if not rest:
        return None
    while rest:
        part = PART.match(rest)
        if part is None:
            return None
        seconds += int(part[1]) * SECONDS[part[2][0]]
        rest = rest[part.end() :]
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        return None


def moment(text: str, now: datetime) -> datetime | None:
    """Parse a time and return it in UTC; return None for anything else."""
    words = " ".join(text.split())
    try:
        found = _from_now(words.lower(), now) or _of_a_day(words.lower(), now) or _written_out(words)
        return found.astimezone(UTC) if found else None
    except (OverflowError, ValueError):
        # Outside of the years that `datetime` supports.
        return None


def _from_now(words: str, now: datetime) -> datetime | None:
    if words == "now":
        return now
    if words.endswith(" ago"):
        before = span(words.removesuffix(" ago"))
        return now - before if before is not None else None
    after = span(words.removeprefix("in ")) if words.startswith("in ") else None
    return now + after if after is not None else None


def _of_a_day(words: str, now: datetime) -> datetime | None:
    """Parse `yesterday`, `tomorrow 9:30`, and `9:30` of today."""
    day, _, at = words.partition(" ")
    if day not in DAYS:
        day, at = "today", words
    clock = time() if words == day else _clock(at)
    if clock is None:
        return None
    there: date = now.astimezone().date() + timedelta(days=DAYS[day])
    # `astimezone` applies the local zone with its offset on that day.
    return datetime.combine(there, clock).astimezone()


def _clock(text: str) -> time | None:
    found = re.fullmatch(r"(\d{1,2}):(\d\d)(?::(\d\d))?", text)
    if found is None:
        return None
    hour, minute, second = map(int, found.groups(default="0"))
    try:
        return time(hour, minute, second)
    except ValueError:
        return None


def _written_out(words: str) -> datetime | None:
    """Parse ISO 8601 and RFC 3339, also with a blank before the zone, also with UTC as the zone."""
    zone = ZONE.search(words)
    if zone:
        words = words[: zone.start()] + ("+00:00" if zone[1].upper() in ("UTC", "Z") else zone[1])
    try:
        return datetime.fromisoformat(words)
    except ValueError:
        return None
