"""Types of query parameters, which parse and validate texts of a URL."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, StringConstraints, WithJsonSchema

import domain.all_events  # noqa: F401  (registers every topic)
from api.intake.limits import MAX_MESSAGE_LENGTH
from api.intake.near_names import suggestion
from api.rest.contract.values import FQDN_PATTERN, MAX_TEXT_LENGTH, NO_NUL
from domain.errors import MAX_NAMED
from domain.events import TOPICS
from domain.job.retention_tags import RetentionTag
from runtime.setting_values import TAG_PATTERN, retention_tags
from runtime.settings import MAX_WAIT_SECONDS

MAX_LIMIT = 1_000
MAX_POSITION = 2**63 - 2
MAX_NUMBER = 2**31 - 1
# The kinds of subjects, because a topic begins with the kind of its subject.
KINDS: Final = tuple(sorted({topic.partition(".")[0] for topic in TOPICS}))
# A query must not contain a NUL.
_FQDN: Final = re.compile(FQDN_PATTERN)
EXAMPLE: Final = "2026-11-29T18:00:00Z"
"""An RFC 3339 time, for messages."""
_SUBJECT: Final = re.compile(rf"({'|'.join(KINDS)})/[^,\x00]+")


def whole_number(text: str) -> int | None:
    """Return the number, None if the text is not a number in digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def moment(text: str) -> datetime | None:
    """Return an RFC 3339 time with a zone in UTC, or one as pages show it; None for any other text."""
    try:
        if text.endswith(" UTC"):
            text = f"{text.removesuffix(' UTC')}Z"
        if text[10:11] == " ":
            text = f"{text[:10]}T{text[11:]}"
        # In a query, a plus sign is decoded to a space.
        when = datetime.fromisoformat(text.replace(" ", "+"))
        return None if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _quoted(value: Any) -> str:
    return repr(str(value)[:MAX_MESSAGE_LENGTH])


def _whole(minimum: int, maximum: int) -> BeforeValidator:
    def parse(text: Any) -> Any:
        number = whole_number(text) if isinstance(text, str) else None
        if number is None or not minimum <= number <= maximum:
            raise ValueError(f"{_quoted(text)} is not a whole number from {minimum} to {maximum}")
        return number

    return BeforeValidator(parse)


def _range(minimum: int, maximum: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "integer", "minimum": minimum, "maximum": maximum})


def _as_of(text: Any) -> Any:
    position = whole_number(text) if isinstance(text, str) else None
    if position is not None and position <= MAX_POSITION:
        return position
    when = moment(text) if isinstance(text, str) else None
    if when is None:
        raise ValueError(f"{_quoted(text)} is neither a position nor an RFC 3339 time, such as {EXAMPLE}")
    return when


def _time(text: Any) -> Any:
    when = moment(text) if isinstance(text, str) else None
    if when is None:
        raise ValueError(f"{_quoted(text)} is not an RFC 3339 time with a zone, such as {EXAMPLE}")
    return when


def _one_of(names: tuple[str, ...]) -> Any:
    def named(text: Any) -> Any:
        if text not in names:
            raise ValueError(f"{_quoted(text)} is not one of {', '.join(names)}")
        return text

    return Annotated[str, BeforeValidator(named), WithJsonSchema({"type": "string", "enum": list(names)})]


def _truth(text: Any) -> Any:
    if text not in ("true", "false"):
        raise ValueError(f"{_quoted(text)} is neither true nor false")
    return text == "true"


def _listed(value: Any) -> Any:
    """Return the values of a parameter, which may be repeated and may contain several values with commas."""
    texts = value if isinstance(value, list) else [value]
    return tuple(part for text in texts for part in str(text).split(","))


def _topics(value: Any) -> Any:
    topics = _listed(value)
    unknown = [topic for topic in topics if topic not in TOPICS]
    if unknown:
        raise ValueError("; ".join(map(_unknown_topic, unknown[:MAX_NAMED])))
    return topics


