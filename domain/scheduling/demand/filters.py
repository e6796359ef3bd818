"""The index from filters to systems and back. Recipes with the same filter share one entry.

An entry has the bitmap of the systems that fit its filter; access is stored per submitter (`access.py`). A
system has a signature, the bitmap of the filters that it fits. A line has the first recipe of each filter and
submitter. So a new recipe needs one entry, and a pending system a few entries, instead of the whole queue or
lab. `Effort` counts the visited entries and recipes; a test checks that they do not grow with the lab.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from domain.access.submit_rights import SubmitRights, Submitter
from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.bitsets.bitmaps import BYTE, numbers_in, union
from domain.scheduling.demand.changes import Changes
from domain.scheduling.demand.demand_counts import DemandCounts, Evaluated, FilterEntry, FilterInLine
from domain.scheduling.demand.lines import (
    Group,
    Line,
    RecipeCounts,
    ends_when_empty,
    ranks_as_queued,
)
from domain.scheduling.demand.order import Effort, Place, ordered_places
from domain.scheduling.demand.room_places import RoomGroup, RoomPlace, places_in_order
from domain.scheduling.demand.signatures import Signatures
from domain.scheduling.demand.submitters import Submitters
from domain.scheduling.demand.weighing import NO_PROFILE, WITHOUT_LOCKS, Profile, Weighing, WeightClass
from domain.scheduling.ranked import Rank, RankedByPriority
from domain.scheduling.supply.filter_key import Demand, FilterKey
from domain.scheduling.supply.labs import Labs
from domain.scheduling.supply.rules import fitting

EVERY = -1
# Comparing a filter with a set of systems costs as much as reading this number of lanes.
LANES_PER_FILTER = 32
EMPTY_LINE = Line(is_queued=True)


Stand = tuple[str, int]
"""The line in which a recipe stands, and the number of its profile there."""


class MovedRanks(NamedTuple):
    """Recipes of a group that are about to stand elsewhere."""

    to: Stand
    ranked: RankedByPriority


class Split(NamedTuple):
    """A group that loses recipes: `parts` are about to stand elsewhere, `staying` is the rest, if any."""

    line: str
    group: Group
    staying: RankedByPriority | None
    parts: Sequence[MovedRanks]

    @property
    def lines(self) -> Iterator[str]:
        """Yield the line of the group, and the lines to which its recipes move."""
        yield self.line
        for (line, _), _ in self.parts:
            yield line


class Filters:
    """The filters of one partition. Mutable."""

    # Entries without recipes are dropped only above this number of entries: the next recipe may need them.
    MAX_SPARE = 4_096

    def __init__(self, labs: Labs, effort: Effort) -> None:
        self._labs = labs
        self._effort = effort
        self._entries: dict[FilterKey, FilterEntry] = {}
        self._max_entries = self.MAX_SPARE
        self._by_number: dict[int, FilterEntry] = {}
        self._free_numbers: list[int] = []
        # Bitmaps of filters by number: evaluated ones, with unplaced recipes, and those that force a system.
        self._evaluated_bits = 0
        self._populated = 0
        self._forcing = 0
        self._submitters = Submitters(labs.access)
        self._lines: dict[str, Line] = {}
        # The lines in which recipes of each profile have stood, but for recipes without locks.
        self._lines_of_profile: dict[int, dict[str, None]] = {}
        self._signatures = Signatures(self._filter_at)
        self._changes = Changes()
        self.weighing = Weighing(self._reweigh)
        self._demand_counts = DemandCounts(labs.access, self._submitters, self._by_number)

    # Add and remove recipes

    def add(self, demand: Demand, count: int = 1) -> None:
        """Add `count` unplaced recipes, which the caller then adds to a line by `enqueue`."""
        entry, submitter = self._entry(demand.key), self._submitters.number(demand.submitter)
        entry.unplaced[submitter] = entry.unplaced.get(submitter, 0) + count
        self._submitters.count(submitter, count)
        self._populated |= 1 << entry.number
        self._demand_counts.changed(entry, submitter)

    def remove(self, demand: Demand, count: int = 1) -> None:
        entry, submitter = self._entry(demand.key), self._submitters.number(demand.submitter)
        entry.unplaced[submitter] -= count
        self._submitters.count(submitter, -count)
        if not entry.unplaced[submitter]:
            del entry.unplaced[submitter]
            if not entry.unplaced:
                self._populated &= ~(1 << entry.number)
        self._demand_counts.changed(entry, submitter)

    def enqueue(self, demand: Demand, line: str, *ranks: Rank, profile: Profile = WITHOUT_LOCKS) -> None:
        """Add the ranks of recipes with this demand and profile to a line."""
        entry, submitter = self._entry(demand.key), self._submitters.number(demand.submitter)
        profile_number = self.weighing.number(profile)
        self.weighing.use(profile_number, len(ranks))
        self._note_line(profile_number, line)
        self._line(line).add((entry.number, submitter, profile_number), *ranks)

    def _note_line(self, profile: int, line: str) -> None:
        if profile != NO_PROFILE:
            lines = self._lines_of_profile.get(profile)
            if lines is None:
                lines = self._lines_of_profile[profile] = {}
            lines[line] = None

    def _line(self, name: str) -> Line:
        line = self._lines.get(name)
        if line is None:
            line = self._lines[name] = Line(ranks_as_queued(name), self.weighing)
        return line

    def dequeue(self, demand: Demand, line: str, *ranks: Rank, profile: Profile = WITHOUT_LOCKS) -> None:
        """Remove the ranks of recipes with this demand and profile from a line."""
        entry, submitter = self._entry(demand.key), self._submitters.number(demand.submitter)
        self._leave(line, (entry.number, submitter, self.weighing.number(profile)), ranks)

    def _leave(self, line: str, group: Group, ranks: Collection[Rank]) -> None:
        self._lines[line].discard(group, *ranks)
        self._release(group[2], len(ranks))
        self._drop_empty(line)

    def _release(self, profile: int, count: int) -> None:
        self.weighing.use(profile, -count)
        if profile not in self.weighing.classes:
            del self._lines_of_profile[profile]

    def _drop_empty(self, line: str) -> None:
        if not self._lines[line].filters and ends_when_empty(line):
            del self._lines[line]

    def line_up(self, stand_of: Callable[[Rank], Stand]) -> None:
        """Move recipes to their present lines and profiles after a change that concerns many.

        A line whose recipes all stay, or all move to one new line, keeps what its searches have found. Groups
        whose recipes all move together are moved as they are.
        """
        splits: list[Split] = []
        for name in list(self._lines):
            of_line = list(self._splits(name, stand_of))
            if not self._rename(name, of_line):
                splits += of_line
        for name in dict.fromkeys(chain.from_iterable(split.lines for split in splits)):
            self._line(name).invalidate_heads()
        self._exchange_profiles(splits)
        for name, group, staying, _ in splits:
            self._lines[name].replace(group, staying)
        for _, (number, submitter, _), _, parts in splits:
            for (name, profile), ranked in parts:
                self._lines[name].put((number, submitter, profile), ranked)
        for name in dict.fromkeys(split.line for split in splits):
            self._drop_empty(name)

    def _exchange_profiles(self, splits: Iterable[Split]) -> None:
        """Update the number of recipes of each profile before the move."""
        used, released = Counter[int](), Counter[int]()
        for split in splits:
            for (name, profile), ranked in split.parts:
                self._note_line(profile, name)
                if profile != split.group[2]:
                    used[profile] += len(ranked)
                    released[split.group[2]] += len(ranked)
        # Profiles that end are dropped last, because recipes may enter with a profile that others leave.
        for profile, count in used.items():
            self.weighing.use(profile, count)
        for profile, count in released.items():
            self._release(profile, count)

    def _rename(self, name: str, splits: Sequence[Split]) -> bool:
        """Rename a line if its recipes all move to one new line of the same kind; return whether they do."""
        if not splits or len(splits) < sum(map(len, self._lines[name].groups().values())):
            return False
        new = splits[0].parts[0].to[0]
        if new in self._lines or ranks_as_queued(new) != ranks_as_queued(name):
            return False
        if any(staying or parts[0].to != (new, group[2]) or parts[1:] for _, group, staying, parts in splits):
            return False
        self._lines[new] = self._lines.pop(name)
        for _, group, *_ in splits:
            self._note_line(group[2], new)
        return True

    def _splits(self, name: str, stand_of: Callable[[Rank], Stand]) -> Iterator[Split]:
        for number, groups in self._lines[name].groups().items():
            for (submitter, profile), ranked in groups.items():
                group, present = (number, submitter, profile), (name, profile)
                if len(ranked) == 1:
                    (stand,) = map(stand_of, ranked.unordered())
                    if stand != present:
                        yield Split(name, group, None, (MovedRanks(stand, ranked),))
                    continue
                parts: dict[Stand, list[Rank]] = {}
                for rank in ranked.unordered():
                    parts.setdefault(stand_of(rank), []).append(rank)
                if len(parts) > 1:
                    staying = parts.pop(present, None)
                    moving = [MovedRanks(stand, RankedByPriority(ranks)) for stand, ranks in parts.items()]
                    rest = None if staying is None else RankedByPriority(staying)
                    yield Split(name, group, rest, moving)
                elif present not in parts:
                    yield Split(name, group, None, (MovedRanks(next(iter(parts)), ranked),))

    def _reweigh(self, profile: int, before: WeightClass) -> None:
        for name in self._lines_of_profile.get(profile, () if profile else self._lines):
            line = self._lines.get(name)
            if line is not None:
                line.reweigh(profile, before)

    def _entry(self, key: FilterKey) -> FilterEntry:
        entry = self._entries.get(key)
        if entry is None:
            self._drop_spare()
            number = self._free_numbers.pop() if self._free_numbers else len(self._by_number)
            entry = self._begin(key, number)
        return entry

    def _filter_at(self, number: int) -> FilterEntry | None:
        return self._by_number.get(number)

    def _begin(self, key: FilterKey, number: int) -> FilterEntry:
        entry = self._entries[key] = self._by_number[number] = FilterEntry(key, number)
        if key.forced is not None:
            self._forcing |= 1 << number
        return entry

    def _drop_spare(self) -> None:
        if len(self._entries) < self._max_entries:
            return
        spare = [entry for entry in self._entries.values() if not entry.unplaced]
        for entry in spare:
            self._invalidate(entry)
            del self._entries[entry.key], self._by_number[entry.number]
            self._free_numbers.append(entry.number)
        gone = union(1 << entry.number for entry in spare)
        self._forcing &= ~gone
        self._changes.gone(gone)
        self._max_entries = max(self.MAX_SPARE, 2 * len(self._entries))

    # Save and restore results

    def evaluated(self) -> list[Evaluated]:
        self._catch_up()
        return [
            Evaluated(entry.key, entry.number, entry.fitting)
            for entry in map(self._by_number.__getitem__, numbers_in(self._evaluated_bits))
            if entry.fitting is not None
        ]

    def restore(self, evaluated: Iterable[Evaluated]) -> None:
        """Restore the results from a snapshot, before any recipe is added."""
        for result in evaluated:
            self._begin(result.key, result.number).fitting = result.fitting
            self._evaluated_bits |= 1 << result.number
            self._signatures.invalidate(result.number)
        self._free_numbers = [
            each for each in range(self._evaluated_bits.bit_length()) if each not in self._by_number
        ]
        self._max_entries = max(self.MAX_SPARE, 2 * len(self._entries))

    # Changes of systems and distro trees

    def system_changed(self, number: int, changed: frozenset[str] | None) -> None:
        """Mark filters for re-evaluation for a system; `changed` is the result of `Labs.put`."""
        # Without evaluated filters there is nothing to re-evaluate.
        if self._evaluated_bits:
            self._changes.note(number, changed)

    def tree_changed(self, tree_id: int) -> None:
        """Invalidate the entries whose filters name the tree, until a query needs them."""
        for number in numbers_in(self._evaluated_bits):
            if tree_id in self._by_number[number].key.tree_ids:
                self._invalidate(self._by_number[number])

    # Queries

    def fitting(self, key: FilterKey) -> int:
        """Return the systems that fit the filter, evaluating it if necessary."""
        self._catch_up()
        entry = self._entry(key)
        if entry.fitting is None:
            self._evaluate(entry)
        assert entry.fitting is not None, "the entry is evaluated"
        return entry.fitting

    def least_demanded(self, among: int) -> int:
        """Return the systems of `among` that the smallest number of unplaced recipes could use."""
        self._evaluate_all(self._populated)
        return self.demand_counts().least(among)

    def demand_counts(self) -> BitSlicedNumbers:
        """Return, by system, the number of unplaced recipes of evaluated filters that could use it."""
        self._catch_up()
        return self._demand_counts.counted()

    def in_use(self) -> Iterator[FilterEntry]:
        """Yield the entries with unplaced recipes, evaluated or not."""
        return (self._by_number[number] for number in numbers_in(self._populated))

    def ranks_of(self, entry: FilterEntry) -> Iterator[Rank]:
        return chain.from_iterable(line.recipes(entry.number) for line in self._lines.values())

    def signatures_of(self, systems: int, *, forced_only: bool) -> Iterator[tuple[int, int]]:
        """Yield each system with its fitting filters that have recipes, or that force it (`forced_only`)."""
        self._evaluate_all(self._populated)
        filters = self._forcing if forced_only else self._populated
        for number, signature in self._signatures.each(systems):
            yield number, signature & filters

    def fitting_filters(self, unforced: int, forced: int, among: int | None = None) -> int:
        """Return the filters of `among` (None: all with recipes) that fit any of these systems, as a bitmap.

        A filter that forces its system has to fit any of `forced`, which include `unforced`. All other
        filters have to fit any of `unforced`. The method visits filters or systems, whichever costs less.
        """
        self._evaluate_all(self._populated)
        among = self._populated if among is None else among & self._populated
        lanes = self._evaluated_bits.bit_length() // BYTE + 1
        if forced.bit_count() * (LANES_PER_FILTER + lanes) < LANES_PER_FILTER * among.bit_count():
            found = 0
            for number, signature in self._signatures.each(forced):
                self._effort.rows += 1
                found |= signature if unforced >> number & 1 else signature & self._forcing
            return found & among
        return union(1 << number for number in numbers_in(among) if self._fits_any(number, unforced, forced))

    def _fits_any(self, number: int, unforced: int, forced: int) -> bool:
        self._effort.rows += 1
        entry = self._by_number[number]
        assert entry.fitting is not None, "filters with recipes are evaluated"
        return entry.fitting & (unforced if entry.key.forced is None else forced) != 0

    def recipe_counts(self, line: str) -> RecipeCounts | None:
        """Return the counts of the recipes of a line; None if the line is empty."""
        there = self._lines.get(line, EMPTY_LINE)
        return there.recipe_counts() if there.filters else None

    def maxima(self, rights: SubmitRights) -> tuple[int, ...]:
        """Return the maximum effective priority of each submitter, by number, on systems of a class."""
        return self._submitters.order(rights).maxima

    def filters_in(self, line: str) -> Iterator[FilterInLine]:
        """Evaluate and yield the filters of a line, with their recipes."""
        there = self._lines.get(line)
        if there is None:
            return
        self._evaluate_all(there.filters)
        for number in numbers_in(there.filters):
            self._effort.rows += 1
            yield FilterInLine(self._by_number[number], there.by_submitter(number))

    def submitter(self, number: int) -> Submitter:
        return self._submitters[number]

    def ranked_recipes(
        self,
        fqdn: str,
        lines: Iterable[str],
        *,
        forced_only: bool,
        is_sought: Callable[[Place], bool] | None = None,
        until: Mapping[str, Rank] = {},
    ) -> Iterator[Place]:
        """Yield the eligible recipes of lines on a system (or only those that force it) in rank order.

        For `is_sought`, see `ordered_places`. `until` has the last rank to search in a line: recipes of sets
        behind it are left out.
        """
        found = [
            (line, until.get(name))
            for name in lines
            if (line := self._lines.get(name)) is not None and line.filters
        ]
        if not found:
            return iter(())
        for line, _ in found:
            self._evaluate_all(line.filters)
        number = self._labs.number(fqdn)
        among = self._signatures.of(number) & (self._forcing if forced_only else EVERY)
        order = self._submitters.order(self._labs.access.of(number))
        places = [
            ordered_places(line, among & line.filters, order, self._effort, self.weighing, is_sought, last)
            for line, last in found
            if among & line.filters
        ]
        return places[0] if len(places) == 1 else heapq.merge(*places)

    def count_in(self, line: str) -> int:
        """Return the number of recipes in a line."""
        by_filter = self._lines.get(line, EMPTY_LINE).groups().values()
        return sum(len(ranked) for groups in by_filter for ranked in groups.values())

    def any_in(self, line: str, filters: int) -> bool:
        return filters & self._lines.get(line, EMPTY_LINE).filters != 0

    def ranked_recipes_of_class(
        self, line: str, filters: int, rights: SubmitRights, until: Rank | None = None
    ) -> Iterator[Place]:
        """Yield the places of the recipes of a line with these filters on systems of a class.

        Recipes of sets behind that of `until` are left out.
        """
        there = self._lines.get(line, EMPTY_LINE)
        among = filters & there.filters
        if not among:
            return iter(())
        order = self._submitters.order(rights)
        return ordered_places(there, among, order, self._effort, self.weighing, until=until)

    def places_for_room(
        self, line: str, systems: Mapping[bool, int], is_sought: Callable[[int], bool] = bool
    ) -> Iterator[tuple[RoomPlace, int]]:
        """Yield the recipes of a line in the order of room, each with those of `systems` viable for it.

        `systems` are the ones with force (True) and without. Recipes are left out without any viable ones,
        and as soon as these are not sought.
        """
        return places_in_order(self.room_groups(line, systems), self.weighing, self._effort, is_sought)

    def room_groups(self, line: str, systems: Mapping[bool, int]) -> Iterator[RoomGroup]:
        """Yield the groups of a line of sets that need room, each with those of `systems` viable for it.

        For `systems`, see `places_for_room`. Groups are left out without any viable ones.
        """
        there = self._lines.get(line, EMPTY_LINE)
        if not systems[True]:
            return
        self._evaluate_all(there.filters)
        for number, groups in there.groups().items():
            self._effort.rows += 1
            entry = self._by_number[number]
            fitting = (entry.fitting or 0) & systems[entry.key.forced is not None]
            for (submitter, profile), ranked in groups.items() if fitting else ():
                self._effort.rows += 1
                if viable := fitting & self._labs.access.allowed(self._submitters[submitter]):
                    yield RoomGroup(profile, viable, ranked)

    def number(self, key: FilterKey) -> int:
        return self._entry(key).number

    # Evaluation

    def _evaluate_all(self, numbers: int) -> None:
        self._catch_up()
        fresh = numbers & ~self._evaluated_bits
        if fresh:
            for number in numbers_in(fresh):
                self._evaluate(self._by_number[number])

    def _evaluate(self, entry: FilterEntry) -> None:
        self._effort.evaluations += 1
        entry.fitting = fitting(self._labs, entry.key)
        self._evaluated_bits |= 1 << entry.number
        self._signatures.invalidate(entry.number)
        self._demand_counts.evaluated(entry)

    def _invalidate(self, entry: FilterEntry) -> None:
        if entry.fitting is None:
            return
        self._demand_counts.invalidate(entry)
        self._evaluated_bits &= ~(1 << entry.number)
        self._signatures.invalidate(entry.number)
        entry.fitting = None

    def _catch_up(self) -> None:
        """Re-evaluate the affected filters for all changed systems at once."""
        if not self._changes.systems:
            return
        systems, concerned = self._changes.take(self._evaluated_bits, self._by_number)
        if not concerned:
            return
        part, found = self._labs.part(systems), dict[int, int]()
        for number in numbers_in(concerned):
            self._effort.evaluations += 1
            entry = self._by_number[number]
            found[number] = fitting(part.labs, entry.key)
            assert entry.fitting is not None, "only evaluated entries are concerned"
            updated = entry.fitting & ~systems | found[number] << part.before
            if updated != entry.fitting:
                self._demand_counts.invalidate(entry)
                entry.fitting = updated
        self._signatures.replace(systems, concerned, found, part.before)
