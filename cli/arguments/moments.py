"""Moments and spans of time as people write them.

What names no zone is on the clock of who writes it, as the tables are: `2026-11-20 14:00`, `yesterday 14:00`,
`14:00`; `2h ago` and `in 3d` need none.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
# Every way to write a unit, by the letter it begins with: no two begin alike.
UNIT = r"(s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?)(?![a-z])"
PART = re.compile(rf"\s*(\d{{1,9}})\s*{UNIT}\s*")
DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
ZONE = re.compile(r"\s+(UTC|Z|[+-]\d\d:?\d\d)$", re.IGNORECASE)


def span(text: str) -> timedelta | None:
    """`90s`, `2h`, `1d 12h`, `3 weeks`; None for anything else."""
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
    """The moment that is meant, in UTC; None for what is none."""
    words = " ".join(text.split())
    try:
        found = _from_now(words.lower(), now) or _of_a_day(words.lower(), now) or _written_out(words)
        return found.astimezone(UTC) if found else None
    except (OverflowError, ValueError):
        # Before the first or behind the last year.
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
    """`yesterday`, `tomorrow 9:30`, and `9:30` of today."""
    day, _, at = words.partition(" ")
    if day not in DAYS:
        day, at = "today", words
    clock = time() if words == day else _clock(at)
    if clock is None:
        return None
    there: date = now.astimezone().date() + timedelta(days=DAYS[day])
    # Without a zone: `astimezone` takes it for the local one, as it was on that day.
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
    """ISO 8601 and RFC 3339, also with a blank before the zone, also with UTC for it."""
    zone = ZONE.search(words)
    if zone:
        words = words[: zone.start()] + ("+00:00" if zone[1].upper() in ("UTC", "Z") else zone[1])
    try:
        return datetime.fromisoformat(words)
    except ValueError:
        return None
