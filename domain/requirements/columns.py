"""Column index of inventories: for each property and value, the bitmap of systems (bit n: system n)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from domain.requirements.operators import as_text, test
from domain.requirements.patterns import like
from domain.requirements.property import Inventory, Property
from domain.requirements.value_holders import ValueHolders, bitmap_of
from domain.requirements.vocabulary import SYSTEM, Vocabulary


class PropertyColumn:
    """The systems with each value of a property (`holders`), and with any (`with_value`). Mutable."""

    def __init__(self, about: Property, inventories: Mapping[int, Inventory]) -> None:
        self._read = about.read
        self._values = {number: about.read(inventory) for number, inventory in inventories.items()}
        having: dict[Hashable, list[int]] = {}
        for number, values in self._values.items():
            for value in values:
                having.setdefault(value, []).append(number)
        self.holders = ValueHolders(having)
        self.with_value = bitmap_of([number for number, values in self._values.items() if values])

    def put(self, number: int, inventory: Inventory) -> bool:
        """Store the values of a system; return whether they have changed."""
        before, values = self._values.get(number), self._read(inventory)
        if values == before:
            return False
        bit = 1 << number
        for value in before or ():
            self.holders.drop(value, number)
        for value in values:
            self.holders.add(value, number)
        self.with_value = self.with_value | bit if values else self.with_value & ~bit
        self._values[number] = values
        return True

    def holding(self, op: str, operand: Hashable) -> int:
        """Return the systems with a value for which `value op operand` is true; test each value once."""
        if op == "==":
            return self.holders.get(operand, 0)
        if op == "like":
            matches = like(str(operand))
            # A fast path for text, which nearly all values are.
            return self.holders.union(
                value for value in self.holders if matches(value if type(value) is str else as_text(value))
            )
        passes = test(op, operand)
        return self.holders.union(value for value in self.holders if passes(value))


class Columns:
    """The columns of all properties. Mutable. Each is built at the first query: most are never queried."""

    def __init__(self, vocabulary: Vocabulary = SYSTEM) -> None:
        self.vocabulary = vocabulary
        self.all_numbers = 0
        self._inventories: dict[int, Inventory] = {}
        self._columns: dict[str, PropertyColumn] = {}
        # A cache for callers, by property; cleared when the values of the property change for any system.
        self.kept: dict[str, dict[Hashable, Any]] = {name: {} for name in vocabulary.properties}

    def __getitem__(self, name: str) -> PropertyColumn:
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = PropertyColumn(self.vocabulary.properties[name], self._inventories)
        return column

    def put(self, number: int, inventory: Inventory) -> frozenset[str] | None:
        """Store a system; return the properties whose values have changed, None for a new system."""
        before = self._inventories.get(number)
        changed = [name for name, column in self._columns.items() if column.put(number, inventory)]
        for name in changed:
            self.kept[name].clear()
        self._inventories[number] = inventory
        self.all_numbers |= 1 << number
        if before is None:
            return None
        return self._unread(before, inventory).union(changed)

    def _unread(self, before: Inventory, after: Inventory) -> frozenset[str]:
        """Return the changed properties whose columns are not built."""
        # Properties of identical fields are not read: mostly only the user or the pools have changed.
        others = {name for name in before.keys() | after.keys() if before.get(name) is not after.get(name)}
        return frozenset(
            name
            for name, about in self.vocabulary.properties.items()
            if name not in self._columns
            and not others.isdisjoint(about.fields)
            and about.read(before) != about.read(after)
        )
