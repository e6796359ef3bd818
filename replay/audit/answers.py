"""Cache of the requirements that systems refuse.

Each condition of a requirement is evaluated once for each distinct value of the facts that it reads. The cost
of a lab with thousands of systems therefore depends on how much the systems differ. A changed system is
evaluated only where its new values were not evaluated before.
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
    """The results for one value, as bitmaps: `asked` requirements were evaluated, `refused` did not hold."""

    asked: int = 0
    refused: int = 0


class Column:
    """The conditions that read the same facts, by the numbers of their requirements. Mutable."""

    def __init__(self, about: tuple[str, ...]) -> None:
        self._about = about
        self._requirements = 0
        self._asks: defaultdict[int, list[Ask]] = defaultdict(list)
        self._asked_by: defaultdict[Ask, int] = defaultdict(int)
        self._said: dict[Value, Said] = {}

    @property
    def values(self) -> int:
        """Number of distinct values evaluated so far."""
        return len(self._said)

    def add(self, number: int, ask: Ask) -> None:
        """Add a condition of the requirement with this number.

        Call it before the requirement is evaluated.
        """
        self._requirements |= 1 << number
        self._asks[number].append(ask)
        self._asked_by[ask] |= 1 << number

    def refused(self, facts: Facts, beside: int) -> int:
        """Return `beside` and the requirements that are refused here.

        Requirements in `beside` are not evaluated.
        """
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
    """Requirements are numbered in the order in which they are added. Mutable.

    `unknown` is the bitmap of the requirements that cannot be read.
    """

    def __init__(self) -> None:
        self.requirements = 0
        self.unknown = 0
        self._columns: dict[tuple[str, ...], Column] = {}
        # Many requirements share a condition: it is read once.
        self._questions: dict[str, Question | None] = {}

    def know(self, host_requires: str) -> None:
        """Add a requirement. A requirement that cannot be read is refused by every system."""
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
        """Return the bitmap of the added requirements that do not certainly hold for a system."""
        refused = self.unknown
        # Columns with many values, such as names, come last: most requirements are refused by then.
        for column in sorted(self._columns.values(), key=lambda column: column.values):
            refused = column.refused(facts, refused)
        return refused
