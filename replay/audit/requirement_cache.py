"""Cache of the requirements that systems do not fulfil ("refuse").

Each condition of a requirement is evaluated once for each distinct value of the facts that it reads. The cost
of a lab with thousands of systems therefore depends on how much the systems differ. A changed system is
evaluated only where its new values were not evaluated before.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from replay.audit.facts import Facts
from replay.audit.leaves import Condition, Form, Predicate
from replay.audit.requirement import UNREADABLE, conditions, read

Value = tuple[Any, ...]


@dataclass
class CachedResults:
    """The results for one value, as bitmaps: of the `evaluated` requirements, the `refused` do not hold."""

    evaluated: int = 0
    refused: int = 0


class FactColumn:
    """The conditions that read the same facts, by the numbers of their requirements. Mutable."""

    def __init__(self, about: tuple[str, ...]) -> None:
        self._about = about
        self._requirements = 0
        self._tests: defaultdict[int, list[Predicate]] = defaultdict(list)
        self._requirements_by_test: defaultdict[Predicate, int] = defaultdict(int)
        self._results: dict[Value, CachedResults] = {}

    @property
    def values(self) -> int:
        """Return the number of distinct values that were evaluated."""
        return len(self._results)

    def add(self, number: int, holds: Predicate) -> None:
        """Add a condition of the requirement with this number, which is not evaluated yet."""
        self._requirements |= 1 << number
        self._tests[number].append(holds)
        self._requirements_by_test[holds] |= 1 << number

    def refused(self, facts: Facts, refused: int) -> int:
        """Return `refused`, which is not evaluated again, and the requirements that are refused here."""
        value = tuple([facts[name] for name in self._about])
        results = self._results.get(value)
        if results is None:
            results = self._results[value] = CachedResults()
        pending = self._requirements & ~results.evaluated & ~refused
        if pending:
            tests = dict.fromkeys(holds for number in numbers_in(pending) for holds in self._tests[number])
            for holds in tests:
                if holds(facts) is not True:
                    results.refused |= self._requirements_by_test[holds]
            results.evaluated |= pending
        return refused | results.refused


class RequirementCache:
    """Requirements by number, in the order added; `unknown` is the bitmap of unreadable ones. Mutable."""

    def __init__(self) -> None:
        self.requirements = 0
        self.unknown = 0
        self._columns: dict[tuple[str, ...], FactColumn] = {}
        # The text of a form -> its condition, because many requirements share conditions.
        self._conditions: dict[str, Condition | None] = {}

    def add(self, host_requires: str) -> None:
        """Add a requirement. A requirement that cannot be read is refused by every system."""
        try:
            for condition in map(self._condition, conditions(json.loads(host_requires))):
                if condition is not None:
                    names = tuple(sorted(condition.about))
                    self._columns.setdefault(names, FactColumn(names)).add(self.requirements, condition.holds)
        except UNREADABLE:
            self.unknown |= 1 << self.requirements
        self.requirements += 1

    def _condition(self, form: Form) -> Condition | None:
        key = json.dumps(form)
        if key not in self._conditions:
            self._conditions[key] = read(form)
        return self._conditions[key]

    def refused(self, facts: Facts) -> int:
        """Return the bitmap of the added requirements that do not certainly hold for a system."""
        refused = self.unknown
        # Columns with many values, such as names, come last, because most requirements are refused by then.
        for column in sorted(self._columns.values(), key=lambda column: column.values):
            refused = column.refused(facts, refused)
        return refused


def numbers_in(bitmap: int) -> Iterator[int]:
    """Yield the numbers of a set in ascending order."""
    digits = f"{bitmap:b}"[::-1]
    number = digits.find("1")
    while number >= 0:
        yield number
        number = digits.find("1", number + 1)
