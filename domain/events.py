"""Events, their stamps, and the registry of kinds that `domain.all_events` fills.

An event says in the past tense what happened to one subject. Its fields are plain values (texts, numbers,
truths, lists of them, and JSON documents where the outside gave one). Its topic is a fixed text, never a
module path, and its version rises when its fields change; `upcast` brings older stored fields up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, TypeVar, dataclass_transform


class Event:
    """Base of all events."""

    TOPIC: ClassVar[str]
    VERSION: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[str, ...]]
    _FIELD_SET: ClassVar[frozenset[str]]
    # Fields in the log that no answer contains.
    HIDDEN: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def upcast(cls, data: dict[str, Any], version: int) -> dict[str, Any]:
        """Return fields of an older `version` in the form of the present version."""
        raise UnknownVersion(f"{cls.TOPIC} version {version}, known up to {cls.VERSION}")


TOPICS: dict[str, type[Event]] = {}

E = TypeVar("E", bound=Event)


@dataclass_transform(frozen_default=True)
def event(topic: str, version: int = 1) -> Callable[[type[E]], type[E]]:
    """Make a class an event: a frozen dataclass, registered under its topic."""

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


def data_of(happened: Event) -> dict[str, Any]:
    """Return the fields of an event by name, for storing."""
    return {name: getattr(happened, name) for name in happened.FIELDS}


def shown_of(happened: Event) -> dict[str, Any]:
    """Return the fields of an event for answers, without hidden ones."""
    return {name: value for name, value in data_of(happened).items() if name not in happened.HIDDEN}


def from_data(topic: str, version: int, data: Mapping[str, Any]) -> Event:
    """Return the event from the result of `data_of`, upcast to the present version of its kind.

    Raises UnknownTopic or UnknownVersion: an unknown event must stop the reader, which would otherwise have
    another history.
    """
    cls = TOPICS.get(topic)
    if cls is None:
        raise UnknownTopic(topic)
    if version == cls.VERSION and data.keys() == cls._FIELD_SET:
        # Like a call of the class, but faster: the log is read event by event.
        made = object.__new__(cls)
        made.__dict__.update(data)
        return made
    return cls(**(data if version == cls.VERSION else cls.upcast(dict(data), version)))


@dataclass(frozen=True, slots=True)
class Batch:
    """The triggers that are answered together, and how far a commit has answered them.

    The batch holds the triggers behind position `after` up to `upto`; all others up to `after` were answered
    before it. `left` is the first kind of trigger that the commit leaves unanswered in the batch, None if it
    leaves none.
    """

    after: int
    upto: int
    left: str | None


@dataclass(frozen=True, slots=True)
class Basis:
    """The basis of a decision: the log position it had read, its time, and its right and rules.

    `batch` says which triggers are answered once the commit is in the log. Decisions of a policy before
    version 5 have none.
    """

    position: int
    now: datetime
    epoch: int
    policy_version: int
    batch: Batch | None = None


@dataclass(frozen=True, slots=True)
class Stamp:
    """The actor, cause and time of an event.

    `cause` is a text such as `event/123` or `request/4f…`; `number` counts the decisions of one commit, which
    share their basis: the n-th saw those before it.
    """

    at: datetime
    actor: str
    cause: str
    basis: Basis | None = None
    number: int | None = None


class Change(NamedTuple):
    """An event that was decided and is not yet in the log."""

    subject: str
    event: Event
    stamp: Stamp


class Recorded(NamedTuple):
    """An event as the log has it.

    `commit_end` is the last position of its commit: readers act on whole commits only.
    """

    position: int
    commit_end: int
    recorded_at: datetime
    subject: str
    version: int
    event: Event
    stamp: Stamp


class Moment(NamedTuple):
    """The place of an event in its subject's history, and its times.

    `at` is None for a tentative event: it has no time yet, and sets no deadline. `recorded_at` is None until
    the event is in the log: the database gives that time.
    """

    version: int
    position: int
    at: datetime | None
    recorded_at: datetime | None = None

    @classmethod
    def of(cls, recorded: Recorded) -> Moment:
        return cls(recorded.version, recorded.position, recorded.stamp.at, recorded.recorded_at)


Decided = list[tuple[str, Event]]
"""The result of a decision: events with their subjects, in log order."""


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
