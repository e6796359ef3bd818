"""Events, their stamps, and the registry of event classes by topic.

An event is a fact about one subject, named in the past tense. Its fields are texts, numbers, booleans, lists
of these, and JSON documents. Its topic is a fixed text, never a module path. Its version increases when its
fields change; `upcast` converts stored fields of an earlier version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform

from domain.partition_numbers import DEFAULT_NUMBER, EVERYBODY


class Event:
    TOPIC: ClassVar[str]
    VERSION: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[str, ...]]
    _FIELD_SET: ClassVar[frozenset[str]]
    # Fields that are stored in the log, but that no API response contains.
    HIDDEN: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        """Return stored fields of an older `version`, converted to the present one; raise UnknownVersion."""
        raise UnknownVersion(f"{cls.TOPIC} version {version}, known up to {cls.VERSION}")


TOPICS: dict[str, type[Event]] = {}

E = TypeVar("E", bound=Event)


@dataclass_transform(frozen_default=True)
def event(topic: str, version: int = 1) -> Callable[[type[E]], type[E]]:
    """Return a class decorator that makes a class a frozen dataclass and registers it under its topic."""

    def register(cls: type[E]) -> type[E]:
        if topic in TOPICS:
            raise TypeError(f"topic {topic!r} is taken by {TOPICS[topic].__name__}")
        made = dataclass(frozen=True)(cls)
        made.TOPIC, made.VERSION = topic, version
        made.FIELDS = tuple(field.name for field in fields(made))  # type: ignore[arg-type]
        made._FIELD_SET = frozenset(made.FIELDS)
        TOPICS[topic] = made
        return made

    return register


def data_of(event: Event) -> dict[str, Any]:
    """Return the fields of an event by name, for storing."""
    return {name: getattr(event, name) for name in event.FIELDS}


def shown_of(event: Event) -> dict[str, Any]:
    """Return the fields of an event by name, without hidden ones, for API responses."""
    return {name: value for name, value in data_of(event).items() if name not in event.HIDDEN}


def from_data(topic: str, version: int, data: Mapping[str, Any]) -> Event:
    """Return the event with the stored fields `data`, converted to the present version of its class.

    Raises UnknownTopic or UnknownVersion, because skipping an event would lead to a wrong state.
    """
    cls = TOPICS.get(topic)
    if cls is None:
        raise UnknownTopic(topic)
    if version == cls.VERSION and data.keys() == cls._FIELD_SET:
        # Faster than a call of the class, because readers of the log create every event here.
        made = object.__new__(cls)
        made.__dict__.update(data)
        return made
    return cls(**(data if version == cls.VERSION else cls.upcast(dict(data), version)))


@dataclass(frozen=True, slots=True)
class Batch:
    """The triggers that are answered together, and how far a commit has answered them.

    The batch holds the triggers at positions above `after` and up to `upto`; earlier triggers are answered.
    `left` is the first kind of trigger that the commit leaves unanswered, None if the batch is answered.
    """

    after: int
    upto: int
    left: str | None


@dataclass(frozen=True, slots=True)
class Basis:
    """The basis of a decision: the log position read, the time, the epoch of the lease, the policy version.

    `batch` says which triggers are answered once the commit is in the log, None before policy version 5.
    `partition` is the number of the partition that decides.
    """

    position: int
    now: datetime
    epoch: int
    policy_version: int
    batch: Batch | None = None
    partition: int = DEFAULT_NUMBER


@dataclass(frozen=True, slots=True)
class Stamp:
    """The actor, cause and time of an event.

    `cause` is a text such as `event/123` or `request/4f…`. `number` numbers the decisions of a commit,
    which share one basis: each decision sees those before it. `token_id` is the id of the token of the
    request, never the token; None without a request, and for events from before it was recorded.
    """

    at: datetime
    actor: str
    cause: str
    basis: Basis | None = None
    number: int | None = None
    token_id: str | None = None


class Change(NamedTuple):
    """A decided event that is not in the log yet."""

    subject: str
    event: Event
    stamp: Stamp


class Recorded(NamedTuple):
    """An event in the log, with the last position of its commit: readers process whole commits only.

    `partition` is the number of the partition that it belongs to, or EVERYBODY.
    """

    position: int
    commit_end: int
    recorded_at: datetime
    subject: str
    version: int
    event: Event
    stamp: Stamp
    partition: int = EVERYBODY


class Moment(NamedTuple):
    """The version and position of an event, the time of the decision, and the time of the database.

    `at` is None if the decision has no time; such an event sets no deadline. `recorded_at` is None until the
    event is in the log.
    """

    version: int
    position: int
    at: datetime | None
    recorded_at: datetime | None = None

    @classmethod
    def of(cls, recorded: Recorded) -> Moment:
        return cls(recorded.version, recorded.position, recorded.stamp.at, recorded.recorded_at)


Decided = list[tuple[str, Event]]
"""Decided events with their subjects, in log order."""


def subject(kind: str, name: object) -> str:
    """Return the text id of an aggregate: `recipe/12`."""
    return f"{kind}/{name}"


def split_subject(text: str) -> tuple[str, str]:
    kind, _, name = text.partition("/")
    return kind, name


class UnknownTopic(Exception):
    """No event has this topic."""


class UnknownVersion(Exception):
    """This version of the event is unknown to this program."""
