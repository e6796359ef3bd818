"""Sums of held locks against plain maxima over all pairs, after random histories."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.contention.cells import VALUES
from domain.contention.held_sums import HeldSums, keys_of
from domain.contention.locks import ALL, NO_LOCKS, UNKNOWN, LevelLock, Locks
from domain.contention.weights import WHOLE_LAB_CELLS, Cells, WeightSettings, worst_cells
from tests.domain.contention.model import NORMAL
from tests.domain.contention.seed_table import plain_cells
from tests.domain.contention.strategies import held_locks, locks

profiles = st.lists(locks, min_size=1, max_size=4)
# A step adds these locks, or removes the recipe at a place among those that are placed.
steps = st.lists(st.one_of(locks, st.integers(0, 5)), max_size=12)


def numbers(cells: Cells) -> tuple[Decimal, ...]:
    return tuple(Decimal(WeightSettings().values[found]) / 1000 for found in cells)


def test_sums__of_all_pairs_and_triples_at_one_level__are_the_plain_maxima() -> None:
    for one in NORMAL:
        for other in NORMAL:
            held = [Locks((one,) * 5), Locks((other,) * 5)]
            sums = HeldSums(held)
            for start in range(0, len(NORMAL), 5):
                # Five waiting locks at a time, one at each level.
                waiting = Locks(tuple([*NORMAL, *NORMAL][start : start + 5]))
                assert sums.worst_cells(waiting) == worst_cells(waiting, held), (waiting, held)


@given(profiles, held_locks)
def test_sums__of_any_recipes__are_the_plain_maxima_of_the_seed(
    waiting: list[Locks], held: list[Locks]
) -> None:
    sums = HeldSums(held)
    for profile in waiting:
        assert numbers(sums.worst_cells(profile)) == plain_cells(profile, held)
        for level, lock in enumerate(profile.levels):
            assert sums.cell(level, lock) == worst_cells(profile._replace(whole_lab=False), held)[level]


@given(profiles, steps)
def test_sums__after_each_step_of_a_history__equal_those_computed_anew(
    waiting: list[Locks], history: list[Locks | int]
) -> None:
    sums, placed = HeldSums(), list[Locks]()
    for step in history:
        before = [sums.worst_cells(profile) for profile in waiting]
        changed = set(take(step, sums, placed))
        for profile, cells in zip(waiting, before, strict=True):
            assert sums.worst_cells(profile) == worst_cells(profile, placed)
            # A profile without a changed sum weighs what it weighed.
            if changed.isdisjoint(keys_of(profile)):
                assert sums.worst_cells(profile) == cells


def take(step: Locks | int, sums: HeldSums, placed: list[Locks]) -> tuple[object, ...]:
    if isinstance(step, Locks):
        placed.append(step)
        return sums.add(step)
    return sums.remove(placed.pop(step)) if step < len(placed) else ()


@given(profiles, held_locks, held_locks)
def test_sums__with_own_recipes__are_those_of_the_others(
    waiting: list[Locks], others: list[Locks], own: list[Locks]
) -> None:
    sums, own_sums = HeldSums(others + own), HeldSums(own)
    for profile in waiting:
        assert sums.worst_cells(profile, own_sums) == worst_cells(profile, others)
        assert sums.worst_cells(profile) == worst_cells(profile, others + own)


@given(locks, held_locks, locks)
def test_sums__one_more_recipe__never_make_a_set_lighter(
    waiting: Locks, held: list[Locks], more: Locks
) -> None:
    sums = HeldSums(held)
    before = sums.worst_cells(waiting)
    sums.add(more)
    assert all(one <= other for one, other in zip(before, sums.worst_cells(waiting), strict=True))


def test_sums__without_recipes__are_none_but_for_the_whole_lab() -> None:
    sums = HeldSums()
    assert sums.worst_cells(Locks((LevelLock((), ALL),) * 5)) == (0,) * 5
    assert sums.worst_cells(Locks(whole_lab=True)) == WHOLE_LAB_CELLS


def test_changed_sums__of_one_name__are_of_profiles_with_that_name_alone() -> None:
    network = 4
    holder, another = locks_on_network(LevelLock((), ("n",))), locks_on_network(LevelLock((), ("m",)))
    sums = HeldSums([another])
    changed = set(sums.add(holder))
    assert not changed.isdisjoint(keys_of(locks_on_network(LevelLock(("n",)))))
    assert changed.isdisjoint(keys_of(locks_on_network(LevelLock(("o",)))))
    assert sums.add(holder) == ()
    assert sums.remove(holder) == ()
    assert set(sums.remove(holder)) == changed
    assert VALUES[sums.cell(network, LevelLock(("n",)))] == "degrade"


def locks_on_network(lock: LevelLock) -> Locks:
    return Locks((*NO_LOCKS.levels[:4], lock))


def test_keys__of_profiles_without_levels__are_none() -> None:
    assert keys_of(NO_LOCKS) == ()
    assert keys_of(Locks(NORMAL_LEVELS, whole_lab=True)) == ()
    # A row for each part, and each name of the row.
    assert len(keys_of(Locks(NORMAL_LEVELS))) == 5 + 2


NORMAL_LEVELS = (
    LevelLock(("a", "b")),
    LevelLock(UNKNOWN),
    LevelLock(ALL),
    LevelLock((), UNKNOWN),
    LevelLock((), ALL),
)


@pytest.mark.parametrize("removed", [NO_LOCKS, Locks(NORMAL_LEVELS), locks_on_network(LevelLock((), ("m",)))])
def test_remove__recipe_was_not_added__raises(removed: Locks) -> None:
    sums = HeldSums([locks_on_network(LevelLock((), ("n",)))])
    with pytest.raises(ValueError, match="no recipe has these locks"):
        for _ in range(2):
            sums.remove(removed)
