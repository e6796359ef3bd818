"""The weight of a set: hand-computed cases, ageing, and its bounds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.contention.cells import VALUES
from domain.contention.locks import ALL, NO_LOCKS, UNKNOWN, LevelLock, Locks
from domain.contention.weights import (
    WHOLE_LAB_CELLS,
    Cells,
    WeightSettings,
    WeightValues,
    aged_weight,
    cells_beside,
    order_weight,
    shown_thousandths,
    shown_weight,
    static_weight,
    ticks,
    worst_cells,
)
from tests.domain.contention.seed_table import plain_cells
from tests.domain.contention.strategies import held_locks, locks

SEED = WeightSettings()
SUBMITTED = datetime(2026, 3, 1, 12, tzinfo=UTC)
WHOLE_LAB = Locks(whole_lab=True)


def on(**levels: LevelLock) -> Locks:
    """Return locks at the levels that are named."""
    order = ("pool", "guest", "system", "system_resource", "network")
    assert set(levels) <= set(order)
    return Locks(tuple(levels.get(level, LevelLock()) for level in order))


def values_of(cells: Cells) -> tuple[str, ...]:
    return tuple(VALUES[found] for found in cells)


def reading(*names: str) -> LevelLock:
    return LevelLock(shared=names)


def writing(*names: str) -> LevelLock:
    return LevelLock(exclusive=names)


BY_HAND = [
    # Nothing is placed: every level is 0.
    ("nothing placed", on(system=writing("a"), network=reading("n")), [], "none none none none none", 1_000),
    # A placed recipe without locks still counts: 0.5 for an exclusive lock, 0.3 for a shared one.
    (
        "placed recipe without locks",
        on(system=writing("a"), network=reading("n")),
        [NO_LOCKS],
        "none none heavy_degrade none degrade",
        1_800,
    ),
    (
        "no locks beside everything",
        NO_LOCKS,
        [WHOLE_LAB, on(system=writing("a"))],
        "none none none none none",
        1_000,
    ),
    # The worst of several recipes counts at each level: system 0.5, 3; network 0.3, 0.3, 0.
    (
        "several placed",
        on(system=writing("a"), network=reading("n")),
        [on(system=writing("b")), on(system=reading("a", "b")), on(network=reading("m"))],
        "none none sure none degrade",
        4_300,
    ),
    # Disjoint readers weigh nothing, though a reader beside a recipe without locks weighs 0.3.
    ("readers alone", on(pool=reading("a")), [on(pool=reading("b"))], "none none none none none", 1_000),
    (
        "readers and a recipe without locks",
        on(pool=reading("a")),
        [on(pool=reading("b")), NO_LOCKS],
        "degrade none none none none",
        1_300,
    ),
    # The whole lab weighs base + 15, whatever is placed.
    ("whole lab, nothing placed", WHOLE_LAB, [], "sure sure sure sure sure", 16_000),
    ("whole lab beside a recipe without locks", WHOLE_LAB, [NO_LOCKS], "sure sure sure sure sure", 16_000),
    # A held whole lab counts as AllExclusive at every level: 3 for every level with a lock.
    (
        "whole lab held",
        on(guest=reading("g"), system=LevelLock(UNKNOWN), network=LevelLock((), UNKNOWN)),
        [WHOLE_LAB],
        "none sure sure none sure",
        10_000,
    ),
    # Two parts of the waiting lock: AllShared beside UnknownShared 0.3, Exclusive beside it 1.5.
    (
        "two parts waiting",
        on(network=LevelLock(ALL, ("n",))),
        [on(network=LevelLock(UNKNOWN))],
        "none none none none maybe",
        2_500,
    ),
    # Two parts of the held lock: Shared beside AllShared 0, beside an exclusive name of its own 3.
    (
        "two parts held",
        on(network=reading("n")),
        [on(network=LevelLock(ALL, ("n",)))],
        "none none none none sure",
        4_000,
    ),
    # 16 without the whole lab.
    (
        "every level sure",
        Locks((writing("a"),) * 5),
        [Locks((reading("a"),) * 5)],
        "sure sure sure sure sure",
        16_000,
    ),
    # One of each: 0 + 0.3 + 0.5 + 1.5 + 3 = 5.3.
    (
        "every value",
        Locks((reading("a"), reading("a"), writing("a"), writing("a"), writing("a"))),
        [Locks((reading("a"), writing("b"), writing("b"), LevelLock((), UNKNOWN), writing("a")))],
        "none degrade heavy_degrade maybe sure",
        6_300,
    ),
]


@pytest.mark.parametrize(
    ("waiting", "held", "cells", "static"), [row[1:] for row in BY_HAND], ids=[row[0] for row in BY_HAND]
)
def test_static_weight__computed_by_hand__is_equal(
    waiting: Locks, held: list[Locks], cells: str, static: int
) -> None:
    found = worst_cells(waiting, held)
    assert values_of(found) == tuple(cells.split())
    assert static_weight(found, SEED) == static


def test_static_weight__with_other_settings__uses_its_base_and_values() -> None:
    settings = WeightSettings(base=250, values=WeightValues(1, 20, 300, 4_000, 50_000))
    assert static_weight((0, 1, 2, 3, 4), settings) == 250 + 54_321
    assert static_weight(WHOLE_LAB_CELLS, settings) == 250 + 5 * 50_000


K = 30
AGES = [
    # Age in ticks, and the weight of a set whose static weight is 4.3.
    (-1, 4_300 * 30, 4.3),
    (0, 4_300 * 30, 4.3),
    (1, 4_300 * 29, 4.156_666_666_666_667),
    (K - 1, 4_300, 0.143_333_333_333_333_33),
    (K, 0, 0.0),
    (K + 1, 0, 0.0),
]


@pytest.mark.parametrize(("age", "aged", "shown"), AGES)
def test_aged_weight__after_ticks__falls_to_zero_at_k(age: int, aged: int, shown: float) -> None:
    now = SUBMITTED + timedelta(seconds=30 * age)
    found = aged_weight(4_300, ticks(SUBMITTED, now, 30_000), K)
    assert found == aged
    assert isinstance(found, int)
    assert aged_weight(4_300, age, K) == aged
    assert shown_weight(found, K) == pytest.approx(shown, abs=1e-12)


TICKS = [
    # Seconds since the submission, seconds of a tick, whole ticks.
    (0, 30, 0),
    (29.999_999, 30, 0),
    (30, 30, 1),
    (59.999_999, 30, 1),
    (60, 30, 2),
    (1, 1, 1),
    (4.499_999, 1.5, 2),
    (4.5, 1.5, 3),
    (86_400 * 365 * 10, 1, 315_360_000),
    # A clock that stepped back.
    (-0.000_001, 30, 0),
    (-3_600, 30, 0),
]


@pytest.mark.parametrize(("seconds", "tick_seconds", "expected"), TICKS)
def test_ticks__since_the_submission__are_whole_and_never_negative(
    seconds: float, tick_seconds: float, expected: int
) -> None:
    now = SUBMITTED + timedelta(seconds=seconds)
    assert ticks(SUBMITTED, now, round(tick_seconds * 1_000)) == expected


def test_ticks__of_two_time_zones__are_of_one_moment() -> None:
    later = (SUBMITTED + timedelta(seconds=90)).astimezone()
    assert ticks(SUBMITTED, later, 30_000) == 3


def test_order_weight__switched_off__is_zero_for_all() -> None:
    assert order_weight(4_300, 1, SEED) == 4_300 * 29
    assert order_weight(4_300, 1, SEED._replace(is_enabled=False)) == 0


def test_shown__thousandths__as_the_seed_writes_them() -> None:
    assert [shown_thousandths(value) for value in SEED.values] == [0, 0.3, 0.5, 1.5, 3]
    assert shown_weight(aged_weight(16_000, 0, 7), 7) == 16


@given(locks, held_locks)
def test_worst_cells__of_any_locks__are_the_plain_maxima_of_the_seed(
    waiting: Locks, held: list[Locks]
) -> None:
    found = worst_cells(waiting, held)
    assert tuple(Decimal(SEED.values[each]) / 1000 for each in found) == plain_cells(waiting, held)


@given(locks, held_locks)
def test_static_weight__of_any_locks__is_between_base_and_base_plus_15(
    waiting: Locks, held: list[Locks]
) -> None:
    static = static_weight(worst_cells(waiting, held), SEED)
    assert 1_000 <= static <= 16_000
    assert static == 16_000 or not waiting.whole_lab


@given(held_locks)
def test_static_weight__of_a_set_that_declares_nothing__is_base(held: list[Locks]) -> None:
    assert static_weight(worst_cells(NO_LOCKS, held), SEED) == SEED.base


@given(locks, held_locks, held_locks)
def test_worst_cells__more_placed_recipes__are_never_better_at_any_level(
    waiting: Locks, held: list[Locks], more: list[Locks]
) -> None:
    before, after = worst_cells(waiting, held), worst_cells(waiting, held + more)
    assert all(one <= other for one, other in zip(before, after, strict=True))


@given(locks, held_locks)
def test_worst_cells__order_and_repetition_of_held_locks__change_nothing(
    waiting: Locks, held: list[Locks]
) -> None:
    assert worst_cells(waiting, [*reversed(held), *held]) == worst_cells(waiting, held)


@given(locks, held_locks)
def test_worst_cells__of_recipes_one_by_one__are_the_worst_of_their_cells(
    waiting: Locks, held: list[Locks]
) -> None:
    beside = [cells_beside(waiting, one) for one in held]
    if beside:
        assert worst_cells(waiting, held) == tuple(map(max, zip(*beside, strict=True)))


def test_worst_cells__locks_that_one_recipe_adds__may_make_a_reader_lighter() -> None:
    # The table of the seed is not monotone within one recipe, so recipes are never merged before they count.
    reader = on(pool=reading("a"))
    assert values_of(worst_cells(reader, [NO_LOCKS]))[0] == "degrade"
    assert values_of(worst_cells(reader, [on(pool=reading("b"))]))[0] == "none"
    assert values_of(worst_cells(reader, [NO_LOCKS, on(pool=reading("b"))]))[0] == "degrade"


moments = st.integers(-100_000, 10_000_000).map(lambda micros: SUBMITTED + timedelta(milliseconds=micros))
settings_of_weights = st.builds(
    WeightSettings,
    base=st.integers(0, 5_000),
    values=st.tuples(*(st.integers(0, 5_000) for _ in VALUES)).map(sorted).map(WeightValues._make),
    tick_milliseconds=st.integers(1_000, 100_000),
    coefficient=st.integers(1, 100),
)


@given(st.integers(0, 20_000), moments, moments, moments, settings_of_weights)
def test_order_weight__of_an_older_set_of_one_profile__is_never_greater(
    static: int, one: datetime, other: datetime, now: datetime, settings: WeightSettings
) -> None:
    older, younger = (
        order_weight(static, ticks(recorded_at, now, settings.tick_milliseconds), settings)
        for recorded_at in sorted((one, other))
    )
    assert 0 <= older <= younger <= static * settings.coefficient


@given(locks, held_locks, settings_of_weights)
def test_static_weight__with_any_settings__is_the_value_of_each_cell_by_its_name(
    waiting: Locks, held: list[Locks], settings: WeightSettings
) -> None:
    cells = worst_cells(waiting, held)
    by_name = settings.values._asdict()
    assert static_weight(cells, settings) == settings.base + sum(by_name[VALUES[each]] for each in cells)


@given(locks, held_locks, held_locks, settings_of_weights)
def test_static_weight__more_placed_recipes_with_any_settings__is_never_less(
    waiting: Locks, held: list[Locks], more: list[Locks], settings: WeightSettings
) -> None:
    before, after = (worst_cells(waiting, placed) for placed in (held, held + more))
    assert static_weight(before, settings) <= static_weight(after, settings)


def test_weight_values__names__are_those_of_the_table() -> None:
    assert WeightValues._fields == VALUES
