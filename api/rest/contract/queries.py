"""What may stand behind the `?` of a path: one model for each kind of read, which checks and documents it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, TypeVar

from falcon.asgi import Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from api.intake.limits import WORDS_LENGTH
from api.rest.contract.faults import faults_of
from api.rest.contract.values import Name
from domain.errors import Fault, FaultyInput
from domain.events import TOPICS

MAX_LIMIT = 1_000
MAX_POSITION = 2**63 - 2
MAX_WAIT_SECONDS = 60
_SUBJECT: Final = re.compile(r"[a-z]+(-[a-z]+)*/[^,]+")


def whole(text: str) -> int | None:
    """The number, if the text is nothing but its digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def moment(text: str) -> datetime | None:
    """An RFC 3339 time with its zone, None for anything else."""
    try:
        # A space is what a plus sign becomes in a query.
        when = datetime.fromisoformat(text.replace(" ", "+"))
        return None if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _shown(value: Any) -> str:
    return repr(str(value)[:WORDS_LENGTH])


def _whole(least: int, most: int) -> BeforeValidator:
    def parse(text: Any) -> Any:
        number = whole(text) if isinstance(text, str) else None
        if number is None or not least <= number <= most:
            raise ValueError(f"{_shown(text)} is no whole number from {least} to {most}")
        return number

    return BeforeValidator(parse)


def _range(least: int, most: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "integer", "minimum": least, "maximum": most})


def _as_of(text: Any) -> Any:
    position = whole(text) if isinstance(text, str) else None
    if position is not None and position <= MAX_POSITION:
        return position
    when = moment(text) if isinstance(text, str) else None
    if when is None:
        raise ValueError(f"{_shown(text)} is neither a position nor an RFC 3339 time")
    return when


def _time(text: Any) -> Any:
    when = moment(text) if isinstance(text, str) else None
    if when is None:
        raise ValueError(f"{_shown(text)} is no RFC 3339 time with a zone")
    return when


def _group(text: Any) -> Any:
    if text not in GROUPS:
        raise ValueError(f"{_shown(text)} is none of {', '.join(GROUPS)}")
    return text


def _truth(text: Any) -> Any:
    if text not in ("true", "false"):
        raise ValueError(f"{_shown(text)} is neither true nor false")
    return text == "true"


def _listed(value: Any) -> Any:
    """Given several times, or once with commas."""
    texts = value if isinstance(value, list) else [value]
    return tuple(part for text in texts for part in str(text).split(","))


def _topics(value: Any) -> Any:
    topics = _listed(value)
    unknown = [topic for topic in topics if topic not in TOPICS]
    if unknown:
        raise ValueError("; ".join(f"{_shown(topic)} is no topic" for topic in unknown))
    return topics


GROUPS = ("system", "lab_controller", "pool", "arch")

Position = Annotated[int, _whole(0, MAX_POSITION), _range(0, MAX_POSITION)]
Cursor = Annotated[str, WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_=-]+$"})]
Limit = Annotated[int, _whole(1, MAX_LIMIT), _range(1, MAX_LIMIT)]
Wait = Annotated[int, _whole(0, MAX_WAIT_SECONDS), _range(0, MAX_WAIT_SECONDS)]
_MOMENT = {"type": "string", "format": "date-time"}
AsOf = Annotated[
    int | datetime,
    BeforeValidator(_as_of),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0, "maximum": MAX_POSITION}, _MOMENT]}),
]
Time = Annotated[datetime, BeforeValidator(_time), WithJsonSchema(_MOMENT)]
Truth = Annotated[bool, BeforeValidator(_truth), WithJsonSchema({"type": "boolean"})]
GroupBy = Annotated[
    Literal["system", "lab_controller", "pool", "arch"],
    BeforeValidator(_group),
    WithJsonSchema({"type": "string", "enum": list(GROUPS)}),
]


def _subjects(value: Any) -> Any:
    subjects = _listed(value)
    wrong = [subject for subject in subjects if not _SUBJECT.fullmatch(subject)]
    if wrong:
        raise ValueError("; ".join(f"{_shown(subject)} is no subject such as recipe/12" for subject in wrong))
    return subjects


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


class Query(BaseModel):
    """Takes nothing. A misspelt parameter must not be dropped in silence: the answer would look like what was
    asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Caught(Query):
    min_position: Annotated[Position, Field(description="wait until this position is reflected")] = 0


class Read(Caught):
    as_of: Annotated[
        AsOf | None,
        Field(description="a past position or time, rounded down to the end of a commit"),
    ] = None


class Page(Read):
    limit: Annotated[Limit, Field(description="as many at most")] = 100
    cursor: Annotated[Cursor | None, Field(description="where the page before ended, as its `next` says")] = (
        None
    )


class Span(Read):
    since: Annotated[Time | None, Field(description="from this moment on")] = None
    until: Annotated[Time | None, Field(description="up to this moment")] = None


class Summed(Span):
    group_by: Annotated[GroupBy, Field(description="one sum for each")] = "system"


class EventQuery(Read):
    after: Annotated[Position, Field(description="only what came after this position")] = 0
    limit: Annotated[Limit, Field(description="as many at most")] = 100
    types: Annotated[Topics, Field(description="only these topics")] = ()
    subject: Annotated[Subjects, Field(description="only events of these subjects")] = ()


class ReadsQuery(Query):
    after: Annotated[Position, Field(description="only reads after this one")] = 0
    limit: Annotated[Limit, Field(description="as many at most")] = 100
    user: Annotated[Name | None, Field(description="only those of this user")] = None


class CommandQuery(Read):
    after: Annotated[Position, Field(description="only commands after this one")] = 0
    wait_seconds: Annotated[Wait, Field(description="wait as long for the first one")] = 0
    unfinished: Annotated[Truth, Field(description="only what is not completed or failed")] = False


Q = TypeVar("Q", bound=Query)

# Parameters of these may be given more than once.
_MANY = ("types", "subject")


def read_query(req: Request, model: type[Q]) -> Q:
    """The query of a request. Raises FaultyInput with everything that is wrong with it."""
    known = tuple(model.model_fields)
    words = f"is no parameter here; known are {', '.join(known)}" if known else "is no parameter here"
    faults = [Fault(name[:WORDS_LENGTH], words) for name in req.params if name not in known]
    given: dict[str, Any] = {}
    for name in known:
        value: Any = req.params.get(name)
        if isinstance(value, list) and name not in _MANY:
            faults.append(Fault(name, "is given more than once"))
        elif value is not None:
            given[name] = value
    try:
        query = model.model_validate(given)
    except ValidationError as error:
        raise FaultyInput([*faults, *faults_of(error)]) from error
    if faults:
        raise FaultyInput(faults)
    return query
