"""What systems say to requirements: each part of one is asked once of each value of what it is about.

So a lab of thousands costs little more than what differs in it, and a system that is described anew is asked
only what nobody of its kind was asked before.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from replay.audit.bitmaps import numbers_in
from replay.audit.facts import Facts
from replay.audit.leaves import Ask, Form, Question
from replay.audit.requirement import UNREADABLE, conditions, read

Value = tuple[Any, ...]


@dataclass
class Said:
    """By one value: which requirements it was asked for, and which of these are not known to hold."""

    asked: int = 0
    refused: int = 0


class Column:
    """Mutable: the questions about the same facts, by the numbers of their requirements."""

    def __init__(self, about: tuple[str, ...]) -> None:
        self._about = about
        self._requirements = 0
        self._asks: defaultdict[int, list[Ask]] = defaultdict(list)
        self._asked_by: defaultdict[Ask, int] = defaultdict(int)
        self._said: dict[Value, Said] = {}

    @property
    def values(self) -> int:
        """So many have come up."""
        return len(self._said)

    def add(self, number: int, ask: Ask) -> None:
        """Before a requirement of this number is asked for."""
        self._requirements |= 1 << number
        self._asks[number].append(ask)
        self._asked_by[ask] |= 1 << number

    def refused(self, facts: Facts, beside: int) -> int:
        """The requirements that are refused here, or were beside: these need not be asked for."""
        value = tuple([facts[name] for name in self._about])
        said = self._said.get(value)
        if said is None:
            said = self._said[value] = Said()
        unasked = self._requirements & ~said.asked & ~beside
        if unasked:
            asks = dict.fromkeys(ask for number in numbers_in(unasked) for ask in self._asks[number])
            for ask in asks:
                if ask(facts) is not True:
                    said.refused |= self._asked_by[ask]
            said.asked |= unasked
        return beside | said.refused


class Answers:
    """Mutable: requirements are numbered as they come. `unknown` are those that cannot be read."""

    def __init__(self) -> None:
        self.requirements = 0
        self.unknown = 0
        self._columns: dict[tuple[str, ...], Column] = {}
        # Many requirements have a condition in common: it is one question.
        self._questions: dict[str, Question | None] = {}

    def know(self, host_requires: str) -> None:
        """From now on it is asked, too; one that cannot be read is refused by every system."""
        try:
            for question in map(self._question, conditions(json.loads(host_requires))):
                if question is not None:
                    names = tuple(sorted(question.about))
                    self._columns.setdefault(names, Column(names)).add(self.requirements, question.ask)
        except UNREADABLE:
            self.unknown |= 1 << self.requirements
        self.requirements += 1

    def _question(self, form: Form) -> Question | None:
        said = json.dumps(form)
        if said not in self._questions:
            self._questions[said] = read(form)
        return self._questions[said]

    def refused(self, facts: Facts) -> int:
        """The known requirements that a system is not known to fulfil, as a bitmap."""
        refused = self.unknown
        # Names come last: there is one for each system, and most of it is refused already.
        for column in sorted(self._columns.values(), key=lambda column: column.values):
            refused = column.refused(facts, refused)
        return refused
