"""Recipes with the same filter share one entry; an index leads from entry to systems and back.

An entry knows its viable systems as a bitmap, its queued recipes by rank, and its idle systems by name. A
system knows its entries as a bitmap over entry numbers (its signature), brought up to date when it is asked
for. So a new recipe looks at one entry, and a pending system at the entries that want it: neither at the
queue, nor at the lab. `Effort` counts what was looked at, and a test holds the counts against the lab's size.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from domain.scheduling.labs import Labs, numbers_in
from domain.scheduling.ranked import Ranked
from domain.scheduling.rules import viable

Rank = tuple[int, ...]


@dataclass(frozen=True)
class FilterKey:
    """What decides which systems are viable: the canonical host requirement, and the distro tree."""

    host_requires: str
    distro_tree_id: int | None


@dataclass
class Effort:
    """Work done for triggers: filters held against the lab or a system, and entries and rows looked at."""

    evaluations: int = 0
    rows: int = 0


@dataclass
class Entry:
    """All recipes of one filter. `viable` is None until somebody asks.

    `idle` is a heap of names, None until somebody asks. It holds every idle viable system, and may hold more
    (taken since, no longer viable, or twice), thrown out when they come up.
    """

    key: FilterKey
    number: int
    viable: int | None = None
    queue: Ranked[Rank] = field(default_factory=Ranked)
    idle: list[str] | None = None


class Filters:
    """Mutable index over the entries of one partition."""

    # Entries without recipes are kept for the next recipe of the same filter, up to this many.
    SPARE = 4_096
    # A heap this much longer than twice the idle pool is given up, so that nobody's asking bounds its size.
    SLACK = 64

    def __init__(self, lab: Labs, effort: Effort) -> None:
        self._lab = lab
        self._effort = effort
        self._idle_bits = 0
        self._entries: dict[FilterKey, Entry] = {}
        self._start_numbering()

    def _start_numbering(self) -> None:
        self._by_number: list[Entry] = list(self._entries.values())
        for number, entry in enumerate(self._by_number):
            entry.number = number
        self._evaluated = [entry for entry in self._by_number if entry.viable is not None]
        self._known = sum(1 << entry.number for entry in self._evaluated)
        self._wanting = sum(1 << entry.number for entry in self._by_number if len(entry.queue))
        self._signatures: dict[int, tuple[int, int]] = {}

    # Recipes in and out

    def entry(self, key: FilterKey) -> Entry:
        entry = self._entries.get(key)
        if entry is None:
            self._drop_spare()
            entry = self._entries[key] = Entry(key, len(self._by_number))
            self._by_number.append(entry)
        return entry

    def enqueue(self, key: FilterKey, rank: Rank) -> None:
        entry = self.entry(key)
        entry.queue.add(rank)
        self._wanting |= 1 << entry.number

    def dequeue(self, key: FilterKey, rank: Rank) -> None:
        entry = self.entry(key)
        entry.queue.discard(rank)
        if not len(entry.queue):
            self._wanting &= ~(1 << entry.number)

    # Systems in and out

    def became_idle(self, fqdn: str) -> None:
        number = self._lab.number(fqdn)
        if self._idle_bits >> number & 1:
            return
        self._idle_bits |= 1 << number
        for entry_number in numbers_in(self._signature(number)):
            self._effort.rows += 1
            self._offer(self._by_number[entry_number], fqdn)

    def no_longer_idle(self, fqdn: str) -> None:
        self._idle_bits &= ~(1 << self._lab.number(fqdn))

    def _offer(self, entry: Entry, fqdn: str) -> None:
        """Put an idle viable system where `first_idle` finds it."""
        if entry.idle is None:
            return
        if len(entry.idle) < 2 * self._idle_bits.bit_count() + self.SLACK:
            heapq.heappush(entry.idle, fqdn)
        else:
            entry.idle = None

    def system_changed(self, fqdn: str, alone: Labs) -> None:
        """Hold a new or changed system against the entries in use; `alone` is a lab of just that system."""
        number = self._lab.number(fqdn)
        bit = 1 << number
        self._signatures.pop(number, None)
        for entry in self._entries.values():
            if entry.viable is None:
                continue
            self._effort.evaluations += 1
            if not viable(alone, entry.key):
                entry.viable &= ~bit
                continue
            entry.viable |= bit
            if self._idle_bits & bit:
                self._offer(entry, fqdn)

    def trees_changed(self) -> None:
        """Distro trees came, went or changed: every entry is evaluated anew when it is next asked for."""
        for entry in self._entries.values():
            entry.viable = entry.idle = None
        self._start_numbering()

    # Questions

    def viable(self, key: FilterKey) -> int:
        """Bitmap of the systems that could run recipes with this filter, busy or not."""
        return self._evaluate(self.entry(key))

    def first_idle(self, key: FilterKey) -> str | None:
        """The idle viable system that comes first by name."""
        entry = self.entry(key)
        candidates = self._evaluate(entry) & self._idle_bits
        if not candidates:
            return None
        if entry.idle is None:
            entry.idle = sorted(self._lab.names[number] for number in numbers_in(candidates))
            self._effort.rows += len(entry.idle)
        while not candidates >> self._lab.number(entry.idle[0]) & 1:
            heapq.heappop(entry.idle)
            self._effort.rows += 1
        self._effort.rows += 1
        return entry.idle[0]

    def heads_for(self, fqdn: str) -> Iterator[Rank]:
        """The first queued recipe of each entry that the system is viable for."""
        for number in numbers_in(self._wanting & ~self._known):
            self._evaluate(self._by_number[number])
        for number in numbers_in(self._signature(self._lab.number(fqdn)) & self._wanting):
            self._effort.rows += 1
            head = self._by_number[number].queue.first()
            if head is not None:
                yield head

    # Bringing up to date what is asked for

    def _evaluate(self, entry: Entry) -> int:
        if entry.viable is None:
            self._effort.evaluations += 1
            entry.viable = viable(self._lab, entry.key)
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

    def _drop_spare(self) -> None:
        if len(self._entries) < self.SPARE or len(self._entries) < 4 * self._wanting.bit_count():
            return
        self._entries = {key: entry for key, entry in self._entries.items() if len(entry.queue)}
        self._start_numbering()
