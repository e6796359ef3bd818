"""Recipes with the same filter share one entry; an index leads from entry to systems and back.

An entry knows its viable systems as a bitmap, and its recipes by rank: the queued ones, and those assigned to
a lab. A system knows its entries as a bitmap over entry numbers (its signature), brought up to date when it
is asked for. So a new recipe looks at one entry, and a pending system at the entries that want it: neither at
the queue, nor at the lab. `Effort` counts what was looked at, and a test holds the counts against the lab's
size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from domain.scheduling.bitmaps import numbers_in
from domain.scheduling.filter_key import FilterKey
from domain.scheduling.labs import Labs
from domain.scheduling.planes import Planes
from domain.scheduling.ranked import Ranked, merged
from domain.scheduling.rules import viable

Rank = tuple[int, ...]

QUEUED = ""
"""The line of the queued recipes; the assigned ones stand in the line of their lab."""


@dataclass
class Effort:
    """Work done for triggers: filters held against the lab or a system, and entries and rows looked at."""

    evaluations: int = 0
    rows: int = 0


@dataclass
class Entry:
    """All unplaced recipes of one filter. `viable` is None until somebody asks; `lines` are by lab."""

    key: FilterKey
    number: int
    viable: int | None = None
    unplaced: int = 0
    lines: dict[str, Ranked[Rank]] = field(default_factory=dict)


class Filters:
    """Mutable index over the entries of one partition."""

    # Entries without recipes are kept for the next recipe of the same filter, up to this many.
    SPARE = 4_096

    def __init__(self, labs: Labs, effort: Effort) -> None:
        self._labs = labs
        self._effort = effort
        self._entries: dict[FilterKey, Entry] = {}
        self._most = self.SPARE
        self._start_numbering()

    def _start_numbering(self) -> None:
        self._by_number: list[Entry] = list(self._entries.values())
        self._wanting: dict[str, int] = {}
        for number, entry in enumerate(self._by_number):
            entry.number = number
            for line, ranked in entry.lines.items():
                if len(ranked):
                    self._wanting[line] = self._wanting.get(line, 0) | 1 << number
        self._evaluated = [entry for entry in self._by_number if entry.viable is not None]
        self._known = sum(1 << entry.number for entry in self._evaluated)
        self._populated = sum(1 << entry.number for entry in self._by_number if entry.unplaced)
        self._signatures: dict[int, tuple[int, int]] = {}
        self._takers = Planes()
        for entry in self._evaluated:
            self._takers.add(entry.viable or 0, entry.unplaced)

    # Recipes in and out

    def add(self, key: FilterKey) -> None:
        """One more unplaced recipe, which stands in no line yet."""
        entry = self._entry(key)
        entry.unplaced += 1
        self._populated |= 1 << entry.number
        if entry.viable is not None:
            self._takers.add(entry.viable, 1)

    def remove(self, key: FilterKey) -> None:
        entry = self._entry(key)
        entry.unplaced -= 1
        if not entry.unplaced:
            self._populated &= ~(1 << entry.number)
        if entry.viable is not None:
            self._takers.subtract(entry.viable, 1)

    def enqueue(self, key: FilterKey, line: str, rank: Rank) -> None:
        entry = self._entry(key)
        entry.lines.setdefault(line, Ranked()).add(rank)
        self._wanting[line] = self._wanting.get(line, 0) | 1 << entry.number

    def dequeue(self, key: FilterKey, line: str, rank: Rank) -> None:
        entry = self._entry(key)
        entry.lines[line].discard(rank)
        if not len(entry.lines[line]):
            del entry.lines[line]
            self._wanting[line] &= ~(1 << entry.number)

    def _entry(self, key: FilterKey) -> Entry:
        entry = self._entries.get(key)
        if entry is None:
            self._drop_spare()
            entry = self._entries[key] = Entry(key, len(self._by_number))
            self._by_number.append(entry)
        return entry

    def _drop_spare(self) -> None:
        if len(self._entries) >= self._most:
            self._entries = {key: entry for key, entry in self._entries.items() if entry.unplaced}
            self._most = max(self.SPARE, 2 * len(self._entries))
            self._start_numbering()

    # Systems and distro trees in and out

    def system_changed(self, fqdn: str, alone: Callable[[], Labs]) -> None:
        """Hold a new or changed system against the entries in use.

        `alone` makes a lab of just that system; while no entry has been evaluated, nobody needs it.
        """
        number = self._labs.number(fqdn)
        self._signatures.pop(number, None)
        if self._evaluated:
            self._takers.put(number, self._hold_against_all(alone(), 1 << number))

    def _hold_against_all(self, alone: Labs, bit: int) -> int:
        """How many recipes could use it."""
        takers = 0
        for entry in self._evaluated:
            self._effort.evaluations += 1
            assert entry.viable is not None, "an evaluated entry knows its systems"
            if viable(alone, entry.key):
                entry.viable |= bit
                takers += entry.unplaced
            else:
                entry.viable &= ~bit
        return takers

    def tree_changed(self, tree_id: int) -> None:
        """Entries that name the tree are evaluated anew when they are next asked for."""
        for entry in self._evaluated:
            if tree_id in entry.key.tree_ids:
                entry.viable = None
        self._start_numbering()

    # Questions

    def viable(self, key: FilterKey) -> int:
        """Bitmap of the systems that could run recipes with this filter, busy or not."""
        return self._evaluate(self._entry(key))

    def fewest_takers(self, among: int) -> int:
        """Those systems that the fewest unplaced recipes could use."""
        for number in numbers_in(self._populated & ~self._known):
            self._evaluate(self._by_number[number])
        return self._takers.least(among)

    def in_use(self) -> Iterator[Entry]:
        """The filters of unplaced recipes, whether evaluated or not."""
        return (entry for entry in self._by_number if entry.unplaced)

    def wanting(self, line: str) -> Iterator[Entry]:
        """The filters of a line, evaluated."""
        for number in numbers_in(self._wanting.get(line, 0)):
            self._effort.rows += 1
            self._evaluate(self._by_number[number])
            yield self._by_number[number]

    def takers(self, fqdn: str, line: str, *, forced_only: bool) -> Iterator[Rank]:
        """The recipes of a line that the system is viable for, in rank order.

        With `forced_only`, those that name the system by force.
        """
        wanting = self._wanting.get(line, 0)
        for number in numbers_in(wanting & ~self._known):
            self._evaluate(self._by_number[number])
        queues = []
        for number in numbers_in(self._signature(self._labs.number(fqdn)) & wanting):
            self._effort.rows += 1
            entry = self._by_number[number]
            if not forced_only or entry.key.forced:
                queues.append(entry.lines[line])
        return merged(queues)

    # Bringing up to date what is asked for

    def _evaluate(self, entry: Entry) -> int:
        if entry.viable is None:
            self._effort.evaluations += 1
            entry.viable = viable(self._labs, entry.key)
            self._takers.add(entry.viable, entry.unplaced)
            self._evaluated.append(entry)
            self._known |= 1 << entry.number
        return entry.viable

    def _signature(self, number: int) -> int:
        signature, seen = self._signatures.get(number, (0, 0))
        self._effort.rows += len(self._evaluated) - seen
        for entry in self._evaluated[seen:]:
            if entry.viable is not None and entry.viable >> number & 1:
                signature |= 1 << entry.number
        self._signatures[number] = signature, len(self._evaluated)
        return signature
