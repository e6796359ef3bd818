"""Inventories turned on their side: for each property, which systems have which value.

A bitmap is an int; bit n stands for system number n.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from domain.requirements.inventory import Inventory, Values
from domain.requirements.operators import test
from domain.requirements.vocabulary import SYSTEM, Vocabulary


@dataclass
class Column:
    """Who has which value of one property, and who has any."""

    holders: dict[Hashable, int] = field(default_factory=dict)
    known: int = 0

    def add(self, bit: int, values: Values) -> None:
        for value in values:
            self.holders[value] = self.holders.get(value, 0) | bit
        if values:
            self.known |= bit

    def drop(self, bit: int, values: Values) -> None:
        for value in values:
            left = self.holders[value] & ~bit
            if left:
                self.holders[value] = left
            else:
                del self.holders[value]
        self.known &= ~bit

    def holding(self, op: str, operand: Hashable) -> int:
        """The systems with a value that passes; each distinct value is tested once, whoever has it."""
        if op == "==":
            return self.holders.get(operand, 0)
        passes = test(op, operand)
        together = 0
        for value, bits in self.holders.items():
            if passes(value):
                together |= bits
        return together


class Columns:
    """Mutable. Taking a system in costs the work of that system, however many there are."""

    def __init__(self, vocabulary: Vocabulary = SYSTEM) -> None:
        self.vocabulary = vocabulary
        self.everyone = 0
        self._columns = {name: Column() for name in vocabulary.properties}
        self._values: dict[int, dict[str, Values]] = {}
        # By property, for who asks: what holds until a system comes, or has another value of it.
        self.kept: dict[str, dict[Hashable, Any]] = {name: {} for name in vocabulary.properties}

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def put(self, number: int, inventory: Inventory) -> frozenset[str]:
        """Take in a system, new or changed; the names of the properties that are not what they were."""
        new = {name: kept.read(inventory) for name, kept in self.vocabulary.properties.items()}
        old = self._values.get(number, {})
        bit = 1 << number
        changed = [name for name, values in new.items() if values != old.get(name)]
        for name in changed:
            if old:
                self._columns[name].drop(bit, old[name])
            self._columns[name].add(bit, new[name])
            self.kept[name].clear()
        self._values[number] = new
        self.everyone |= bit
        return frozenset(changed)
