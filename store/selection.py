"""Which events somebody wants to see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from domain.directory.events import PoolSystemAdded, PoolSystemRemoved
from domain.events import TOPICS, Recorded, split_subject

ALL_OF_A_KIND = "/*"

# Who may not see a system is not told by its pools of it, either.
OF_TWO: Final = (PoolSystemAdded, PoolSystemRemoved)
OF_TWO_TOPICS: Final = frozenset(event.TOPIC for event in OF_TWO)


def subjects_of(recorded: Recorded) -> tuple[str, ...]:
    """What an event is about, and the system that it is about as well."""
    event = recorded.event
    beside = (f"system/{event.system}",) if isinstance(event, OF_TWO) else ()
    return recorded.subject, *beside


@dataclass(frozen=True)
class Selection:
    """What is None selects nothing out. `recipe/*` is every recipe: the topics of a subject begin with its
    kind, so that all of a kind is found by topics, in the log as in what comes. `hidden` topics are left out
    of all of it, and so is what is about `unseen` subjects (`subjects_of`), of which there mostly are none.
    """

    topics: tuple[str, ...] | None = None
    subject: tuple[str, ...] | None = None
    hidden: tuple[str, ...] = ()
    unseen: frozenset[str] = frozenset()

    @cached_property
    def is_everything(self) -> bool:
        return not self.topics and not self._named

    @cached_property
    def anywhere(self) -> tuple[str, ...]:
        """The topics that are wanted whatever they are about, unless all are."""
        wanted = [topic for topic in dict.fromkeys(self.topics or TOPICS) if topic not in self.hidden]
        if not self._named:
            return tuple(wanted if self.topics else ())
        return tuple(topic for topic in wanted if topic.partition(".")[0] in self._kinds)

    @cached_property
    def subjects(self) -> tuple[str, ...]:
        """What is wanted by its own name, unless all of its kind is."""
        named = dict.fromkeys(self._named)
        return tuple(one for one in named if split_subject(one)[0] not in self._kinds)

    def has(self, topic: str, subject: str) -> bool:
        if topic in self.anywhere:
            return True
        return (self.is_everything or subject in self.subjects) and self.wants_of_subject(topic)

    def sees(self, subjects: Iterable[str]) -> bool:
        return self.unseen.isdisjoint(subjects)

    def wants_of_subject(self, topic: str) -> bool:
        """Whether it wants such an event of one of its `subjects`, or of any where it wants everything."""
        return topic not in self.hidden and (not self.topics or topic in self.topics)

    @cached_property
    def _kinds(self) -> frozenset[str]:
        return frozenset(split_subject(one)[0] for one in self._named if one.endswith(ALL_OF_A_KIND))

    @cached_property
    def _named(self) -> tuple[str, ...]:
        return self.subject or ()


EVERYTHING: Final = Selection()
