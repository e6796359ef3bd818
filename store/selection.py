"""Selections of events by topic, subject, partition and actor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from domain.directory.events import PoolSystemAdded, PoolSystemRemoved
from domain.events import TOPICS, Recorded, split_subject

ALL_OF_A_KIND = "/*"

# Events of a pool that also name a system: users who may not see the system must not see them.
POOL_SYSTEM_EVENTS: Final = (PoolSystemAdded, PoolSystemRemoved)
POOL_SYSTEM_TOPICS: Final = frozenset(event.TOPIC for event in POOL_SYSTEM_EVENTS)


def subjects_of(recorded: Recorded) -> tuple[str, ...]:
    """Return the subject of an event, and the system that a pool's event names."""
    event = recorded.event
    named = (f"system/{event.system}",) if isinstance(event, POOL_SYSTEM_EVENTS) else ()
    return recorded.subject, *named


@dataclass(frozen=True)
class Selection:
    """A selection of events by topic, subject, partition and actor; None selects all.

    `recipe/*` selects every recipe, by topics: they begin with the kind of their subject. Events with
    `hidden` topics or `unseen` subjects (`subjects_of`) are excluded. With the number of a partition, only
    its own events are selected, without those that concern all partitions.
    """

    topics: tuple[str, ...] | None = None
    subject: tuple[str, ...] | None = None
    hidden: tuple[str, ...] = ()
    unseen: frozenset[str] = frozenset()
    partition: int | None = None
    actor: str | None = None

    @cached_property
    def is_everything(self) -> bool:
        """Return whether all topics and subjects are selected."""
        return not self.topics and not self._named

    @cached_property
    def is_by_partition(self) -> bool:
        """Return whether to find the events by the index of the partition, not by topics and subjects.

        A kind has many topics, each with events of all partitions; a caller asks for few topics.
        """
        return self.partition is not None and not self.topics and (self.is_everything or bool(self._kinds))

    @cached_property
    def anywhere(self) -> tuple[str, ...]:
        """Return the topics that are selected for all subjects, or none if everything is selected."""
        wanted = [topic for topic in dict.fromkeys(self.topics or TOPICS) if topic not in self.hidden]
        if not self._named:
            return tuple(wanted if self.topics else ())
        return tuple(topic for topic in wanted if topic.partition(".")[0] in self._kinds)

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """Return the subjects selected by name, without those of a kind that is selected as a whole."""
        named = dict.fromkeys(self._named)
        return tuple(subject for subject in named if split_subject(subject)[0] not in self._kinds)

    def has(self, topic: str, subject: str) -> bool:
        if topic in self.anywhere:
            return True
        return (self.is_everything or subject in self.subjects) and self.wants_of_subject(topic)

    def has_partition(self, partition: int) -> bool:
        """Return whether events of the partition with this number are selected."""
        return self.partition is None or partition == self.partition

    def has_actor(self, actor: str) -> bool:
        """Return whether events of an actor are selected."""
        return self.actor is None or actor == self.actor

    def sees(self, subjects: Iterable[str]) -> bool:
        """Return whether none of an event's subjects is unseen."""
        return self.unseen.isdisjoint(subjects)

    def shows(self, recorded: Recorded) -> bool:
        """Return whether an event of any topic or subject is neither hidden nor unseen."""
        return recorded.event.TOPIC not in self.hidden and self.sees(subjects_of(recorded))

    def wants_of_subject(self, topic: str) -> bool:
        return topic not in self.hidden and (not self.topics or topic in self.topics)

    @cached_property
    def _kinds(self) -> frozenset[str]:
        return frozenset(split_subject(each)[0] for each in self._named if each.endswith(ALL_OF_A_KIND))

    @cached_property
    def _named(self) -> tuple[str, ...]:
        return self.subject or ()


EVERYTHING: Final = Selection()
