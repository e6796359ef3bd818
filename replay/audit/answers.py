"""What systems say to requirements: each part of one is asked once of each value of what it is about.

So a lab of thousands costs little more than what differs in it, and a system that is described anew is asked
only what nobody of its kind was asked before.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from replay.audit.facts import Facts
from replay.audit.leaves import Ask
from replay.audit.requirement import parts

Value = tuple[Any, ...]


@dataclass
class Refused:
    """By one value: of the first so many questions, the requirements that are not known to hold (bitmap)."""

    asked: int = 0
    requirements: int = 0


class Column:
    """Mutable: the questions about the same facts, each with the number of its requirement."""

    def __init__(self, about: tuple[str, ...]) -> None:
        self.about = about
        self._questions: list[tuple[int, Ask]] = []
        self._refused: dict[Value, Refused] = {}

    def add(self, number: int, ask: Ask) -> None:
        self._questions.append((number, ask))

    def refused(self, facts: Facts) -> int:
        value = tuple([facts[name] for name in self.about])
        refused = self._refused.get(value)
        if refused is None:
            refused = self._refused[value] = Refused()
        if refused.asked < len(self._questions):
            for number, ask in self._questions[refused.asked :]:
                if ask(facts) is not True:
                    refused.requirements |= 1 << number
            refused.asked = len(self._questions)
        return refused.requirements


class Answers:
    """Mutable: requirements are numbered as they come."""

    def __init__(self) -> None:
        self.requirements = 0
        self._columns: dict[tuple[str, ...], Column] = {}

    def know(self, host_requires: str) -> None:
        """From now on it is asked, too. Raises UnknownLeaf."""
        for about, ask in parts(json.loads(host_requires)):
            names = tuple(sorted(about))
            self._columns.setdefault(names, Column(names)).add(self.requirements, ask)
        self.requirements += 1

    def refused(self, facts: Facts) -> int:
        """The known requirements that a system is not known to fulfil, as a bitmap."""
        refused = 0
        for column in self._columns.values():
            refused |= column.refused(facts)
        return refused
