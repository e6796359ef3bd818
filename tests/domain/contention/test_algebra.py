"""Merging, covering and conflicts of locks: all pairs and triples against a model of sets."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis.strategies import booleans

from domain.contention.algebra import conflicts, covers, held, merge, uncovered
from domain.contention.documents import locks_from_json
from domain.contention.locks import ALL, NO_LOCK, NO_LOCKS, UNKNOWN, LevelLock, Locks, Part
from tests.domain.contention.model import (
    DECLARED,
    NORMAL,
    SEED_KINDS,
    excludes,
    is_normal,
    taken,
    together,
    worlds,
)
from tests.domain.contention.strategies import held_locks, locks

WHOLE_LAB = Locks(whole_lab=True)

MERGES: list[tuple[str, list[LevelLock], LevelLock]] = [
    ("nothing", [], LevelLock()),
    ("names are joined", [LevelLock(("b",)), LevelLock(("a",))], LevelLock(("a", "b"))),
    ("names with Unknown give Unknown", [LevelLock(("a",)), LevelLock(UNKNOWN)], LevelLock(UNKNOWN)),
    ("All absorbs Unknown", [LevelLock(UNKNOWN), LevelLock(ALL)], LevelLock(ALL)),
    ("All absorbs names", [LevelLock((), ("a",)), LevelLock((), ALL)], LevelLock((), ALL)),
    ("the same name is exclusive", [LevelLock(("a", "b")), LevelLock((), ("a",))], LevelLock(("b",), ("a",))),
    ("AllExclusive covers all names", [LevelLock(("a",)), LevelLock((), ALL)], LevelLock((), ALL)),
    ("AllExclusive covers AllShared", [LevelLock(ALL), LevelLock((), ALL)], LevelLock((), ALL)),
    ("AllExclusive covers UnknownShared", [LevelLock(UNKNOWN), LevelLock((), ALL)], LevelLock((), ALL)),
    ("AllShared stays beside names", [LevelLock(ALL), LevelLock((), ("a",))], LevelLock(ALL, ("a",))),
    ("UnknownShared stays", [LevelLock(UNKNOWN), LevelLock((), ("a",))], LevelLock(UNKNOWN, ("a",))),
    ("Unknown covers nothing", [LevelLock(("a",)), LevelLock((), UNKNOWN)], LevelLock(("a",), UNKNOWN)),
]


def in_all_levels(lock: LevelLock) -> Locks:
    return Locks((lock,) * 5)


def merged(*given: LevelLock) -> LevelLock:
    (lock,) = set(merge(*map(in_all_levels, given)).levels)
    return lock


@pytest.mark.parametrize(("given", "expected"), [row[1:] for row in MERGES], ids=[row[0] for row in MERGES])
def test_merge__of_locks__follows_the_rules_of_parts(given: list[LevelLock], expected: LevelLock) -> None:
    for order in permutations(given):
        assert merged(*order) == expected


def plain(*given: LevelLock) -> LevelLock:
    """Return the merge as the issue says it, with Unknown and All as elements of a set."""
    shared, exclusive = (set().union(*map(elements, parts)) for parts in zip(NO_LOCK, *given, strict=True))
    if ALL in exclusive:
        shared = set()
    elif not {UNKNOWN, ALL} & (shared | exclusive):
        shared -= exclusive
    return LevelLock(part(shared), part(exclusive))


def elements(of: Part) -> set[str]:
    return {of} if isinstance(of, str) else set(of)


def part(of: set[str]) -> Part:
    return ALL if ALL in of else UNKNOWN if UNKNOWN in of else tuple(sorted(of))


def test_merge__of_all_pairs__is_its_plain_meaning() -> None:
    for pair in product(DECLARED, repeat=2):
        found = merged(*pair)
        assert found == plain(*pair), pair
        assert is_normal(found), pair
        assert taken(found) == taken(*pair), pair


def test_merge__of_all_triples__is_its_plain_meaning() -> None:
    chunks = [(*NORMAL, *NORMAL)[start : start + 5] for start in range(0, len(NORMAL), 5)]
    for one, other in product(NORMAL, repeat=2):
        # Five triples at a time, one in each level.
        for chunk in chunks:
            pair, many = (in_all_levels(one), in_all_levels(other)), Locks(tuple(chunk))
            found = merge(*pair, many)
            in_steps = merge(merge(*pair), many)
            for level, third in enumerate(chunk):
                triple = (one, other, third)
                assert found.levels[level] == plain(*triple), triple
                # Merging in steps may keep fewer shared names beside Unknown, but takes the same.
                assert taken(found.levels[level]) == taken(*triple), triple
                assert taken(in_steps.levels[level]) == taken(*triple), triple


@pytest.mark.parametrize("count", [2, 3])
def test_merge__whatever_the_unknown_names_are__covers_its_parts(count: int) -> None:
    possible = {lock: worlds(lock) for lock in NORMAL}
    for group in product(SEED_KINDS, repeat=count):
        all_together = {together(*each) for each in product(*(possible[lock] for lock in group))}
        assert all_together <= possible[merged(*group)], group


@given(held_locks)
def test_merge__of_any_locks__covers_each_of_them_in_any_order(given: list[Locks]) -> None:
    found = merge(*given)
    assert all(covers(found, one) for one in given)
    assert merge(*reversed(given), *given) == found
    assert merge(found) == found


def test_merge__without_locks__is_none() -> None:
    assert merge() == NO_LOCKS
    assert merge(NO_LOCKS, NO_LOCKS) == NO_LOCKS


def test_merge__with_the_whole_lab__keeps_the_levels() -> None:
    levels = in_all_levels(LevelLock(("a",)))
    assert merge(WHOLE_LAB, levels) == Locks(levels.levels, True)


def test_held__unknown_names__are_taken_as_everything() -> None:
    assert held(in_all_levels(LevelLock(UNKNOWN))) == in_all_levels(LevelLock(ALL))
    assert held(in_all_levels(LevelLock((), UNKNOWN))) == in_all_levels(LevelLock((), ALL))
    assert held(in_all_levels(LevelLock(UNKNOWN, ("a",)))) == in_all_levels(LevelLock(ALL, ("a",)))
    # Nothing shared remains beside everything exclusive.
    assert held(in_all_levels(LevelLock(ALL, UNKNOWN))) == in_all_levels(LevelLock((), ALL))
    assert held(WHOLE_LAB) == WHOLE_LAB


def test_held__of_every_lock__takes_what_the_model_takes_and_names_nothing_unknown() -> None:
    for lock in NORMAL:
        (found,) = set(held(in_all_levels(lock)).levels)
        assert UNKNOWN not in found
        assert is_normal(found)
        assert taken(found) == taken(lock)


def test_covers__all_pairs__is_the_meaning_in_the_model() -> None:
    for old, new in product(NORMAL, repeat=2):
        expected = all(before >= after for before, after in zip(taken(old), taken(new), strict=True))
        assert covers(in_all_levels(old), in_all_levels(new)) == expected, (old, new)


NARROWINGS = [
    # Names are given up, or only read from then on.
    (LevelLock((), ("a", "b")), LevelLock((), ("a",)), True),
    (LevelLock((), ("a",)), LevelLock(("a",)), True),
    (LevelLock(("a",), ("b",)), LevelLock(("a", "b")), True),
    (LevelLock((), ("a",)), LevelLock(), True),
    # Unknown names become real ones.
    (LevelLock((), UNKNOWN), LevelLock((), ("a",)), True),
    (LevelLock((), UNKNOWN), LevelLock(("b",), ("a",)), True),
    (LevelLock(UNKNOWN), LevelLock(("a",)), True),
    # More names, or a stronger mode.
    (LevelLock((), ("a",)), LevelLock((), ("b",)), False),
    (LevelLock(("a",)), LevelLock((), ("a",)), False),
    (LevelLock(ALL), LevelLock((), ("a",)), False),
    (LevelLock((), ("a",)), LevelLock((), UNKNOWN), False),
    (LevelLock(("a",)), LevelLock(ALL), False),
]


@pytest.mark.parametrize(("old", "new", "expected"), NARROWINGS)
def test_covers__of_a_narrowing__is_true_if_nothing_is_added(
    old: LevelLock, new: LevelLock, expected: bool
) -> None:
    assert covers(in_all_levels(old), in_all_levels(new)) is expected


def test_covers__one_level_of_five_adds_something__is_false() -> None:
    old = in_all_levels(LevelLock(("a",)))
    for level in range(5):
        new = Locks((*old.levels[:level], LevelLock((), ("a",)), *old.levels[level + 1 :]))
        assert not covers(old, new)


def test_covers__whole_lab__covers_itself_alone_and_is_covered_by_itself_alone() -> None:
    everything = in_all_levels(LevelLock((), ALL))
    assert covers(WHOLE_LAB, WHOLE_LAB)
    assert covers(WHOLE_LAB, NO_LOCKS)
    assert not covers(everything, WHOLE_LAB)
    # A set of another lab may hold the name.
    assert not covers(WHOLE_LAB, in_all_levels(LevelLock(("a",))))
    both = Locks(everything.levels, True)
    assert covers(both, WHOLE_LAB)
    assert covers(both, everything)
    assert not covers(WHOLE_LAB, both)


def test_uncovered__each_lock__is_named_with_its_level_and_mode() -> None:
    old = locks_from_json({"network": {"Shared": ["a", "b"]}, "pool": "AllShared"}, "locks")
    new = {
        "network": [{"Shared": ["b", "c"]}, {"Exclusive": ["a"]}],
        "pool": {"Shared": ["x"]},
        "guest": "UnknownExclusive",
        "whole_lab": True,
    }
    assert [*uncovered(old, locks_from_json(new, "locks"))] == [
        "whole_lab",
        "guest (AllExclusive)",
        "network c (Shared)",
        "network a (Exclusive)",
    ]
    assert not [*uncovered(old, old)]


def test_conflicts__all_pairs__is_the_meaning_in_the_model() -> None:
    for one, other in product(NORMAL, repeat=2):
        expected = excludes(taken(one), taken(other))
        assert conflicts(in_all_levels(one), in_all_levels(other)) == expected, (one, other)


def test_conflicts__in_one_level_of_five__is_found() -> None:
    other = in_all_levels(LevelLock((), ("a",)))
    for level in range(5):
        one = Locks((*NO_LOCKS.levels[:level], LevelLock(("a",)), *NO_LOCKS.levels[level + 1 :]))
        assert conflicts(one, other)
        assert conflicts(other, one)
    assert not conflicts(in_all_levels(LevelLock((), ("b",))), other)


def test_conflicts__whole_lab__with_every_start_in_its_lab() -> None:
    assert conflicts(WHOLE_LAB, NO_LOCKS)
    assert conflicts(NO_LOCKS, WHOLE_LAB)
    assert conflicts(WHOLE_LAB, WHOLE_LAB)


def test_conflicts__whole_lab_of_another_lab__counts_for_nothing_but_its_levels() -> None:
    exclusive = in_all_levels(LevelLock((), ("a",)))
    assert not conflicts(WHOLE_LAB, exclusive, same_lab=False)
    assert not conflicts(WHOLE_LAB, WHOLE_LAB, same_lab=False)
    assert conflicts(Locks(exclusive.levels, True), exclusive, same_lab=False)


@given(locks, locks, locks, booleans())
def test_conflicts__of_locks_that_another_covers__are_conflicts_of_that_one(
    one: Locks, other: Locks, third: Locks, same_lab: bool
) -> None:
    assert conflicts(one, other) == conflicts(other, one)
    assert conflicts(held(one), held(other)) == conflicts(one, other)
    assert conflicts(merge(one, other), third) == (conflicts(one, third) or conflicts(other, third))
    if covers(one, other) and conflicts(other, third, same_lab):
        assert conflicts(one, third, same_lab)