def _unknown_topic(topic: str) -> str:
    return f"{_quoted(topic)} is not a topic{suggestion(topic, TOPICS)}"


def _fqdns(value: Any) -> Any:
    names = _listed(value)
    wrong = [name for name in names if not _FQDN.fullmatch(name)]
    if wrong:
        raise ValueError("; ".join(f"{_quoted(name)} is not a host name" for name in wrong))
    return names


def _numbers(value: Any) -> Any:
    found = {text: whole_number(text) for text in _listed(value)}
    wrong = [text for text, number in found.items() if number is None or not 1 <= number <= MAX_NUMBER]
    if wrong:
        raise ValueError("; ".join(f"{_quoted(text)} is not a number from 1" for text in wrong))
    return tuple(found.values())


GROUPS = ("system", "lab_controller", "pool", "arch", "owner", "group", "user")
WAIT_GROUPS = ("priority", "group", "pool", "requirement")

Position = Annotated[int, _whole(0, MAX_POSITION), _range(0, MAX_POSITION)]
Number = Annotated[int, _whole(1, MAX_NUMBER), _range(1, MAX_NUMBER)]
Cursor = Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_=-]+$"})]
Limit = Annotated[int, _whole(1, MAX_LIMIT), _range(1, MAX_LIMIT)]
Wait = Annotated[int, _whole(0, MAX_WAIT_SECONDS), _range(0, MAX_WAIT_SECONDS)]
Resolution = Annotated[int, _whole(0, MAX_NUMBER), _range(0, MAX_NUMBER)]
_MOMENT = {"type": "string", "format": "date-time"}
AsOf = Annotated[
    int | datetime,
    BeforeValidator(_as_of),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": MAX_POSITION}, _MOMENT]}),
]
Time = Annotated[datetime, BeforeValidator(_time), WithJsonSchema(_MOMENT)]
Location = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT_LENGTH, pattern=NO_NUL)]
Truth = Annotated[bool, BeforeValidator(_truth), WithJsonSchema({"type": "boolean"})]
GroupBy = _one_of(GROUPS)
WaitGroupBy = _one_of(WAIT_GROUPS)


def _subjects(value: Any) -> Any:
    subjects = _listed(value)
    invalid = [subject for subject in subjects if not _SUBJECT.fullmatch(subject)]
    if invalid:
        raise ValueError("; ".join(map(_subject_message, invalid)))
    return subjects


def _subject_message(text: str) -> str:
    kind, _, name = text.partition("/")
    if not name:
        return f"{_quoted(text)} is not a subject such as recipe/12"
    return f"{_quoted(kind)} is not a kind of subject; the kinds are {', '.join(KINDS)}"


Topics = Annotated[
    tuple[str, ...],
    BeforeValidator(_topics),
    WithJsonSchema({"type": "array", "items": {"type": "string", "enum": sorted(TOPICS)}}),
]
Subjects = Annotated[
    tuple[str, ...],
    BeforeValidator(_subjects),
    WithJsonSchema({"type": "array", "items": {"type": "string", "pattern": f"^{_SUBJECT.pattern}$"}}),
]
Numbers = Annotated[
    tuple[int, ...],
    BeforeValidator(_numbers),
    WithJsonSchema({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": MAX_NUMBER}}),
]


def _retention_tags(value: Any) -> Any:
    return retention_tags(",".join(_listed(value)))


RetentionTags = Annotated[
    tuple[RetentionTag, ...],
    BeforeValidator(_retention_tags),
    WithJsonSchema({"type": "array", "items": {"type": "string", "pattern": TAG_PATTERN}}),
]
Fqdns = Annotated[
    tuple[str, ...],
    BeforeValidator(_fqdns),
    WithJsonSchema({"type": "array", "items": {"type": "string", "pattern": FQDN_PATTERN}}),
]
