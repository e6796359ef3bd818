"""Filters of the queue, and the bitmaps that they consist of."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from domain.access.submit_rights import Submitter, submit_rights
from domain.scheduling.bitsets.bit_sliced import BitSlicedNumbers
from domain.scheduling.bitsets.bitmaps import lowest, nth, numbers_in, transposed, union
from domain.scheduling.demand.filters import Filters
from domain.scheduling.demand.lines import QUEUED
from domain.scheduling.demand.order import Effort
from domain.scheduling.ranked import Rank
from domain.scheduling.supply.filter_key import Demand, FilterKey
from domain.scheduling.supply.labs import Labs
from domain.system.state import System
from tests.domain.scheduling.host_requirements import ANYTHING, IN_POOL, NOT_IN_POOL, forces

NAMES = ("b", "a", "c", "a2")
KEYS = tuple(FilterKey(want.text, tree) for want in (ANYTHING, IN_POOL, NOT_IN_POOL) for tree in (1, 2))
LINES = (QUEUED, "lab-1")
ANYBODY = Submitter(None, None)
ANYONE, NET, FORCING = FilterKey(ANYTHING.text, 1), FilterKey(IN_POOL.text, 1), FilterKey(forces("a"), 1)
ALL_KEYS = (*KEYS, FORCING)


class Fixture:
    """The systems of one lab, with changeable pools."""

    def __init__(self) -> None:
        self.labs = Labs()
        self.filters = Filters(self.labs, Effort())
        self.put_tree(1, present=True)

    def put(self, fqdn: str, *pools: str) -> None:
        inventory = {"type": "Machine", "arches": ["x86_64"], "memory_mb": 1024}
        system = System(fqdn, 1, "lab-1", "ada", "Automated", inventory)
        changed = self.labs.put(system, pools)
        self.labs.access.put(self.labs.number(fqdn), submit_rights(None, [], "ada"))
        self.filters.system_changed(self.labs.number(fqdn), changed)

    def put_tree(self, tree_id: int, present: bool) -> None:
        urls = {"lab-1": ["http://lab-1/"]} if present else {}
        self.labs.put_tree(tree_id, {"arch": "x86_64", "family": "Fedora", "version": "40", "urls": urls})
        self.filters.tree_changed(tree_id)

    def fitting(self, key: FilterKey) -> set[str]:
        return self.names(self.filters.fitting(key))

    def names(self, systems: int) -> set[str]:
        return {self.labs.names[number] for number in numbers_in(systems)}

    def stand(self, key: FilterKey, rank: Rank, line: str = QUEUED) -> None:
        self.filters.add(Demand(key, ANYBODY))
        self.filters.enqueue(Demand(key, ANYBODY), line, rank)

    def ranked(self, fqdn: str, line: str = QUEUED, forced_only: bool = False) -> list[Rank]:
        return [place.rank for place in self.filters.ranked_recipes(fqdn, [line], forced_only=forced_only)]


def test_fitting__system_joins_and_leaves_pool_after_filter_was_asked__follows() -> None:
    lab = Fixture()
    lab.put("a")
    lab.put("b", "net")
    assert lab.fitting(NET) == {"b"}
    lab.put("a", "net")
    assert lab.fitting(NET) == {"a", "b"}
    lab.put("b")
    assert lab.fitting(NET) == {"a"}


def test_fitting__tree_leaves_the_lab_and_comes_back__follows() -> None:
    lab = Fixture()
    lab.put("a")
    assert lab.fitting(ANYONE) == {"a"}
    lab.put_tree(1, present=False)
    assert lab.fitting(ANYONE) == set()
    lab.put_tree(1, present=True)
    assert lab.fitting(ANYONE) == {"a"}


def test_ranked_recipes__system_leaves_the_pool_that_a_queued_recipe_wants__are_none() -> None:
    lab = Fixture()
    lab.put("a", "net")
    lab.stand(NET, Rank(-3, 1, 1))
    assert lab.ranked("a") == [(-3, 1, 1)]
    lab.put("a")
    assert lab.ranked("a") == []


def test_ranked_recipes__several_filters__come_in_one_order() -> None:
    lab = Fixture()
    lab.put("a", "net")
    for key, rank in (
        (NET, Rank(-3, 5, 1)),
        (ANYONE, Rank(-3, 4, 2)),
        (NET, Rank(-3, 3, 3)),
        (ANYONE, Rank(-4, 9, 4)),
    ):
        lab.stand(key, rank)
    assert lab.ranked("a") == [(-4, 9, 4), (-3, 3, 3), (-3, 4, 2), (-3, 5, 1)]


def test_ranked_recipes__of_a_system_that_only_forced_recipes_may_have__are_those_that_name_it() -> None:
    lab = Fixture()
    lab.put("a")
    lab.stand(ANYONE, Rank(-3, 1, 1))
    lab.stand(FORCING, Rank(-3, 2, 2))
    assert lab.ranked("a") == [(-3, 1, 1), (-3, 2, 2)]
    assert lab.ranked("a", forced_only=True) == [(-3, 2, 2)]


def test_fitting_filters__system_that_is_free_for_forced_recipes_only__is_that_of_its_filter() -> None:
    """Ask with two systems, as many as filters, and with one, so that both ways are taken."""
    fixture = Fixture()
    for fqdn in ("a", "b"):
        fixture.put(fqdn, "net")
    for number, key in enumerate((FORCING, NET)):
        fixture.stand(key, Rank(-1, number, number))
    numbers = {each.entry.key: 1 << each.entry.number for each in fixture.filters.filters_in(QUEUED)}
    a, b = (1 << fixture.labs.number(fqdn) for fqdn in ("a", "b"))
    fitting = fixture.filters.fitting_filters
    assert fitting(b, a | b) == numbers[FORCING] | numbers[NET]
    assert fitting(b, b) == fitting(b, b, numbers[NET]) == numbers[NET]
    assert fitting(0, a) == numbers[FORCING]
    assert fitting(0, a, numbers[NET]) == 0


def test_ranked_recipes__of_one_line__are_not_those_of_another() -> None:
    lab = Fixture()
    lab.put("a")
    lab.stand(ANYONE, Rank(-3, 1, 1), "lab-1")
    assert (lab.ranked("a"), lab.ranked("a", "lab-1")) == ([], [(-3, 1, 1)])


def test_spare_filters__more_than_are_kept__those_of_recipes_survive(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(Filters, "MAX_SPARE", 8)
    lab = Fixture()
    lab.put("a")
    lab.stand(ANYONE, Rank(-3, 1, 1))
    for tree_id in range(100, 200):
        assert lab.fitting(FilterKey(ANYTHING.text, tree_id)) == set()
    assert len(lab.filters._entries) <= 8
    assert lab.ranked("a") == [(-3, 1, 1)]
    assert lab.fitting(ANYONE) == {"a"}


class Indexes(RuleBasedStateMachine):
    """Few systems and few filters, so that all orders of changes and queries occur."""

    def __init__(self) -> None:
        super().__init__()
        self.fixture = Fixture()
        self.pools: dict[str, tuple[str, ...]] = {}
        self.trees = {1}
        self.stands: dict[tuple[FilterKey, str], list[tuple[int, ...]]] = {
            (key, line): [] for key in ALL_KEYS for line in LINES
        }
        self.tickets = 0

    def fits(self, fqdn: str, key: FilterKey) -> bool:
        in_pool = "net" in self.pools[fqdn]
        wanted = {ANYTHING.text: True, IN_POOL.text: in_pool, NOT_IN_POOL.text: not in_pool}
        wanted[FORCING.host_requires] = fqdn == "a"
        return key.distro_tree_id in self.trees and wanted[key.host_requires]

    def standing(self, fqdn: str, line: str) -> list[tuple[int, ...]]:
        return sorted(rank for key in ALL_KEYS if self.fits(fqdn, key) for rank in self.stands[key, line])

    @rule(fqdn=st.sampled_from(NAMES), member=st.booleans())
    def put(self, fqdn: str, member: bool) -> None:
        self.pools[fqdn] = ("net",) if member else ()
        self.fixture.put(fqdn, *self.pools[fqdn])

    @rule(tree_id=st.sampled_from((1, 2)), present=st.booleans())
    def put_tree(self, tree_id: int, present: bool) -> None:
        self.fixture.put_tree(tree_id, present)
        (self.trees.add if present else self.trees.discard)(tree_id)

    @rule(key=st.sampled_from(ALL_KEYS), line=st.sampled_from(LINES), urgent=st.booleans())
    def enqueue(self, key: FilterKey, line: str, urgent: bool) -> None:
        self.tickets += 1
        rank = Rank(-2 if urgent else -1, self.tickets, self.tickets)
        self.stands[key, line].append(rank)
        self.fixture.stand(key, rank, line)

    @rule(key=st.sampled_from(ALL_KEYS), line=st.sampled_from(LINES), which=st.integers(0, 9))
    def dequeue(self, key: FilterKey, line: str, which: int) -> None:
        if ranks := self.stands[key, line]:
            self.fixture.filters.dequeue(Demand(key, ANYBODY), line, ranks.pop(which % len(ranks)))
            self.fixture.filters.remove(Demand(key, ANYBODY))

    @rule(key=st.sampled_from(ALL_KEYS))
    def ask_for_systems(self, key: FilterKey) -> None:
        assert self.fixture.fitting(key) == {fqdn for fqdn in self.pools if self.fits(fqdn, key)}

    @precondition(lambda self: self.pools)
    @rule()
    def ask_for_the_fewest(self) -> None:
        counts = {fqdn: sum(len(self.standing(fqdn, line)) for line in LINES) for fqdn in self.pools}
        every = sum(1 << self.fixture.labs.number(fqdn) for fqdn in self.pools)
        fewest = self.fixture.names(self.fixture.filters.least_demanded(every))
        assert fewest == {fqdn for fqdn in self.pools if counts[fqdn] == min(counts.values())}

    @invariant()
    def ask_for_recipes(self) -> None:
        for fqdn in self.pools if self.tickets % 2 else ():
            for line in LINES:
                assert self.fixture.ranked(fqdn, line) == self.standing(fqdn, line)

    @rule(unforced=st.sets(st.sampled_from(NAMES)), forced=st.sets(st.sampled_from(NAMES)))
    def ask_for_filters_of_systems(self, unforced: set[str], forced: set[str]) -> None:
        """Compare with each filter. The answer comes from the systems if they are fewer than the filters."""
        unforced, forced = unforced & self.pools.keys(), (unforced | forced) & self.pools.keys()
        numbers = {
            each.entry.key: each.entry.number
            for line in LINES
            for each in self.fixture.filters.filters_in(line)
        }
        expected = {
            key
            for key in numbers
            if any(self.fits(fqdn, key) for fqdn in (forced if key == FORCING else unforced))
        }
        systems = [sum(1 << self.fixture.labs.number(fqdn) for fqdn in names) for names in (unforced, forced)]
        found = set(numbers_in(self.fixture.filters.fitting_filters(*systems)))
        assert found == {numbers[key] for key in expected}

    @rule(line=st.sampled_from(LINES))
    def ask_for_filters(self, line: str) -> None:
        found = self.fixture.filters.filters_in(line)
        wanting = {each.entry.key: self.fixture.names(each.entry.fitting or 0) for each in found}
        assert wanting == {
            key: {fqdn for fqdn in self.pools if self.fits(fqdn, key)}
            for key in ALL_KEYS
            if self.stands[key, line]
        }


TestIndexes = Indexes.TestCase
TestIndexes.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


members = st.sets(st.integers(0, 300))
some = st.sets(st.integers(0, 300), min_size=1)


def bitmap(numbers: set[int]) -> int:
    return sum(1 << number for number in numbers)


@given(members)
def test_numbers_in__any_set__are_its_members_ascending(numbers: set[int]) -> None:
    assert list(numbers_in(bitmap(numbers))) == sorted(numbers)


@given(some)
def test_lowest_and_nth__any_set__are_those_of_the_sorted_list(numbers: set[int]) -> None:
    ascending = sorted(numbers)
    assert lowest(bitmap(numbers)) == ascending[0]
    assert [nth(bitmap(numbers), index) for index in range(len(ascending))] == ascending


@given(st.lists(members))
def test_union__any_sets__has_the_members_of_all(sets: list[set[int]]) -> None:
    assert set(numbers_in(union(map(bitmap, sets)))) == set().union(*sets)


@given(st.dictionaries(st.integers(0, 200), members))
def test_transposed__any_rows__has_the_rows_of_each_number(rows: dict[int, set[int]]) -> None:
    found = transposed({row: bitmap(numbers) for row, numbers in rows.items()})
    assert {number: set(numbers_in(those)) for number, those in found.items()} == {
        number: {row for row, numbers in rows.items() if number in numbers}
        for number in set[int]().union(*rows.values())
    }


small = st.sets(st.integers(0, 9))
changes = st.sampled_from(["add", "subtract", "put", "change"])
steps = st.lists(st.tuples(changes, small, st.integers(0, 1_000)))


@given(steps, small)
def test_bit_sliced__any_changes__equal_a_dictionary(
    made: list[tuple[str, set[int], int]], among: set[int]
) -> None:
    planes, values = BitSlicedNumbers(), dict.fromkeys(range(10), 0)
    for change, numbers, amount in made:
        if change in ("put", "change"):
            for number in numbers:
                before = (values[number],) if change == "change" else ()
                getattr(planes, change)(number, *before, amount)
                values[number] = amount
            continue
        # No number becomes negative.
        least = amount if change == "add" else min([amount, *(values[number] for number in numbers)])
        getattr(planes, change)(bitmap(numbers), least)
        for number in numbers:
            values[number] += least if change == "add" else -least
    assert {number: planes.value(number) for number in values} == values
    smallest = min((values[number] for number in among), default=0)
    assert set(numbers_in(planes.least(bitmap(among)))) == {n for n in among if values[n] == smallest}


amounts = st.dictionaries(st.integers(0, 9), st.integers(0, 1_000))


@given(amounts, amounts, small)
def test_bit_sliced__others_added_and_subtracted__equal_sums(
    values: dict[int, int], more: dict[int, int], among: set[int]
) -> None:
    planes = BitSlicedNumbers(values)
    planes.add_each(BitSlicedNumbers(more))
    assert planes.total(bitmap(among)) == sum(values.get(n, 0) + more.get(n, 0) for n in among)
    planes.subtract_each(BitSlicedNumbers(more))
    assert {number: planes.value(number) for number in range(10)} == {n: values.get(n, 0) for n in range(10)}
