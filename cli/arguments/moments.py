"""Parsing of times and durations in the forms that people write.

A time may end with its zone: `UTC`, an offset such as `+01:00`, or a name such as `Europe/Berlin`. Without
one, as in `2026-11-20 14:00`, `last tuesday` and `14:00`, it is local time, as in tables.
"""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Final, Literal
from zoneinfo import ZoneInfo

SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
# The first letter identifies a unit.
UNIT = r"(s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?|w|weeks?)(?![a-z])"
PART = re.compile(rf"\s*(\d{{1,9}})\s*{UNIT}\s*")
DAYS = {
    "day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
}
DAY = re.compile(rf"(?:the )?({'|'.join(DAYS)})(?: (?:at )?(\S+))?")
ZONE = re.compile(
    r"\s+(?:(?P<utc>UTC|Z)|(?P<offset>[+-]\d\d:?\d\d)|(?P<name>[a-z_]+/[a-z0-9_/+-]+))$", re.IGNORECASE
)
EXACT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.IGNORECASE)

WORDS = re.compile(r"[a-z0-9 ,.:/+-]{1,80}")
MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
DAY_OF_MONTH = r"\d{1,2}(?:st|nd|rd|th)?"
DATE = rf"(?:{DAY_OF_MONTH}(?: of)? {MONTH}|{MONTH}(?: {DAY_OF_MONTH})?)(?:,? \d{{4}})?|\d{{4}}-\d\d-\d\d"
CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?|(?:0?[1-9]|1[0-2])(?::[0-5]\d)?\s?[ap]m"
# The numbers that have one meaning: of a clock, a date with a named month, or a duration.
CLEAR_NUMBER = re.compile(rf"\b(?:{CLOCK}|\d+(?:\.\d+)?\s?(?:{UNIT}|months?|years?)|{DATE})(?![\w/.:-])")
NAMED_MONTH = re.compile(rf"\b{MONTH}\b")
NAMED_DAY = re.compile(
    r"\b(?:yesterday|today|tomorrow|(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)\b"
)
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# Parts of a day, for which people and the library have different times.
PART_OF_DAY = re.compile(r"\b(?:morning|forenoon|afternoon|evening|night|tonight)\b")
DIRECTION = re.compile(r"\b(?:ago|in|last|next)\b")
CALENDAR_UNIT = re.compile(r"(?<![a-z])(?:days?|weeks?|months?|years?)(?![a-z])")
# Durations in these units are exact; those in days and months follow the calendar, over changes of the clock.
CLOCK_UNIT = re.compile(r"(?<![a-z])(?:hours?|hrs?|h|minutes?|mins?|seconds?|secs?)(?![a-z])")

Preference = Literal["past", "future"]


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


def is_exact(text: str) -> bool:
    """Return whether a text is a time in the form of RFC 3339, which nobody reads differently."""
    return EXACT.fullmatch(text) is not None


def moment(text: str, now: datetime, prefer: Preference = "past") -> datetime | None:
    """Parse a time and return it in UTC; return None for anything else.

    If a text fits several times, as `14:00` and `friday` do, the last one before `now` is taken, or with
    `future` the first one after it. Raises UnclearTime for a text that people read differently, and for a
    time that the clocks of its zone skip.
    """
    words = " ".join(text.split())
    zone: tzinfo | None = None
    if found := ZONE.search(words):
        words, zone = words[: found.start()], _zone(found)
    lower = words.lower()
    try:
        here = now.astimezone(zone)
        if span(lower) is not None:
            # Without `ago` or `in`.
            return None
        parsed = (
            _from_now(lower, now)
            or _written_out(words)
            or _of_a_day(lower, here, prefer)
            or _in_words(lower, here, prefer)
        )
        taken = None if parsed is None else _in_utc(parsed, zone)
    except (OverflowError, ValueError):
        # Outside of the years that `datetime` supports.
        return None
    # A time in its first or last year may be outside of them in another zone.
    return taken if taken and MINYEAR < taken.year < MAXYEAR else None


def _zone(found: re.Match[str]) -> tzinfo:
    if found["utc"]:
        return UTC
    if found["offset"]:
        sign, hours, minutes = found["offset"][0], found["offset"][1:3], found["offset"][-2:]
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        if offset >= timedelta(days=1):
            raise UnclearTime(f"the offset {found['offset']} is not less than a day")
        return timezone(-offset if sign == "-" else offset)
    try:
        return ZoneInfo(found["name"])
    except (OSError, ValueError, KeyError):
        # ZoneInfoNotFoundError is a KeyError; the name of a folder is an OSError.
        raise UnclearTime(f"no time zone has the name {found['name']}, such as Europe/Berlin has") from None


def _in_utc(parsed: datetime, zone: tzinfo | None) -> datetime:
    """Return a time in UTC; one without an offset is that of the zone, or if that is None, local time.

    Of a time that the clocks show twice, the first is taken. Raises UnclearTime if they never show it.
    """
    if parsed.tzinfo is not None:
        return parsed.astimezone(UTC)
    # `astimezone` applies the local zone with its offset on that day.
    aware = parsed.astimezone() if zone is None else parsed.replace(tzinfo=zone)
    in_utc = aware.astimezone(UTC)
    if in_utc.astimezone(zone).replace(tzinfo=None) != parsed:
        raise UnclearTime(
            "the clocks skip this time, at the beginning of summer time; add an offset such as +01:00"
        )
    return in_utc


