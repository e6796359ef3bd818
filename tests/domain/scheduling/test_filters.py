"""The index from filters to systems and back: what it answers is what a scan would answer."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from domain.scheduling.filters import Effort, FilterKey, Filters
from domain.scheduling.labs import Labs, numbers_in
from domain.system.state import System
from tests.domain.scheduling.wants import ANYTHING, IN_POOL, NOT_IN_POOL

NAMES = ("b", "a", "c", "a2")
KEYS = tuple(FilterKey(want.text, tree) for want in (ANYTHING, IN_POOL, NOT_IN_POOL) for tree in (1, 2))
ANYONE, NET = FilterKey(ANYTHING.text, 1), FilterKey(IN_POOL.text, 1)


class Fixture:
    """Systems of one lab, whose pools can be changed."""

    def __init__(self) -> None:
        self.lab = Labs()
        self.filters = Filters(self.lab, Effort())
        self.put_tree(1, present=True)

    def put(self, fqdn: str, *pools: str) -> None:
        inventory = {"type": "Machine", "arches": ["x86_64"], "memory_mb": 1024}
        system = System(fqdn, 1, "lab-1", "ada", "Automated", inventory)
        self.lab.put(system, pools)
        self.filters.system_changed(fqdn, self.lab.alone(system, pools))

    def put_tree(self, tree_id: int, present: bool) -> None:
        urls = {"lab-1": ["http://lab-1/"]} if present else {}
        self.lab.put_tree(tree_id, {"arch": "x86_64", "family": "Fedora", "version": "40", "urls": urls})
        self.filters.trees_changed()


def test_first_idle__idle_system_joins_pool_after_filter_was_asked__is_found() -> None:
    lab = Fixture()
    for fqdn in ("a", "b"):
        lab.put(fqdn, *(["net"] if fqdn == "b" else []))
        lab.filters.became_idle(fqdn)
    assert lab.filters.first_idle(NET) == "b"
    lab.put("a", "net")
    assert lab.filters.first_idle(NET) == "a"


def test_first_idle__idle_system_leaves_pool_after_filter_was_asked__is_passed_over() -> None:
    lab = Fixture()
    for fqdn in ("a", "b"):
        lab.put(fqdn, "net")
        lab.filters.became_idle(fqdn)
    assert lab.filters.first_idle(NET) == "a"
    lab.put("a")
    assert lab.filters.first_idle(NET) == "b"
    lab.put("b")
    assert lab.filters.first_idle(NET) is None


def test_first_idle__system_added_to_pool_while_busy__is_found_once_idle() -> None:
    lab = Fixture()
    lab.put("a", "net")
    lab.put("b")
    lab.filters.became_idle("a")
    assert lab.filters.first_idle(NET) == "a"
    lab.put("b", "net")
    lab.filters.no_longer_idle("a")
    lab.filters.became_idle("b")
    assert lab.filters.first_idle(NET) == "b"


def test_first_idle__same_system_comes_and_goes_unasked_for__heap_stays_small() -> None:
    lab = Fixture()
    lab.put("a")
    lab.filters.became_idle("a")
    assert lab.filters.first_idle(ANYONE) == "a"
    for _ in range(1_000):
        lab.filters.no_longer_idle("a")
        lab.filters.became_idle("a")
    assert len(lab.filters.entry(ANYONE).idle or ()) <= 2 + Filters.SLACK
    assert lab.filters.first_idle(ANYONE) == "a"


def test_heads_for__system_leaves_the_pool_that_a_queued_recipe_wants__offers_it_no_more() -> None:
    lab = Fixture()
    lab.put("a", "net")
    lab.filters.enqueue(NET, (0, 1, 1))
    assert list(lab.filters.heads_for("a")) == [(0, 1, 1)]
    lab.put("a")
    assert list(lab.filters.heads_for("a")) == []


def test_spare_filters__more_than_are_kept__queued_ones_survive(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(Filters, "SPARE", 8)
    lab = Fixture()
    lab.put("a")
    lab.filters.became_idle("a")
    lab.filters.enqueue(ANYONE, (0, 1, 1))
    for tree_id in range(100, 200):
        assert lab.filters.first_idle(FilterKey(ANYTHING.text, tree_id)) is None
    assert len(lab.filters._entries) <= 8
    assert list(lab.filters.heads_for("a")) == [(0, 1, 1)]
    assert lab.filters.first_idle(ANYONE) == "a"


class Indexes(RuleBasedStateMachine):
    """Few systems and few filters, so that every order of change and question comes up."""

    def __init__(self) -> None:
        super().__init__()
        self.fixture = Fixture()
        self.pools: dict[str, tuple[str, ...]] = {}
        self.idle: set[str] = set()
        self.trees = {1}
        self.queued: dict[FilterKey, list[tuple[int, ...]]] = {key: [] for key in KEYS}
        self.tickets = 0

    def fits(self, fqdn: str, key: FilterKey) -> bool:
        in_pool = "net" in self.pools[fqdn]
        wanted = {ANYTHING.text: True, IN_POOL.text: in_pool, NOT_IN_POOL.text: not in_pool}
        return key.distro_tree_id in self.trees and wanted[key.host_requires]

    @rule(fqdn=st.sampled_from(NAMES), member=st.booleans())
    def put(self, fqdn: str, member: bool) -> None:
        self.pools[fqdn] = ("net",) if member else ()
        self.fixture.put(fqdn, *self.pools[fqdn])

    @precondition(lambda self: self.pools)
    @rule(which=st.integers(0, 9), idle=st.booleans())
    def turn(self, which: int, idle: bool) -> None:
        fqdn = list(self.pools)[which % len(self.pools)]
        if idle:
            self.fixture.filters.became_idle(fqdn)
            self.idle.add(fqdn)
        else:
            self.fixture.filters.no_longer_idle(fqdn)
            self.idle.discard(fqdn)

    @rule(tree_id=st.sampled_from((1, 2)), present=st.booleans())
    def put_tree(self, tree_id: int, present: bool) -> None:
        self.fixture.put_tree(tree_id, present)
        (self.trees.add if present else self.trees.discard)(tree_id)

    @rule(key=st.sampled_from(KEYS), urgent=st.booleans())
    def enqueue(self, key: FilterKey, urgent: bool) -> None:
        self.tickets += 1
        rank = (0 if urgent else 1, self.tickets)
        self.queued[key].append(rank)
        self.fixture.filters.enqueue(key, rank)

    @rule(key=st.sampled_from(KEYS), which=st.integers(0, 9))
    def dequeue(self, key: FilterKey, which: int) -> None:
        if ranks := self.queued[key]:
            self.fixture.filters.dequeue(key, ranks.pop(which % len(ranks)))

    @rule(key=st.sampled_from(KEYS))
    def ask_for_systems(self, key: FilterKey) -> None:
        fitting = [fqdn for fqdn in self.pools if self.fits(fqdn, key)]
        names = {self.fixture.lab.names[number] for number in numbers_in(self.fixture.filters.viable(key))}
        assert names == set(fitting)
        expected = min((fqdn for fqdn in fitting if fqdn in self.idle), default=None)
        assert self.fixture.filters.first_idle(key) == expected

    @invariant()
    def ask_for_recipes(self) -> None:
        for fqdn in self.pools if self.tickets % 2 else ():
            wanting = [key for key in KEYS if self.queued[key] and self.fits(fqdn, key)]
            expected = sorted(min(self.queued[key]) for key in wanting)
            assert sorted(self.fixture.filters.heads_for(fqdn)) == expected


TestIndexes = Indexes.TestCase
TestIndexes.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
