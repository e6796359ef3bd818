"""Recipes with the same filter share one entry; an index leads from entry to systems and back.

An entry knows its viable systems as a bitmap, and its recipes by rank: the queued ones, and those assigned to
a lab. A system knows its entries as a bitmap over entry numbers (its signature), and a line its entries in
the order of their first recipes. So a new recipe looks at one entry, and a pending system at a few of those
that want it: neither at the queue, nor at the lab. `Effort` counts what was looked at, and a test holds the
counts against the lab's size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from domain.scheduling.bitmaps import numbers_in
from domain.scheduling.filter_key import FilterKey
from domain.scheduling.heads import Heads, Rank
from domain.scheduling.labs import Labs
from domain.scheduling.planes import Planes
from domain.scheduling.ranked import Ranked
from domain.scheduling.rules import viable
from domain.scheduling.signatures import Signatures

QUEUED = ""
"""The line of the queued recipes; the assigned ones stand in the line of their lab."""


@dataclass
class Effort:
    """Work done for triggers: filters held against the lab or a system, and entries and rows looked at."""

    evaluations: int = 0
    rows: int = 0


@dataclass
class Entry:
    """All unplaced recipes of one filter. `viable` is None until somebody asks; `lines` are by lab.

    `counted` are those recipes that its systems count as takers.
    """

    key: FilterKey
    number: int
    viable: int | None = None
    unplaced: int = 0
    counted: int = 0
    lines: dict[str, Ranked[Rank]] = field(default_factory=dict)


class Evaluated(NamedTuple):
    """What was found of a filter; its number is its place in the signatures of systems."""

    key: FilterKey
    number: int
    viable: int


class Filters:
    """Mutable index over the entries of one partition."""

    # Entries without recipes are kept for the next recipe of the same filter, up to this many.
    SPARE = 4_096

    def __init__(self, labs: Labs, effort: Effort) -> None:
        self._labs = labs
        self._effort = effort
        self._entries: dict[FilterKey, Entry] = {}
        self._most = self.SPARE
        self._by_number: dict[int, Entry] = {}
        self._free_numbers: list[int] = []
        self._heads = defaultdict[str, Heads](Heads)
        # Bitmaps of entries: evaluated, with unplaced recipes, naming a system by force.
        self._known = 0
        self._populated = 0
        self._forcing = 0
        self._signatures = Signatures()
        # How many unplaced recipes could use a system, of the evaluated entries; and those entries of which
        # not as many are counted as there are: they come and go far more often than somebody asks.
        self._takers = Planes()
        self._miscounted: dict[int, None] = {}

    # Recipes in and out

    def add(self, key: FilterKey) -> None:
        """One more unplaced recipe, which stands in no line yet."""
        entry = self._entry(key)
        entry.unplaced += 1
        self._populated |= 1 << entry.number
        self._miscounted[entry.number] = None

    def remove(self, key: FilterKey) -> None:
        entry = self._entry(key)
        entry.unplaced -= 1
        if not entry.unplaced:
            self._populated &= ~(1 << entry.number)
        self._miscounted[entry.number] = None

    def enqueue(self, key: FilterKey, line: str, rank: Rank) -> None:
        entry = self._entry(key)
        ranked = entry.lines.setdefault(line, Ranked())
        ranked.add(rank)
        if ranked.first() == rank:
            self._heads[line].put(entry.number, rank)

    def dequeue(self, key: FilterKey, line: str, rank: Rank) -> None:
        entry = self._entry(key)
        ranked = entry.lines[line]
        ranked.discard(rank)
        if self._heads[line].first(entry.number) == rank:
            self._heads[line].put(entry.number, ranked.first())
        if not len(ranked):
            del entry.lines[line]

    def fill(self, key: FilterKey, unplaced: int, lines: Mapping[str, Iterable[Rank]]) -> None:
        """As many times `add`, and `enqueue`."""
        entry = self._entry(key)
        entry.unplaced += unplaced
        self._populated |= 1 << entry.number
        self._miscounted[entry.number] = None
        for line, ranks in lines.items():
            ranked = entry.lines[line] = Ranked(chain(entry.lines.get(line, ()), ranks))
            self._heads[line].put(entry.number, ranked.first())

    def _entry(self, key: FilterKey) -> Entry:
        entry = self._entries.get(key)
        if entry is None:
            self._drop_spare()
            number = self._free_numbers.pop() if self._free_numbers else len(self._by_number)
            entry = self._begin(key, number)
        return entry

    def _begin(self, key: FilterKey, number: int) -> Entry:
        entry = self._entries[key] = self._by_number[number] = Entry(key, number)
        if key.forced is not None:
            self._forcing |= 1 << number
        return entry

    def _drop_spare(self) -> None:
        if len(self._entries) < self._most:
            return
        for entry in [entry for entry in self._entries.values() if not entry.unplaced]:
            self._forget(entry)
            self._forcing &= ~(1 << entry.number)
            self._miscounted.pop(entry.number, None)
            del self._entries[entry.key], self._by_number[entry.number]
            self._free_numbers.append(entry.number)
        self._most = max(self.SPARE, 2 * len(self._entries))

    # What was found of them: to be kept, and to begin from

    def evaluated(self) -> list[Evaluated]:
        return [
            Evaluated(entry.key, entry.number, entry.viable)
            for entry in self._evaluated()
            if entry.viable is not None
        ]

    def signatures(self) -> list[int]:
        """By system number, which of those filters it is viable for, as a bitmap of their numbers."""
        return [self._signatures.of(number) for number in range(len(self._labs.names))]

    def restore(self, evaluated: Iterable[Evaluated], signatures: Iterable[int]) -> None:
        """Begin with what others have found; there are no recipes yet."""
        for found in evaluated:
            self._begin(found.key, found.number).viable = found.viable
            self._known |= 1 << found.number
        self._signatures.restore(signatures)
        self._free_numbers = [each for each in range(self._known.bit_length()) if each not in self._by_number]
        self._most = max(self.SPARE, 2 * len(self._entries))

    # Systems and distro trees in and out

    def system_changed(self, fqdn: str, alone: Callable[[], Labs]) -> None:
        """Hold a new or changed system against the entries in use.

        `alone` makes a lab of just that system; while no entry has been evaluated, nobody needs it.
        """
        if self._known:
            self._hold_against_all(self._labs.number(fqdn), alone())

    def _hold_against_all(self, number: int, alone: Labs) -> None:
        takers = signature = 0
        for entry in self._evaluated():
            self._effort.evaluations += 1
            assert entry.viable is not None, "an evaluated entry knows its systems"
            if viable(alone, entry.key):
                entry.viable |= 1 << number
                signature |= 1 << entry.number
                takers += entry.counted
            else:
                entry.viable &= ~(1 << number)
        self._signatures.put(number, signature)
        self._takers.put(number, takers)

    def tree_changed(self, tree_id: int) -> None:
        """Entries that name the tree are evaluated anew when they are next asked for."""
        for entry in self._evaluated():
            if tree_id in entry.key.tree_ids:
                self._forget(entry)

    # Questions

    def viable(self, key: FilterKey) -> int:
        """Bitmap of the systems that could run recipes with this filter, busy or not."""
        return self._evaluate(self._entry(key))

    def fewest_takers(self, among: int) -> int:
        """Those systems that the fewest unplaced recipes could use."""
        self._evaluate_all(self._populated)
        return self.takers_counted().least(among)

    def takers_counted(self) -> Planes:
        """By system, how many unplaced recipes of evaluated filters could use it."""
        for number in self._miscounted:
            self._count(self._by_number[number], self._by_number[number].unplaced)
        self._miscounted.clear()
        return self._takers

    def in_use(self) -> Iterator[Entry]:
        """The filters of unplaced recipes, whether evaluated or not."""
        return (self._by_number[number] for number in numbers_in(self._populated))

    def wanting(self, line: str) -> Iterator[Entry]:
        """The filters of a line, evaluated."""
        self._evaluate_all(self._heads[line].numbers)
        for number in self._heads[line]:
            self._effort.rows += 1
            yield self._by_number[number]

    def takers(self, fqdn: str, line: str, *, forced_only: bool) -> Iterator[Rank]:
        """The recipes of a line that the system is viable for, in rank order, while nothing changes.

        With `forced_only`, those that name the system by force.
        """
        heads = self._heads[line]
        if not heads.numbers:
            return iter(())
        self._evaluate_all(heads.numbers)
        signature = self._signatures.of(self._labs.number(fqdn))

        def recipes(number: int) -> Ranked[Rank]:
            self._effort.rows += 1
            return self._by_number[number].lines[line]

        return heads.merged(signature & self._forcing if forced_only else signature, recipes)

    # Bringing up to date what is asked for

    def _evaluate_all(self, numbers: int) -> None:
        fresh = numbers & ~self._known
        if fresh:
            for number in numbers_in(fresh):
                self._look(self._by_number[number])

    def _evaluate(self, entry: Entry) -> int:
        if entry.viable is None:
            self._look(entry)
        assert entry.viable is not None, "it has just been evaluated"
        return entry.viable

    def _look(self, entry: Entry) -> None:
        self._effort.evaluations += 1
        entry.viable = viable(self._labs, entry.key)
        self._miscounted[entry.number] = None
        self._known |= 1 << entry.number
        self._signatures.add(entry.number, entry.viable)

    def _forget(self, entry: Entry) -> None:
        """What was found of it is not so any more."""
        if entry.viable is None:
            return
        self._count(entry, 0)
        self._known &= ~(1 << entry.number)
        self._signatures.remove(entry.number, entry.viable)
        entry.viable = None

    def _count(self, entry: Entry, takers: int) -> None:
        """Its systems count so many recipes of it."""
        if entry.viable is not None:
            more, entry.counted = takers - entry.counted, takers
            (self._takers.add if more > 0 else self._takers.subtract)(entry.viable, abs(more))

    def _evaluated(self) -> Iterator[Entry]:
        return (self._by_number[number] for number in numbers_in(self._known))