def _from_now(words: str, now: datetime) -> datetime | None:
    if words == "now":
        return now
    if words.endswith(" ago"):
        before = span(words.removesuffix(" ago"))
        return now - before if before is not None else None
    after = span(words.removeprefix("in ")) if words.startswith("in ") else None
    return now + after if after is not None else None


def _of_a_day(words: str, here: datetime, prefer: Preference) -> datetime | None:
    """Parse `yesterday`, `tomorrow 9:30`, and `9:30` of the last or next day that has it."""
    found = DAY.fullmatch(words)
    if found is None:
        return _of_last_or_next_day(_clock(words), here, prefer)
    clock = time() if found[2] is None else _clock(found[2])
    day: date = here.date() + timedelta(days=DAYS[found[1]])
    return None if clock is None else datetime.combine(day, clock)


def _of_last_or_next_day(clock: time | None, here: datetime, prefer: Preference) -> datetime | None:
    if clock is None:
        return None
    present = here.replace(tzinfo=None)
    today = datetime.combine(present.date(), clock)
    if prefer == "past":
        return today if today <= present else today - timedelta(days=1)
    return today if today > present else today + timedelta(days=1)


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
    """Parse ISO 8601 and RFC 3339. Digits alone are no time: they may be a position, a year or a duration."""
    if words.isdigit():
        raise UnclearTime("a number alone is no time")
    try:
        return datetime.fromisoformat(words)
    except ValueError:
        return None


def _in_words(words: str, here: datetime, prefer: Preference) -> datetime | None:
    """Parse other texts such as `last tuesday at 2pm` or `20 november`.

    The library guesses where a text leaves something open, so such a text is refused.
    """
    if not WORDS.fullmatch(words):
        return None
    _require_clear(words)
    base = here.astimezone(UTC) if CLOCK_UNIT.search(words) else here
    guesses = {_guess(words, base.replace(tzinfo=None), prefer, day) for day in _days_to_try(words)}
    found = guesses.pop()
    if found is None or None in guesses:
        return None
    _require_other_day(words, here)
    if guesses:
        raise UnclearTime("the day of the month is missing")
    if found.tzinfo is not None:
        raise UnclearTime("write the zone at the end, as UTC, +01:00 or Europe/Berlin")
    named = NAMED_DAY.search(words)
    if named and named[1] and WEEKDAYS[found.weekday()] != named[1][:3]:
        raise UnclearTime("that day is another day of the week")
    return found.replace(tzinfo=UTC) if base.tzinfo is UTC else found


def _require_clear(words: str) -> None:
    """Raise UnclearTime for a text that the library would read in one of several ways."""
    if any(letter.isdigit() for letter in CLEAR_NUMBER.sub(" ", words)):
        raise UnclearTime("a number in it may be a day, a month, an hour or something else")
    unit = CLOCK_UNIT.search(words) or CALENDAR_UNIT.search(words)
    if unit and not DIRECTION.search(words):
        raise UnclearTime("a duration needs `ago`, or `in` before it")
    days = list(NAMED_DAY.finditer(words))
    parts = words.split()
    if len(days) > 1 or len(set(parts)) < len(parts):
        raise UnclearTime("it names several times")
    if part := PART_OF_DAY.search(words):
        raise UnclearTime(f"{part[0]} has no time of the clock; write one, such as 9:00")


def _require_other_day(words: str, here: datetime) -> None:
    """Raise UnclearTime for a weekday that is today: it may mean today, the last one or the next one."""
    days = list(NAMED_DAY.finditer(words))
    is_weekday_of_today = days and days[0][1] and days[0][1][:3] == WEEKDAYS[here.weekday()]
    if is_weekday_of_today and not DIRECTION.search(words) and not NAMED_MONTH.search(words):
        day = days[0][0]
        raise UnclearTime(f"that day is today; write today, last {day} or next {day}")


def _days_to_try(words: str) -> tuple[str, ...]:
    """Return the days of the month to try for a text without one; for others they make no difference."""
    return ("first", "last") if NAMED_MONTH.search(words) else ("current",)


def _guess(words: str, base: datetime, prefer: Preference, day_of_month: str) -> datetime | None:
    """Return the time that the library reads in English words, with a zone only if they have one."""
    # Its import takes as long as a short command.
    import dateparser

    found: datetime | None = dateparser.parse(
        words,
        languages=["en"],
        settings={
            "RELATIVE_BASE": base,
            "PREFER_DATES_FROM": prefer,
            "PREFER_DAY_OF_MONTH": day_of_month,
            # Not those for numbers alone, such as seconds since 1970.
            "PARSERS": ["relative-time", "absolute-time"],
        },
    )
    return found


class UnclearTime(Exception):
    """A text that people may read as different times, or that no clock shows."""
