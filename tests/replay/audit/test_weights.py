"""The audit's own table, merge and formula of weights."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.contention.algebra import merge
from domain.contention.documents import locks_from_json, locks_to_json
from replay.audit.cells import KINDS, VALUES, cell_value
from replay.audit.locks import LEVELS, NO_LOCKS, LevelLock, Locks, UnreadableLocks, locks_of, merged
from replay.audit.placed_locks import PlacedLocks
from replay.audit.profiles import Profiles
from replay.audit.weight_formula import remaining_ticks, settings_of, static_weight
from tests.domain.contention.seed_table import SEED_KINDS, TEXTS, seed_cell
from tests.replay.audit.lock_forms import FORMS
from tests.replay.audit.story import AT

DEFAULTS = settings_of({})
WHOLE_LAB = Locks(whole_lab=True)


def form_of(kind: str, name: str) -> Any:
    return {kind: [name]} if kind in ("Shared", "Exclusive") else kind


def level_lock(form: Any) -> LevelLock:
    return locks_of({"pool": form}).levels[0]


def test_kinds__all__are_those_of_the_seed() -> None:
    assert list(KINDS) == SEED_KINDS and len(TEXTS) == 49


@pytest.mark.parametrize("waiting", KINDS)
@pytest.mark.parametrize("placed", KINDS)
def test_cell_value__each_cell__is_that_of_the_seed(waiting: str, placed: str) -> None:
    for name, is_meeting in (("i", True), ("j", False)):
        found = cell_value(level_lock(form_of(waiting, "i")), level_lock(form_of(placed, name)), VALUES)
        assert Decimal(found) / 1_000 == seed_cell(waiting, placed, is_meeting)


def test_cell_value__two_parts__worst_counts() -> None:
    both = level_lock([{"Shared": ["a"]}, {"Exclusive": ["b"]}])
    assert cell_value(both, level_lock({"Shared": ["b"]}), VALUES) == 3_000
    assert cell_value(both, level_lock({"Exclusive": ["a"]}), VALUES) == 3_000
    assert cell_value(both, level_lock({"Shared": ["a"]}), VALUES) == 500
    assert cell_value(level_lock({"Shared": ["b"]}), both, VALUES) == 3_000


@pytest.mark.parametrize(
    ("profile", "placed", "weight"),
    [
        ({"pool": "AllExclusive"}, [], 1_000),
        ({}, [{"pool": "AllExclusive"}], 1_000),
        ({"pool": "AllExclusive"}, [{}], 1_500),
        ({"pool": "AllExclusive"}, [{}, {"pool": {"Shared": ["a"]}}, {}], 4_000),
        ({"pool": "AllExclusive", "network": "UnknownShared"}, [{"pool": "AllShared"}], 4_300),
        ({"pool": "UnknownShared", "network": "UnknownShared"}, [{"whole_lab": True}], 7_000),
        ({"whole_lab": True}, [], 16_000),
        ({"whole_lab": True, "pool": "AllShared"}, [{"whole_lab": True}], 16_000),
        (dict.fromkeys(LEVELS, "AllExclusive"), [{"whole_lab": True}], 16_000),
    ],
)
def test_static_weight__declared_beside_placed_locks__is_the_hand_computed_one(
    profile: Any, placed: list[Any], weight: int
) -> None:
    assert static_weight(locks_of(profile), PlacedLocks(map(locks_of, placed)), DEFAULTS) == weight


@pytest.mark.parametrize(
    ("ticks", "left"), [(-1, 30), (0, 30), (0.99, 30), (1, 29), (29, 1), (29.99, 1), (30, 0), (31, 0)]
)
def test_remaining_ticks__age__is_whole_and_never_negative(ticks: float, left: int) -> None:
    assert remaining_ticks(AT, AT + timedelta(seconds=30 * ticks), DEFAULTS) == left
    text = (AT + timedelta(seconds=30 * ticks)).isoformat()
    assert remaining_ticks(AT.isoformat(), text, DEFAULTS) == left
    assert remaining_ticks(None, AT, DEFAULTS) == remaining_ticks(AT, None, DEFAULTS) == 30


def test_settings_of__decimals__are_exact() -> None:
    section = {"base": 0.307, "tick_seconds": 0.5, "coefficient": 4, "values": {"maybe": 1.001}}
    settings = settings_of(section)
    assert (settings.base, settings.ticks, settings.values["maybe"]) == (307, 4, 1_001)
    assert settings.values["sure"] == 3_000 and settings.is_enabled
    assert remaining_ticks(AT, AT + timedelta(seconds=1.4), settings) == 2


def test_merged__all_pairs_and_triples__equal_those_of_the_scheduler() -> None:
    for count in (2, 3):
        for forms in product(FORMS, repeat=count):
            documents = [{"network": form} for form in forms]
            read = (locks_from_json(document, "locks") for document in documents)
            theirs = locks_to_json(merge(*read))
            assert merged(map(locks_of, documents)) == locks_of(theirs), forms


def test_locks_of__aliases_and_nothing__are_read() -> None:
    assert locks_of({"NodeRes": "AllShared"}) == locks_of({"system_resource": "AllShared"})
    assert locks_of({"pool": "None"}) is locks_of(None) is locks_of({}) is NO_LOCKS
    assert locks_of({"whole_lab": True}) == WHOLE_LAB
    with pytest.raises(UnreadableLocks):
        locks_of({"pool": {"Shared": ["a"], "Exclusive": ["b"]}})


ONE = st.sampled_from(FORMS)
DOCUMENTS = st.fixed_dictionaries({}, optional={"network": ONE, "pool": ONE, "whole_lab": st.booleans()})
PLACED = st.lists(st.tuples(st.integers(1, 3), DOCUMENTS), max_size=5)


@given(DOCUMENTS, PLACED, st.sets(st.integers(0, 4)))
def test_static_weight__of_any_set__is_the_plain_maximum_over_the_recipes_of_others(
    document: Any, placed: list[tuple[int, Any]], ended: set[int]
) -> None:
    """Recipes are placed, and some end; the set 1 is weighed."""
    sums, profile = PlacedLocks(), locks_of(document)
    for number, (set_id, locks) in enumerate(placed):
        sums.put(number, set_id, locks_of(locks))
    for number in ended & set(range(len(placed))):
        sums.put(number, placed[number][0], None)
    left = [each for number, each in enumerate(placed) if number not in ended]
    others = [locks_of(locks) for set_id, locks in left if set_id != 1]
    assert static_weight(profile, sums, DEFAULTS, sums.of_set(1)) == plain_weight(profile, others)


@given(st.lists(DOCUMENTS, min_size=1, max_size=3), PLACED, st.lists(st.integers(0, 4), max_size=6))
def test_weight__of_profiles_after_each_change__is_that_beside_new_sums(
    documents: list[Any], placed: list[tuple[int, Any]], ended: list[int]
) -> None:
    """Recipes are placed, and some end; at every second change all profiles are weighed."""
    sums = PlacedLocks()
    profiles = Profiles(sums)
    numbers = [profiles.number(locks_of(document)) for document in documents]
    held: dict[int, tuple[int, Any]] = {}
    moves = [(number, each) for number, each in enumerate(placed)]
    for index, (number, each) in enumerate([*moves, *((number, None) for number in ended)]):
        if each is None:
            held.pop(number, None)
        else:
            held[number] = each
        sums.put(number, *((1, None) if each is None else (each[0], locks_of(each[1]))))
        fresh = PlacedLocks(locks_of(locks) for _, locks in held.values())
        if index % 2 == 0:
            weights = [profiles.weight(each, DEFAULTS) for each in numbers]
            assert weights == [static_weight(profiles[each], fresh, DEFAULTS) for each in numbers]


def test_changed__names_of_placed_locks__are_those_of_cached_locks_only() -> None:
    x, placed = locks_of({"pool": {"Exclusive": ["x"]}}), PlacedLocks()
    placed.put(1, 1, locks_of({"pool": {"Exclusive": ["y"]}}))
    static_weight(x, placed, DEFAULTS)
    version = placed.version
    placed.put(2, 2, locks_of({"pool": {"Exclusive": ["z"]}}))
    assert not placed.changed
    placed.put(3, 3, x)
    assert placed.changed == {x.levels[LEVELS.index("pool")]}
    assert placed.version == version
    placed.changed.clear()
    placed.put(3, 3, None)
    assert not placed.changed, "its cells are not in the cache"


def test_weight__other_settings__is_computed_anew() -> None:
    x, placed = locks_of({"pool": {"Exclusive": ["x"]}}), PlacedLocks()
    profiles = Profiles(placed)
    placed.put(1, 1, x)
    number = profiles.number(x)
    assert profiles.weight(number, DEFAULTS) == 4_000
    assert profiles.weight(number, DEFAULTS._replace(base=2_000)) == 5_000


def test_static_weight__asked_again_after_the_holder_ended__is_the_new_one() -> None:
    x, placed = locks_of({"pool": {"Exclusive": ["x"]}}), PlacedLocks()
    placed.put(1, 1, x)
    assert static_weight(x, placed, DEFAULTS) == 4_000
    placed.put(1, 1, None)
    assert static_weight(x, placed, DEFAULTS) == 1_000


def test_static_weight__only_a_sibling_holds_the_name__is_that_of_other_names() -> None:
    x, y = ({"pool": {"Exclusive": [name]}} for name in "xy")
    placed = PlacedLocks()
    placed.put(1, 1, locks_of(x))
    placed.put(2, 2, locks_of(y))
    assert static_weight(locks_of(x), placed, DEFAULTS, placed.of_set(1)) == 1_500
    assert static_weight(locks_of(x), placed, DEFAULTS) == 4_000


def plain_weight(profile: Locks, placed: list[Locks]) -> int:
    if profile.whole_lab:
        return DEFAULTS.base + 5 * VALUES["sure"]
    everything = LevelLock(exclusive="All")
    worst = [0] * len(LEVELS)
    for locks, level in product(placed, range(len(LEVELS))):
        beside = everything if locks.whole_lab else locks.levels[level]
        worst[level] = max(worst[level], cell_value(profile.levels[level], beside, VALUES))
    return DEFAULTS.base + sum(worst)
